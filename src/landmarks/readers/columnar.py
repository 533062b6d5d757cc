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
    NUMERIC_ONLY,
    SAMPLE,
    arrow_dtype,
    arrow_kind,
    arrow_text,
    arrow_values,
    refuse_numbers_as_text,
)
from .table import (
    FileTable,
    Reading,
    as_format_error,
    check_bytes,
    noticed,
    set_aside,
    wanted,
    without_text,
)


def read_parquet(file: BinaryIO | Path, reading: Reading) -> FileTable:
    """The table of a Parquet file, or of a folder of them; only the wanted columns are read."""
    with as_format_error("the Parquet file cannot be read"):
        if isinstance(file, Path):
            return _of_folder(file, reading)
        opened = pq.ParquetFile(file, arrow_extensions_enabled=False)
        schema, metadata = opened.schema_arrow, opened.metadata
        columns = ReadColumns(schema, reading)
        groups = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        size = max(metadata.num_rows * len(columns.read) * 8, groups)
        unique = columns.unique
        if columns.stay(file, size):
            return columns.in_blocks(pyarrow.dataset.dataset(file.name, format="parquet"))
        check_bytes(size, reading.max_bytes, "the table")
        names = [schema.names[j] for j in columns.read]
        table = opened.read(columns=names if unique else None)
    return columns.table(table if unique else table.select(columns.read))


def read_arrow(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an Arrow file or stream."""
    with as_format_error("the Arrow file cannot be read"):
        start = file.read(6)
        size = file.seek(0, 2)
        file.seek(0)
        if start == b"ARROW1":
            opened = pa.ipc.open_file(file)
            batches = map(opened.get_batch, range(opened.num_record_batches))
        else:
            opened = batches = pa.ipc.open_stream(file)
        columns = ReadColumns(opened.schema, reading)
        if start == b"ARROW1" and columns.stay(file, size):
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


def _of_folder(path: Path, reading: Reading) -> FileTable:
    parts = pyarrow.dataset.dataset(path, format="parquet")
    columns = ReadColumns(parts.schema, reading)
    size = parts.count_rows() * len(columns.read) * 8
    if reading.stays(size):
        return columns.in_blocks(parts)
    check_bytes(size, reading.max_bytes, "the table")
    return columns.table(parts.to_table().select(columns.read))


class ReadColumns:
    """The columns of a file that are read: candidates first, then those that are kept as text."""

    def __init__(self, schema: Any, reading: Reading):
        self.schema, self.reading = schema, reading
        n = len(schema.names)
        self.aside = set_aside(schema.names, n, reading)
        self.kept = wanted(schema.names, n, reading)
        self.notes: tuple[str, ...] = ()
        self.read = self.kept + list(self.aside.values())
        self.notation = reading.notation(reading.decimal or ".")
        self.unique = len(set(schema.names)) == n  # which a dataset needs

    def stay(self, file: BinaryIO, size: int) -> bool:
        """Whether rows of so many bytes stay in the file."""
        return self.reading.stays(size) and hasattr(file, "name") and self.unique

    def numbers(self, rows: Any) -> None:
        """Keep the columns that hold numbers; rows : all or the first, for a message."""
        kinds = {j: arrow_kind(rows.schema.field(i).type) for i, j in enumerate(self.kept)}
        others = {j: kind for j, kind in kinds.items() if kind is not None}
        texts = {repr(self.schema.names[j]): arrow_text(self._column(rows, j)) for j in others}
        refuse_numbers_as_text(texts, notation=self.notation, of_file=True)
        if len(others) == 1 and not self.reading.numeric_only:
            ((j, kind),) = others.items()
            values, name = self._column(rows, j), self.schema.names[j]
            row = next((i for i, value in enumerate(values) if value.is_valid), 0)
            raise FormatError(
                f"row {row}, column {name!r}: {_shown(values[row])!r} is not a number "
                f"({kind}); leave the column out with --drop {name!r}, or with {NUMERIC_ONLY}"
            )
        if others:
            names, numeric_only = self.schema.names, self.reading.numeric_only
            self.kept, note = without_text(self.kept, others, names, numeric_only)
            self.notes = (note,)

    def in_blocks(self, rows: Any) -> FileTable:
        """The table whose rows stay in the file."""
        self.numbers(rows.head(SAMPLE).select(self.read))
        return self._named(rows, stored=True)

    def table(self, table: Any) -> FileTable:
        """The table of the columns that were read."""
        if table.num_rows == 0:
            raise FormatError("the table has columns and no rows")
        count = len(self.kept)
        texts = {
            name: tuple(_shown(value) for value in table.column(count + i))
            for i, name in enumerate(self.aside)
        }
        table = self._read_text(table)
        self.numbers(table)
        chosen = table.select([self.read.index(j) for j in self.kept])
        values = np.ascontiguousarray(arrow_values(chosen, arrow_dtype(chosen.schema)))
        return noticed(self._named(values, aside=texts))

    def _column(self, rows: Any, j: int) -> Any:
        return rows.column(self.read.index(j))

    def _read_text(self, table: Any) -> Any:
        """The table with numbers for text, if it was said how they are written."""
        if self.notation.plain:
            return table
        for i, j in enumerate(self.kept):
            text = arrow_text(table.column(i))
            numbers = [np.nan if cell is None else self.notation.number(cell) for cell in text]
            if text and None not in numbers:
                table = table.set_column(i, self.schema.names[j], pa.array(numbers, pa.float64()))
        return table

    def _named(self, values: Any, **more: Any) -> FileTable:
        names = tuple(str(self.schema.names[j]) for j in self.kept)
        places = None if len(self.kept) == len(self.schema.names) else tuple(self.kept)
        return FileTable(values, names, notes=self.notes, places=places, **more)


def _shown(value: Any) -> str:
    """The beginning of a value; one beyond what Python holds is not shown."""
    try:
        return str(value.as_py())[:40]
    except (pa.ArrowException, OverflowError, ValueError):
        return "…"
