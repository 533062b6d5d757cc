"""Where rows come from: stored arrays, Arrow tables, iterators, functions; read in blocks.

A source has the shape, dtype and names of X and gives its rows in order. `as_rows` makes one of
what a user has; `tiles` regroups the rows into blocks of a fixed height, so that sums do not depend
on the chunks of X.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .. import _check
from .._array import is_array
from ..errors import warn_user
from ..readers.frames import (
    arrow_dtype,
    arrow_others,
    arrow_values,
    float_dtype,
    is_dask,
    unpacked,
    without,
)
from ..runs.runner import report

IN_MEMORY = ("__array__", "__array_interface__", "__dataframe__", "to_numpy", "tocsc")
NO_ROWS = (
    "X has no rows; an iterator that was read already is empty: make a new one, or pass a function "
    "that returns a fresh one"
)
READ = 8 * 2**20  # bytes of a block read from a source, if the source lets us choose


@dataclass(eq=False)
class RowBlocks:
    """The rows of an m × n matrix X, read in order.

    read : gives all rows in order, in blocks of about so many bytes if the source can choose.
    n, m : columns and rows; m is None while it is unknown.
    dtype : float32 when the values are, float64 for all other numbers.
    names : the names of the columns, if they have any.
    places : which columns of an Arrow table these are, counted from 0.
    again : whether the rows can be read more than once.
    array : X itself if it is an array.
    ways : what `missing=` may be, for the message about missing values.
    """

    read: Callable[[int], Iterator[np.ndarray]]
    n: int
    m: int | None
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    places: list[int] | None = None
    again: bool = True
    array: np.ndarray | None = None
    ways: Iterable[str] = tuple(_check.FILLS)

    def standardised(self, *how: Any) -> RowBlocks:
        """The same rows over 2**power, less a mean, times factors and √weight."""
        read = partial(_standardised, self, *how)
        return replace(self, read=read, dtype=np.dtype(np.float64), array=None)

    def loaded(self, memory: int) -> np.ndarray:
        """X as an array, without a copy if it is one."""
        if self.array is not None:
            return self.array
        if self.m is None:  # blocks, whose number of rows is known once they were read
            return np.concatenate([np.asarray(block, self.dtype) for block in self.read(memory)])
        X = np.empty((self.m, self.n), dtype=self.dtype)
        start = 0
        for block in self.read(memory):
            X[start : start + len(block)] = block
            start += len(block)
        return X


def _standardised(
    source: RowBlocks,
    power: int,
    mean: np.ndarray,
    factor: np.ndarray,
    weights: np.ndarray | None,
    memory: int,
) -> Iterator[np.ndarray]:
    start = 0
    for block in source.read(memory // 2):
        Z = (_check.scaled(block.astype(np.float64), power) - mean) * factor
        if weights is not None:
            Z = Z * np.sqrt(weights[start : start + len(Z), None])
        yield Z
        start += len(Z)


def array_rows(array: Any, places: Sequence[int] | None = None) -> RowBlocks:
    """The rows of a two-dimensional array-like, sliced a block at a time.

    places : which columns, counted from 0; all when None.
    """
    if len(array.shape) != 2 or 0 in array.shape:
        raise ValueError(
            "X must have two dimensions and at least one row and one column, got shape "
            f"{tuple(array.shape)}"
        )
    if np.dtype(array.dtype).kind not in "buif":
        raise ValueError(
            f"X must hold numbers, got {array.dtype}; encode or drop the other columns"
        )
    (m, width), dtype = map(int, array.shape), float_dtype(array.dtype)
    chosen = None if places is None else list(places)
    whole = isinstance(array, np.memmap) and chosen is None
    n, read = width if chosen is None else len(chosen), partial(_sliced, array, chosen)
    return RowBlocks(read, n, m, dtype, array=np.asarray(array) if whole else None)


def _sliced(array: Any, places: list[int] | None, memory: int) -> Iterator[np.ndarray]:
    m, width = array.shape
    height = _height(array, memory // (width * np.dtype(array.dtype).itemsize))
    for start in range(0, m, height):
        block = np.asarray(array[start : start + height])
        yield block if places is None else block[:, places]


def _height(array: Any, fitting: int) -> int:
    """The rows of a block: complete chunks where they fit, so that none is unpacked twice."""
    wanted = max(1, fitting)
    chunks = getattr(array, "shards", None) or getattr(array, "chunks", None)
    if not chunks:
        return wanted
    if chunks[0] > 32 * wanted:
        warn_user(
            f"each chunk of X has {chunks[0]} rows, and {wanted} rows at a time fit in memory: "
            f"each chunk is unpacked {-(-chunks[0] // wanted)} times; store X in chunks of "
            "fewer rows, or allow more memory"
        )
        return wanted
    return max(chunks[0], wanted // chunks[0] * chunks[0])


def iterable_rows(blocks: Iterable[Any] | Callable[[], Iterable[Any]]) -> RowBlocks:
    """The rows of blocks: arrays, data frames or record batches of one width.

    An iterator is read once. A list, another iterable, or a function that returns an iterator can
    be read again.
    """

    def fresh() -> Iterator[Any]:
        given = blocks() if callable(blocks) else blocks
        if not hasattr(given, "__iter__"):
            raise TypeError(
                "a function of row blocks must return an iterator of two-dimensional arrays, got "
                f"{type(given).__name__}"
            )
        return iter(given)

    def read(memory: int) -> Iterator[np.ndarray]:
        parts = fresh() if again else next(unread, None)
        if parts is None:
            raise ValueError(
                "this iterator was read already, and it can be read once only; pass a function "
                "that returns a fresh one"
            )
        for block in parts:
            if (found := unpacked(block).names) not in (None, names):
                raise ValueError(
                    f"every block must have the columns of the first, {names}, got {found}"
                )
            yield as_block(block)

    again, iterator = not hasattr(blocks, "__next__"), fresh()
    first = next((block for block in iterator if _rows(block)), None)
    if first is None:
        raise ValueError(NO_ROWS)
    unread = iter([itertools.chain([first], iterator)])
    names, array = unpacked(first).names, as_block(first)
    return RowBlocks(read, array.shape[1], None, float_dtype(array.dtype), names, again=again)


def as_block(block: Any) -> np.ndarray:
    """One block of the user as a two-dimensional array of numbers."""
    if is_arrow(block):
        return arrow_values(block, arrow_dtype(schema_of(block)))
    array = _check.as_numpy(block, "a block of X")
    if array.ndim != 2:
        raise ValueError(
            f"every block of rows must have two dimensions, got shape {array.shape}; reshape a "
            "single row with reshape(1, -1)"
        )
    return array


def _rows(block: Any) -> int:
    return block.num_rows if is_arrow(block) else len(block)


def arrow_rows(table: Any, places: Sequence[int] | None = None) -> RowBlocks:
    """The rows of a pyarrow Dataset, Table, ParquetFile, RecordBatch or RecordBatchReader.

    A RecordBatchReader can be read only once.

    places : which columns, counted from 0; all when None.
    """
    schema = schema_of(table)
    every = list(range(len(schema.names)))
    chosen = every if places is None else list(places)
    if places is None and (others := arrow_others(table, schema)):
        listed = {j: f"{schema.field(j).name!r} ({kind})" for j, kind in others.items()}
        without(listed, len(every), len(every), False)
    fields = [schema.field(j) for j in chosen]
    names, dtype = tuple(str(field.name) for field in fields), arrow_dtype(fields)
    again = not hasattr(table, "read_next_batch")
    return RowBlocks(
        partial(_batches, table, chosen), len(chosen), _count(table), dtype, names, chosen, again
    )


def _batches(table: Any, chosen: list[int], memory: int) -> Iterator[np.ndarray]:
    schema = schema_of(table)
    names, dtype = list(schema.names), arrow_dtype([schema.field(j) for j in chosen])
    height = max(1, memory // (len(chosen) * dtype.itemsize))
    every = chosen == list(range(len(names)))
    # a name that occurs twice cannot be asked for: then all columns are read
    wanted = None if every or len(set(names)) < len(names) else [names[j] for j in chosen]
    if hasattr(table, "count_rows"):
        ahead = {"batch_readahead": 1, "fragment_readahead": 1}
        batches = table.to_batches(columns=wanted, batch_size=height, **ahead)
    elif hasattr(table, "iter_batches"):
        batches = table.iter_batches(batch_size=height, columns=wanted)
    elif hasattr(table, "to_batches"):
        part = table if wanted is None else table.select(wanted)
        batches = part.to_batches(max_chunksize=height)
    else:
        parts = table if hasattr(table, "read_next_batch") else [table]
        batches = parts if wanted is None else (batch.select(wanted) for batch in parts)
    for batch in batches:
        whole = every or wanted is not None
        yield arrow_values(batch if whole else batch.select(chosen), dtype)


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
    knows = form in ("parquet", "feather", "arrow", "orc")  # its number of rows
    return int(table.count_rows()) if knows else None


def as_rows(X: Any, places: Sequence[int] | None = None) -> RowBlocks | None:
    """X as a source of rows, or None if X is an array or table in memory.

    places : which columns of an Arrow table or a stored array, counted from 0; all when None.
    """
    if isinstance(X, RowBlocks):
        return X
    if is_arrow(X):
        return arrow_rows(X, places)
    # sliced like an array but stored in chunks, as Zarr and HDF5 arrays are
    parts = ("shape", "dtype", "chunks", "__getitem__")
    chunked = all(hasattr(X, name) for name in parts) and unpacked(X).kind == "other"
    if isinstance(X, np.memmap) or (chunked and not is_array(X)):
        return array_rows(X, places) if len(X.shape) == 2 and 0 not in X.shape else None
    return iterable_rows(X) if _gives_blocks(X) else None


def _gives_blocks(X: Any) -> bool:
    """Whether X is an iterator, a function, a list of blocks, or another iterable of blocks."""
    if is_array(X) or is_dask(X) or any(hasattr(X, name) for name in IN_MEMORY):
        return False
    if hasattr(X, "__next__") or (callable(X) and not hasattr(X, "shape")):
        return True
    if isinstance(X, list | tuple):
        return len(X) > 0 and (is_arrow(X[0]) or len(getattr(X[0], "shape", ())) == 2)
    return hasattr(X, "__iter__") and not hasattr(X, "__len__") and not hasattr(X, "keys")


def tile_height(n: int) -> int:
    """Rows of a tile: enough of them to make products efficient, at most 128 MB of a wide X."""
    return max(1, 2**17 // n, min(2048, 2**24 // n))


def pass_height(n: int, memory: int) -> int:
    """Rows of a tile of a wide X: an eighth of the memory, or fewer if products stay efficient."""
    return max(1, min(2**22 // n + 64, memory // (64 * n)))


def tiles(source: RowBlocks, height: int, memory: int = READ) -> Iterator[tuple[int, np.ndarray]]:
    """The first row and the rows, in float64, of each tile, which is good until the next."""
    buffer, start, filled = np.empty((height, source.n)), 0, 0
    for block in source.read(min(memory, READ)):
        if block.ndim != 2 or block.shape[1] != source.n:
            raise ValueError(
                f"every block of rows must have the {source.n} columns of the first, got shape "
                f"{block.shape} at row {start + filled}"
            )
        while len(block):
            part, block = block[: height - filled], block[height - filled :]
            buffer[filled : filled + len(part)] = part
            filled += len(part)
            if filled == height:
                yield start, buffer
                start, filled = start + height, 0
                report("reading", start, source.m)
    if filled:
        yield start, buffer[:filled]
        report("reading", start + filled, source.m)
    if (rows := start + filled) == 0:
        raise ValueError(NO_ROWS)
    if source.m is not None and rows != source.m:
        raise ValueError(
            f"X gave {rows} rows where {source.m} were expected: it changed, or the function must "
            "return a fresh iterator at each call"
        )
    source.m = rows
