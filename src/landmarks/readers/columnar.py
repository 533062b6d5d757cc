"""Parquet and Arrow (Feather) files, by pyarrow; the sizes are read from the metadata first."""

from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import FormatError
from .limit import as_format_error, check_size
from .table import NUMERIC_ONLY, FileTable, Reading, noticed, set_aside, wanted, without_text


def read_parquet(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of a Parquet file; only the wanted columns are read."""
    with as_format_error("the Parquet file cannot be read", pa.ArrowException):
        parquet = pq.ParquetFile(file, arrow_extensions_enabled=False)
        names = parquet.schema_arrow.names
        kept = read_places(parquet.schema_arrow, reading)
        metadata = parquet.metadata
        groups = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        check_size(max(metadata.num_rows * len(kept) * 8, groups), reading.max_bytes, "the table")
        some = [names[j] for j in kept] if len(set(names)) == len(names) else None
        table = parquet.read(columns=some)
    table = table if table.num_columns == len(kept) else table.select(kept)
    return _as_table(table, parquet.schema_arrow, kept, reading)


def read_arrow(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an Arrow file or stream."""
    with as_format_error("the Arrow file cannot be read", pa.ArrowException):
        schema, batches = _batches(file)
        kept = read_places(schema, reading)
        parts, size = [], 0
        for batch in batches:
            size += batch.num_rows * len(kept) * 8
            check_size(size, reading.max_bytes, "the table")
            # Arrow trusts the offsets of a file, and a wrong one would end the process
            batch.validate(full=True)
            parts.append(batch.select(kept))
    table = pa.Table.from_batches(parts, pa.schema([schema.field(j) for j in kept]))
    return _as_table(table, schema, kept, reading)


def _batches(file: BinaryIO) -> tuple[Any, Any]:
    """The schema of an Arrow file or stream, and its batches one by one."""
    start = file.read(6)
    file.seek(0)
    if start != b"ARROW1":
        stream = pa.ipc.open_stream(file)
        return stream.schema, iter(stream)
    opened = pa.ipc.open_file(file)
    return opened.schema, map(opened.get_batch, range(opened.num_record_batches))


def read_places(schema: Any, reading: Reading) -> list[int]:
    """The places of the columns to read: the candidates, then those that are kept as text."""
    n = len(schema.names)
    return wanted(schema.names, n, reading) + list(set_aside(schema.names, n, reading).values())


def _as_table(table: Any, schema: Any, read: list[int], reading: Reading) -> FileTable:
    """The table of the columns that were read: the candidates come first."""
    if table.num_rows == 0:
        raise FormatError("the table has columns and no rows")
    count = len(read) - len(reading.aside)
    texts = {
        name: tuple(_shown(value) for value in table.column(count + i))
        for i, name in enumerate(reading.aside)
    }
    kept, notes = _numeric(table, schema, read[:count], reading)
    values = np.empty((table.num_rows, len(kept)))
    for i, j in enumerate(kept):
        values[:, i] = _numbers(table.column(read.index(j)), str(schema.names[j]))
    names = tuple(str(schema.names[j]) for j in kept)
    places = None if len(kept) == len(schema.names) else tuple(kept)
    return noticed(FileTable(values, names, None, None, notes, texts, places))


def _numeric(
    table: Any, schema: Any, kept: list[int], reading: Reading
) -> tuple[list[int], tuple[str, ...]]:
    """The columns that hold numbers, and a note on the others."""
    types = {j: schema.field(j).type for j in kept}
    others = {j: kind for j, kind in types.items() if not _is_number(kind)}
    if not others:
        return kept, ()
    if len(others) == 1 and not reading.numeric_only:
        ((j, kind),) = others.items()
        raise FormatError(_not_a_number(table.column(kept.index(j)), schema.names[j], kind))
    shown = {j: str(kind) for j, kind in others.items()}
    kept, note = without_text(kept, shown, schema.names, reading.numeric_only)
    return kept, (note,)


def _is_number(kind: Any) -> bool:
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )


def _not_a_number(column: Any, name: str, kind: Any) -> str:
    row = next((i for i, value in enumerate(column) if value.is_valid), 0)
    return (
        f"row {row + 1}, column {name!r}: {_shown(column[row])!r} is not a number ({kind}); leave "
        f"the column out with --drop {name!r}, or with {NUMERIC_ONLY}"
    )


def _numbers(column: Any, name: str) -> np.ndarray:
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.int8())
    try:
        return pc.cast(column, pa.float64(), safe=False).to_numpy()
    except pa.ArrowException as error:
        raise FormatError(f"column {name!r} cannot be turned into numbers: {error}") from error


def _shown(value: Any) -> str:
    """The beginning of a value; one beyond what Python holds is not shown."""
    try:
        return str(value.as_py())[:40]
    except (pa.ArrowException, OverflowError, ValueError):
        return "…"
