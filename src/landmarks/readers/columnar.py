"""Parquet and Arrow (Feather) files, by pyarrow; the sizes are read from the metadata first."""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import FormatError
from .frames import NUMERIC_ONLY, arrow_dtype, arrow_kind, arrow_values
from .table import (
    FileTable,
    Reading,
    as_format_error,
    check_size,
    noticed,
    set_aside,
    wanted,
    without_text,
)


def read_parquet(file: BinaryIO | Path, reading: Reading) -> FileTable:
    """The table of a Parquet file, or of a folder of them; only the wanted columns are read."""
    with as_format_error("the Parquet file cannot be read", pa.ArrowException):
        if isinstance(file, Path):
            return _of_folder(file, reading)
        opened = pq.ParquetFile(file, arrow_extensions_enabled=False)
        schema, metadata = opened.schema_arrow, opened.metadata
        columns = Columns(schema, reading)
        groups = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        size = max(metadata.num_rows * len(columns.read) * 8, groups)
        if reading.stays(size) and hasattr(file, "name"):
            return columns.in_blocks(pyarrow.dataset.dataset(file.name, format="parquet"))
        check_size(size, reading.max_bytes, "the table")
        names = [schema.names[j] for j in columns.read]
        unique = len(set(schema.names)) == len(schema.names)
        table = opened.read(columns=names if unique else None)
    return columns.table(table if unique else table.select(columns.read))


def read_arrow(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an Arrow file or stream."""
    with as_format_error("the Arrow file cannot be read", pa.ArrowException):
        start = file.read(6)
        size = file.seek(0, 2)
        file.seek(0)
        if start == b"ARROW1":
            opened = pa.ipc.open_file(file)
            batches = map(opened.get_batch, range(opened.num_record_batches))
        else:
            opened = batches = pa.ipc.open_stream(file)
        columns = Columns(opened.schema, reading)
        if start == b"ARROW1" and reading.stays(size) and hasattr(file, "name"):
            return columns.in_blocks(pyarrow.dataset.dataset(file.name, format="ipc"))
        parts, size = [], 0
        for batch in batches:
            size += batch.num_rows * len(columns.read) * 8
            check_size(size, reading.max_bytes, "the table")
            # Arrow trusts the offsets of a file, and a wrong one would end the process
            batch.validate(full=True)
            parts.append(batch.select(columns.read))
    schema = pa.schema([opened.schema.field(j) for j in columns.read])
    return columns.table(pa.Table.from_batches(parts, schema))


def _of_folder(path: Path, reading: Reading) -> FileTable:
    parts = pyarrow.dataset.dataset(path, format="parquet")
    columns = Columns(parts.schema, reading)
    size = parts.count_rows() * len(columns.read) * 8
    if reading.stays(size):
        return columns.in_blocks(parts)
    check_size(size, reading.max_bytes, "the table")
    return columns.table(parts.to_table().select(columns.read))


class Columns:
    """The columns of a file that are read: candidates first, then those that are kept as text."""

    def __init__(self, schema: Any, reading: Reading):
        self.schema, self.reading = schema, reading
        n = len(schema.names)
        self.aside = set_aside(schema.names, n, reading)
        self.kept = wanted(schema.names, n, reading)
        self.notes: tuple[str, ...] = ()
        self.read = self.kept + list(self.aside.values())

    def numbers(self, column: Any = None) -> None:
        """Keep the columns that hold numbers; `column` gives the values of one in a message."""
        kinds = {j: arrow_kind(self.schema.field(j).type) for j in self.kept}
        others = {j: kind for j, kind in kinds.items() if kind is not None}
        if len(others) == 1 and column is not None and not self.reading.numeric_only:
            ((j, kind),) = others.items()
            values, name = column(j), self.schema.names[j]
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
        self.numbers()
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
        self.numbers(lambda j: table.column(self.read.index(j)))
        chosen = table.select([self.read.index(j) for j in self.kept])
        values = np.ascontiguousarray(arrow_values(chosen, arrow_dtype(chosen.schema)))
        return noticed(self._named(values, aside=texts))

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
