"""Rows of Arrow tables, batches, readers and datasets, with the names of their schema."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...readers.frames import arrow_dtype, arrow_kind, arrow_values, without
from .base import RowBlocks

COUNTED = ("parquet", "feather", "arrow", "orc")  # they know their number of rows


class ArrowRows(RowBlocks):
    """The rows of a pyarrow Dataset, Table, ParquetFile, RecordBatch or RecordBatchReader.

    A RecordBatchReader can be read only once.

    places : which columns, counted from 0; all when None.
    """

    def __init__(self, table: Any, places: Sequence[int] | None = None):
        schema = schema_of(table)
        self.table = table
        self.places = list(range(len(schema.names)) if places is None else places)
        chosen = [schema.field(j) for j in self.places]
        kinds = {j: arrow_kind(field.type) for j, field in enumerate(chosen)}
        if others := {j: f"{chosen[j].name!r} ({kind})" for j, kind in kinds.items() if kind}:
            without(others, len(chosen), len(chosen), False)
        self.names = tuple(str(field.name) for field in chosen)
        self._own = list(self.names)
        self.every = self.places == list(range(len(schema.names)))
        self.unique = len(set(schema.names)) == len(schema.names)
        self.dtype = arrow_dtype(chosen)
        self.n = len(chosen)
        self.m = _count(table)
        self.again = not hasattr(table, "read_next_batch")

    def read(self, memory: int) -> Iterator[np.ndarray]:
        height = max(1, memory // (self.n * self.dtype.itemsize))
        for batch in self._batches(height):
            by_name = self.unique or self.every
            yield arrow_values(batch if by_name else batch.select(self.places), self.dtype)

    def _batches(self, height: int) -> Iterator[Any]:
        table = self.table
        columns = None if self.every or not self.unique else self._own
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


def schema_of(table: Any) -> Any:
    """The schema of anything that `is_arrow` knows."""
    return getattr(table, "schema_arrow", None) or table.schema


def is_arrow(X: Any) -> bool:
    """Whether X is a table, dataset, batch or reader of pyarrow; this does not import pyarrow."""
    return type(X).__module__.split(".")[0] == "pyarrow" and (
        hasattr(X, "schema_arrow") or hasattr(X, "schema")
    )


def _count(table: Any) -> int | None:
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    if hasattr(table, "metadata") and hasattr(table, "iter_batches"):
        return int(table.metadata.num_rows)
    form = getattr(getattr(table, "format", None), "default_extname", None)
    return int(table.count_rows()) if form in COUNTED else None
