"""Parquet and Arrow (Feather) files, by pyarrow; the sizes are read from the metadata first."""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import FormatError
from .frames import (
    arrow_dtype,
    arrow_kind,
    arrow_text,
    arrow_values,
    first_rows,
    refuse_numbers_as_text,
)
from .table import (
    FileTable,
    Reading,
    as_format_error,
    check_bytes,
    table_of,
    wanted,
    without_text,
)


def read_parquet(source: BinaryIO | Path, reading: Reading) -> FileTable:
    """The table of a Parquet file, or of a folder of them; only the wanted columns are read."""
    with as_format_error("the Parquet file cannot be read"):
        opened: Any
        if isinstance(source, Path):
            opened = pyarrow.dataset.dataset(source, format="parquet")
            schema, rows, packed = opened.schema, opened.count_rows(), 0
        else:
            file = getattr(source, "name", source)
            opened = pq.ParquetFile(file, arrow_extensions_enabled=False)
            schema, metadata = opened.schema_arrow, opened.metadata
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            rows, packed = metadata.num_rows, sum(group.total_byte_size for group in groups)
        columns = Columns(schema, reading)
        size = max(rows * len(columns.read) * 8, packed)
        if reading.stays(size):
            path = None if isinstance(source, Path) else getattr(source, "name", None)
            if path is not None and columns.unique:  # a dataset keeps no file open
                opened = pyarrow.dataset.dataset(path, format="parquet")
            return columns.in_blocks(opened)
        check_bytes(size, reading.max_bytes, "the table")
        names = [schema.names[j] for j in columns.read]
        read = opened.to_table if isinstance(source, Path) else opened.read
        table = read(columns=names if columns.unique else None)
    return columns.table(table if columns.unique else table.select(columns.read))


def read_arrow(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an Arrow file or stream."""
    with as_format_error("the Arrow file cannot be read"):
        start = file.read(6)
        size = file.seek(0, 2)
        file.seek(0)
        opened: Any
        if start == b"ARROW1":
            opened = pa.ipc.open_file(file)
            batches = map(opened.get_batch, range(opened.num_record_batches))
        else:
            opened = batches = pa.ipc.open_stream(file)
        columns = Columns(opened.schema, reading)
        in_file = start == b"ARROW1" and hasattr(file, "name") and columns.unique
        if in_file and reading.stays(size):
            return columns.in_blocks(pyarrow.dataset.dataset(file.name, format="ipc"))
        parts, size = [], 0
        for batch in batches:
            size += batch.num_rows * len(columns.read) * 8
            check_bytes(size, reading.max_bytes, "the table")
            # Arrow trusts the offsets of a file, and a wrong one would end the process
            batch.validate(full=True)
            parts.append(batch.select(columns.read))
    schema = pa.schema([opened.schema.field(j) for j in columns.read])
    return columns.table(pa.Table.from_batches(parts, schema))


class Columns:
    """The columns of a file that are read: candidates first, then those that are kept as text."""

    def __init__(self, schema: Any, reading: Reading):
        self.names, self.reading = [str(name) for name in schema.names], reading
        n = len(self.names)
        self.kept, self.aside = wanted(self.names, n, reading)
        self.notes: tuple[str, ...] = ()
        self.read = self.kept + list(self.aside.values())
        self.notation = reading.notation(reading.decimal or ".")
        self.unique = len(set(self.names)) == n  # which a dataset needs

    def in_blocks(self, rows: Any) -> FileTable:
        """The table whose rows stay in the file."""
        self.numbers(first_rows(rows).select(self.read))
        return self._named(rows)

    def table(self, table: Any) -> FileTable:
        """The table of the columns that were read."""
        if table.num_rows == 0:
            raise FormatError("the table has columns and no rows")
        count = len(self.kept)
        texts = {
            name: tuple(_shown(value) for value in table.column(count + i))
            for i, name in enumerate(self.aside)
        }
        for i, j in enumerate(self.kept if not self.notation.plain else ()):
            text = arrow_text(table.column(i))
            numbers = [np.nan if cell is None else self.notation.number(cell) for cell in text]
            if text and None not in numbers:  # it was said how numbers are written
                table = table.set_column(i, self.names[j], pa.array(numbers, pa.float64()))
        self.numbers(table)
        chosen = table.select([self.read.index(j) for j in self.kept])
        values = np.ascontiguousarray(arrow_values(chosen, arrow_dtype(chosen.schema)))
        return self._named(values, aside=texts)

    def numbers(self, rows: Any) -> None:
        """Keep the columns that hold numbers; rows : all or the first, for a message."""
        others = {}
        for j, column in zip(self.kept, rows.columns, strict=False):
            if (kind := arrow_kind(column.type)) is not None:
                row = next((i for i, value in enumerate(column) if value.is_valid), 0)
                cell = f"row {row}: {_shown(column[row])!r}, " if len(column) else ""
                others[j] = column, f"{cell}{kind}"
        texts = {repr(self.names[j]): arrow_text(column) for j, (column, _) in others.items()}
        refuse_numbers_as_text(texts, notation=self.notation, of_file=True)
        if others:
            shown = {j: where for j, (_, where) in others.items()}
            self.kept, note = without_text(self.kept, shown, self.names, self.reading.numeric_only)
            self.notes = (note,)

    def _named(self, values: Any, **more: Any) -> FileTable:
        return table_of(values, self.names, self.kept, len(self.names), notes=self.notes, **more)


def _shown(value: Any) -> str:
    """The beginning of a value; one beyond what Python holds is not shown."""
    try:
        return str(value.as_py())[:40]
    except (pa.ArrowException, OverflowError, ValueError):
        return "…"
