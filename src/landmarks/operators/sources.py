"""Where rows come from: stored arrays, Arrow tables, iterators, functions; read in blocks.

A source has the shape, dtype and names of X and gives its rows in order. `as_rows` makes one of
what a user has; `tiles` regroups the rows into blocks of a fixed height, so that sums do not depend
on the chunks of X.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._array import host, is_array
from ..errors import warn_user
from ..readers.frames import arrow_dtype, arrow_others, arrow_values, is_dask, unpacked, without
from ..runs.runner import report

IN_MEMORY = ("__array__", "__array_interface__", "__dataframe__", "to_numpy", "tocsc")
NO_ROWS = (
    "X has no rows; an iterator that was read already is empty: make a new one, or pass a function "
    "that returns a fresh one"
)
READ = 8 * 2**20  # bytes of a block read from a source, if the source lets us choose


class RowBlocks(abc.ABC):
    """The rows of an m × n matrix X, read in order.

    n, m : columns and rows; m is None while it is unknown.
    dtype : float32 when the values are, float64 for all other numbers.
    names : the names of the columns, if they have any.
    again : whether the rows can be read more than once.
    """

    n: int
    m: int | None = None
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    again: bool = True

    @abc.abstractmethod
    def read(self, memory: int) -> Iterator[np.ndarray]:
        """All rows in order, in blocks of about that many bytes if the source can choose."""

    def in_memory(self) -> np.ndarray | None:
        """X itself if it is an array, else None."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(m={self.m}, n={self.n}, dtype={self.dtype})"


class Standardised(RowBlocks):
    """The rows of another source over 2**power, less a mean, times factors and √weight."""

    dtype = np.dtype(np.float64)

    def __init__(
        self,
        source: RowBlocks,
        power: int,
        mean: np.ndarray,
        factor: np.ndarray,
        weights: np.ndarray | None,
    ):
        self.source, self.power = source, power
        self.mean, self.factor, self.weights = mean, factor, weights
        self.m, self.n = source.m, source.n
        self.names, self.again = source.names, source.again

    def read(self, memory: int) -> Iterator[np.ndarray]:
        start = 0
        for block in self.source.read(memory // 2):
            Z = (_check.scaled(block.astype(np.float64), self.power) - self.mean) * self.factor
            if self.weights is not None:
                Z = Z * np.sqrt(self.weights[start : start + len(Z), None])
            yield Z
            start += len(Z)


def float_dtype(*dtypes: Any) -> np.dtype:
    """float32 when all are, else float64."""
    single = all(np.dtype(dtype) == np.float32 for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def load(source: RowBlocks, memory: int) -> np.ndarray:
    """X as an array, without a copy if it is one."""
    if (array := source.in_memory()) is not None:
        return array
    if source.m is None:  # blocks, whose number of rows is known once they were read
        return np.concatenate([np.asarray(block, source.dtype) for block in source.read(memory)])
    X = np.empty((source.m, source.n), dtype=source.dtype)
    start = 0
    for block in source.read(memory):
        X[start : start + len(block)] = block
        start += len(block)
    return X


class ArrayRows(RowBlocks):
    """The rows of a two-dimensional array-like, sliced a block at a time.

    places : which columns, counted from 0; all when None.
    """

    def __init__(self, array: Any, places: Sequence[int] | None = None):
        if len(array.shape) != 2 or 0 in array.shape:
            raise ValueError(
                "X must have two dimensions and at least one row and one column, got shape "
                f"{tuple(array.shape)}"
            )
        if np.dtype(array.dtype).kind not in "buif":
            raise ValueError(
                f"X must hold numbers, got {array.dtype}; encode or drop the other columns"
            )
        self.array = array
        self.places = None if places is None else list(places)
        self.m, self.width = (int(size) for size in array.shape)
        self.n = self.width if self.places is None else len(self.places)
        self.dtype = float_dtype(array.dtype)

    def read(self, memory: int) -> Iterator[np.ndarray]:
        height = self._height(memory)
        for start in range(0, self.array.shape[0], height):
            block = np.asarray(self.array[start : start + height])
            yield block if self.places is None else block[:, self.places]

    def in_memory(self) -> np.ndarray | None:
        whole = isinstance(self.array, np.memmap) and self.places is None
        return np.asarray(self.array) if whole else None

    def _height(self, memory: int) -> int:
        """Whole chunks where they fit, so that none is unpacked twice."""
        wanted = max(1, memory // (self.width * np.dtype(self.array.dtype).itemsize))
        chunks = getattr(self.array, "shards", None) or getattr(self.array, "chunks", None)
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


class IterableRows(RowBlocks):
    """The rows of blocks: arrays, data frames or record batches of one width.

    An iterator is read once. A list, another iterable, or a function that returns an iterator can
    be read again.
    """

    def __init__(self, blocks: Iterable[Any] | Callable[[], Iterable[Any]]):
        self.blocks = blocks
        self.again = not hasattr(blocks, "__next__")
        iterator = self._fresh()
        first = next((block for block in iterator if _rows(block)), None)
        if first is None:
            raise ValueError(NO_ROWS)
        self.names = unpacked(first).names
        array = as_block(first)
        self.n, self.dtype = array.shape[1], float_dtype(array.dtype)
        self._unread = None if self.again else itertools.chain([first], iterator)

    def read(self, memory: int) -> Iterator[np.ndarray]:
        blocks, self._unread = self._fresh() if self.again else self._unread, None
        if blocks is None:
            raise ValueError(
                "this iterator was read already, and it can be read once only; pass a function "
                "that returns a fresh one"
            )
        for block in blocks:
            if (found := unpacked(block).names) not in (None, self.names):
                raise ValueError(
                    f"every block must have the columns of the first, {self.names}, got {found}"
                )
            yield as_block(block)

    def _fresh(self) -> Iterator[Any]:
        given = self.blocks() if callable(self.blocks) else self.blocks
        if not hasattr(given, "__iter__"):
            raise TypeError(
                "a function of row blocks must return an iterator of two-dimensional arrays, got "
                f"{type(given).__name__}"
            )
        return iter(given)


def as_block(block: Any) -> np.ndarray:
    """One block of the user as a two-dimensional array of numbers."""
    if is_arrow(block):
        return arrow_values(block, arrow_dtype(schema_of(block)))
    if is_array(block) and not isinstance(block, np.ndarray):
        array = host(block)
    else:
        array = _check.as_numpy(block, "a block of X")
    if array.ndim != 2:
        raise ValueError(
            f"every block of rows must have two dimensions, got shape {array.shape}; reshape a "
            "single row with reshape(1, -1)"
        )
    return array


def _rows(block: Any) -> int:
    return block.num_rows if is_arrow(block) else len(block)


class ArrowRows(RowBlocks):
    """The rows of a pyarrow Dataset, Table, ParquetFile, RecordBatch or RecordBatchReader.

    A RecordBatchReader can be read only once.

    places : which columns, counted from 0; all when None.
    """

    def __init__(self, table: Any, places: Sequence[int] | None = None):
        schema, self.table = schema_of(table), table
        every = list(range(len(schema.names)))
        self.places = every if places is None else list(places)
        chosen = [schema.field(j) for j in self.places]
        if places is None and (others := arrow_others(table, schema)):
            listed = {j: f"{chosen[j].name!r} ({kind})" for j, kind in others.items()}
            without(listed, len(chosen), len(chosen), False)
        self.names = tuple(str(field.name) for field in chosen)
        self._own = list(self.names)  # `names` may become those of the user
        self.every = self.places == every
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
    knows = form in ("parquet", "feather", "arrow", "orc")  # its number of rows
    return int(table.count_rows()) if knows else None


def as_rows(X: Any, places: Sequence[int] | None = None) -> RowBlocks | None:
    """X as a source of rows, or None if X is an array or table in memory.

    places : which columns of an Arrow table or a stored array, counted from 0; all when None.
    """
    if isinstance(X, RowBlocks):
        return X
    if is_arrow(X):
        return ArrowRows(X, places)
    # sliced like an array but stored in chunks, as Zarr and HDF5 arrays are
    parts = ("shape", "dtype", "chunks", "__getitem__")
    chunked = all(hasattr(X, name) for name in parts) and unpacked(X).kind == "other"
    if isinstance(X, np.memmap) or (chunked and not is_array(X)):
        return ArrayRows(X, places) if len(X.shape) == 2 and 0 not in X.shape else None
    return IterableRows(X) if _gives_blocks(X) else None


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


def tiles(
    source: RowBlocks, height: int, memory: int = READ, *, buffers: int = 1
) -> Iterator[tuple[int, np.ndarray]]:
    """The first row and the rows, in float64, of each tile; the buffers are reused in turn."""
    ring = itertools.cycle([np.empty((height, source.n)) for _ in range(buffers)])
    buffer, start, filled = next(ring), 0, 0
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
                buffer, start, filled = next(ring), start + height, 0
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


def largest(X: np.ndarray, source: RowBlocks, start: int) -> float:
    """The largest |x| of a tile; NaN and infinity are refused with their rows."""
    value = max(float(X.max()), -float(X.min()))
    if not np.isfinite(value):
        _check.finite(X, "X", offset=start, names=source.names)
    return value
