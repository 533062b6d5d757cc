"""Rows of anything that is sliced as an array: memory maps, Zarr arrays, HDF5 datasets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .base import RowBlocks, float_dtype


class ArrayRows(RowBlocks):
    """The rows of a two-dimensional array-like, sliced a block at a time."""

    def __init__(self, array: Any, names: tuple[str, ...] | None = None):
        if len(array.shape) != 2 or 0 in array.shape:
            raise ValueError(
                "X must have two dimensions and at least one row and one column, got shape "
                f"{tuple(array.shape)}"
            )
        if np.dtype(array.dtype).kind not in "buif":
            raise ValueError(
                f"X must hold numbers, got {array.dtype}; encode or drop the other columns"
            )
        self.array, self.names = array, names
        self.m, self.n = (int(size) for size in array.shape)
        self.dtype = float_dtype(array.dtype)

    def read(self, memory: int) -> Iterator[np.ndarray]:
        height = self._height(memory)
        for start in range(0, self.array.shape[0], height):
            yield np.asarray(self.array[start : start + height])

    def in_memory(self) -> np.ndarray | None:
        return np.asarray(self.array) if isinstance(self.array, np.memmap) else None

    def _height(self, memory: int) -> int:
        """Whole chunks where they fit, so that none is unpacked twice."""
        wanted = max(1, memory // (self.n * np.dtype(self.array.dtype).itemsize))
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
