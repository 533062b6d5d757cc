"""Parquet and Arrow (Feather) files, by pyarrow; the sizes are read from the metadata first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import FormatError
from .limit import check_size
from .table import Table, wanted

if TYPE_CHECKING:
    from .read import Reading


def read_parquet(file: BinaryIO, reading: Reading) -> Table:
    """The table of a Parquet file; only the wanted columns are read."""
    try:
        parquet = pq.ParquetFile(file, arrow_extensions_enabled=False)
        names = parquet.schema_arrow.names
        kept = wanted(names, len(names), reading.columns, reading.drop)
        metadata = parquet.metadata
        groups = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        check_size(max(metadata.num_rows * len(kept) * 8, groups), reading.max_bytes, "the table")
        table = (
            parquet.read(columns=[names[j] for j in kept])
            if len(set(names)) == len(names)
            else parquet.read()
        )
    except FormatError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        raise FormatError(f"the Parquet file cannot be read: {error}") from error
    return _as_table(table if table.num_columns == len(kept) else table.select(kept))


def read_arrow(file: BinaryIO, reading: Reading) -> Table:
    """The table of an Arrow file or stream."""
    try:
        batches = _batches(file)
        schema = batches.schema
        kept = wanted(schema.names, len(schema.names), reading.columns, reading.drop)
        parts, size = [], 0
        for batch in _each(batches):
            size += batch.num_rows * len(kept) * 8
            check_size(size, reading.max_bytes, "the table")
            batch.validate(
                full=True
            )  # Arrow trusts the offsets of a file, and a wrong one would end the process
            parts.append(batch.select(kept))
    except FormatError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        raise FormatError(f"the Arrow file cannot be read: {error}") from error
    return _as_table(pa.Table.from_batches(parts, pa.schema([schema.field(j) for j in kept])))


def _batches(file: BinaryIO) -> Any:
    start = file.read(6)
    file.seek(0)
    return pa.ipc.open_file(file) if start == b"ARROW1" else pa.ipc.open_stream(file)


def _each(batches: Any) -> Any:
    if hasattr(batches, "num_record_batches"):
        return (batches.get_batch(i) for i in range(batches.num_record_batches))
    return iter(batches)


def _as_table(table: Any) -> Table:
    if table.num_rows == 0:
        raise FormatError("the table has columns and no rows")
    values = np.empty((table.num_rows, table.num_columns))
    for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        values[:, j] = _numbers(column, str(name))
    return Table(values, tuple(str(name) for name in table.column_names))


def _numbers(column: Any, name: str) -> np.ndarray:
    kind = column.type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        row = next((i for i, value in enumerate(column) if value.is_valid), 0)
        raise FormatError(
            f"row {row + 1}, column {name!r}: {_shown(column[row])!r} is not a number ({kind}); leave the column out with --drop {name!r}"
        )
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.int8())
    try:
        return pc.cast(column, pa.float64(), safe=False).to_numpy()
    except pa.ArrowException as error:
        raise FormatError(f"column {name!r} cannot be turned into numbers: {error}") from error


def _shown(value: Any) -> str:
    """The beginning of a value; one beyond what Python holds, such as a time of 10¹⁸ seconds, is not shown."""
    try:
        return str(value.as_py())[:40]
    except (pa.ArrowException, OverflowError, ValueError):
        return "…"
