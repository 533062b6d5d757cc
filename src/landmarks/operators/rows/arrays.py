"""Rows of arrays that are sliced (memory maps, Zarr, HDF5), and of blocks that the user gives."""

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ... import _check
from ..._array import host, is_array
from ...readers.frames import arrow_dtype, arrow_values, column_names
from .arrow import is_arrow, schema_of
from .base import RowBlocks, float_dtype


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
        self.m, self.n = (int(size) for size in array.shape)
        self.width = self.n
        if self.places is not None:
            self.n = len(self.places)
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
            warnings.warn(
                f"each chunk of X has {chunks[0]} rows, and {wanted} rows at a time fit in memory: "
                f"each chunk is unpacked {-(-chunks[0] // wanted)} times; store X in chunks of "
                "fewer rows, or allow more memory",
                stacklevel=2,
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
            raise ValueError(
                "X has no rows; an iterator that was read already is empty: make a new one, or "
                "pass a function that returns a fresh one"
            )
        self.names = column_names(first)
        array = as_block(first)
        self.n, self.dtype = array.shape[1], float_dtype(array.dtype)
        self._unread = None if self.again else itertools.chain([first], iterator)

    def read(self, memory: int) -> Iterator[np.ndarray]:
        for block in self._fresh() if self.again else self._rest():
            if column_names(block) not in (None, self.names):
                raise ValueError(
                    f"every block must have the columns of the first, {self.names}, got "
                    f"{column_names(block)}"
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

    def _rest(self) -> Iterator[Any]:
        if self._unread is None:
            raise ValueError(
                "this iterator was read already, and it can be read once only; pass a function "
                "that returns a fresh one"
            )
        unread, self._unread = self._unread, None
        return unread


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
