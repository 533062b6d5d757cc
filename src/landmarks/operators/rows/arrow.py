"""Rows of Arrow tables, batches, readers and datasets, with the names of their schema."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...readers.frames import check_numbers
from .base import RowBlocks, float_dtype

COUNTED = ("parquet", "feather", "arrow", "orc")  # they know their number of rows


class ArrowRows(RowBlocks):
    """The rows of a pyarrow Dataset, Table, ParquetFile, RecordBatch or RecordBatchReader.

    A RecordBatchReader can be read only once.
    """

    def __init__(
        self, table: Any, columns: Sequence[str] | None = None, *, numeric_only: bool = False
    ):
        schema = getattr(table, "schema_arrow", None) or table.schema
        if unknown := [name for name in columns or () if name not in schema.names]:
            known = ", ".join(map(repr, schema.names[:20]))
            listed = ", ".join(map(repr, unknown))
            raise ValueError(f"X has no column named {listed}; it has {known}")
        columns = number_columns(schema, columns) if numeric_only else columns
        self.table = table
        if columns is None:
            self.fields = list(schema)
        else:
            self.fields = [schema.field(name) for name in columns]
        self.columns = columns
        self.names = tuple(field.name for field in self.fields)
        self.dtype = _dtype(self.fields)
        self.n = len(self.fields)
        self.m = _count(table)
        self.again = not hasattr(table, "read_next_batch")

    def read(self, memory: int) -> Iterator[np.ndarray]:
        height = max(1, memory // (self.n * self.dtype.itemsize))
        for batch in self._batches(height):
            yield batch_block(batch, self.dtype)

    def _batches(self, height: int) -> Iterator[Any]:
        table = self.table
        columns = None if self.columns is None else list(self.columns)
        if hasattr(table, "count_rows"):
            yield from table.to_batches(
                columns=columns, batch_size=height, batch_readahead=1, fragment_readahead=1
            )
        elif hasattr(table, "iter_batches"):
            yield from table.iter_batches(batch_size=height, columns=columns)
        elif hasattr(table, "to_batches"):
            part = table if columns is None else table.select(columns)
            yield from part.to_batches(max_chunksize=height)
        else:
            for batch in [table] if self.again else table:
                yield batch if columns is None else batch.select(columns)


def batch_block(batch: Any, dtype: np.dtype | None = None) -> np.ndarray:
    """A record batch or table as an array; a missing value becomes NaN."""
    batch.validate(full=True)  # a damaged file may point outside its buffers
    dtype = dtype or _dtype(list(batch.schema))
    block = np.empty((batch.num_rows, batch.num_columns), dtype=dtype, order="F")
    for j, column in enumerate(batch.columns):
        if hasattr(column, "chunks"):
            block[:, j] = column.to_numpy()
        else:
            block[:, j] = column.to_numpy(zero_copy_only=False)
    return block


def is_arrow(X: Any) -> bool:
    """Whether X is a table, dataset, batch or reader of pyarrow; this does not import pyarrow."""
    return type(X).__module__.split(".")[0] == "pyarrow" and (
        hasattr(X, "schema_arrow") or hasattr(X, "schema")
    )


def _dtype(fields: list[Any]) -> np.dtype:
    """The dtype of all columns together; text, dates and nested values are refused by name."""
    import pyarrow.types as types

    if others := _not_numbers(fields):
        check_numbers(others, len(fields), numeric_only=False)
    return float_dtype(*("f4" if types.is_float32(field.type) else "f8" for field in fields))


def number_columns(schema: Any, columns: Sequence[str] | None) -> Sequence[str] | None:
    """The columns that hold numbers, with a warning about the others."""
    fields = list(schema) if columns is None else [schema.field(name) for name in columns]
    others = _not_numbers(fields)
    if not others:
        return columns
    check_numbers(others, len(fields), numeric_only=True)
    left_out = {place for place, _, _ in others}
    return [field.name for j, field in enumerate(fields) if j not in left_out]


def _not_numbers(fields: list[Any]) -> list[tuple[int, Any, str]]:
    import pyarrow.types as types

    def number(kind: Any) -> bool:
        return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)

    return [
        (j, field.name, str(field.type)) for j, field in enumerate(fields) if not number(field.type)
    ]


def _count(table: Any) -> int | None:
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    if hasattr(table, "metadata") and hasattr(table, "iter_batches"):
        return int(table.metadata.num_rows)
    form = getattr(getattr(table, "format", None), "default_extname", None)
    return int(table.count_rows()) if form in COUNTED else None
