"""A source of row blocks: the shape, dtype and names of X, and its rows in order, in parts."""

import abc
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _check


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

    def __init__(
        self,
        source: RowBlocks,
        power: int,
        mean: np.ndarray,
        factor: np.ndarray,
        weights: np.ndarray | None = None,
    ):
        self.source = source
        self.power = power
        self.mean = mean
        self.factor = factor
        self.weights = weights
        self.n = source.n
        self.m = source.m
        self.names = source.names
        self.again = source.again
        self.dtype = np.dtype(np.float64)

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
    X = np.empty((source.m or 0, source.n), dtype=source.dtype)
    start = 0
    for block in source.read(memory):
        X[start : start + len(block)] = block
        start += len(block)
    return X
