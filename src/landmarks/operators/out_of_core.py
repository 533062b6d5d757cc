"""Columns of an X read in blocks of rows: from its Gram matrix if that fits, else by passes."""

from collections.abc import Iterator

import numpy as np

from .._array import Array, Indices, Part
from .base import Operator, product_seconds, source_of
from .sources import RowBlocks, pass_height, tiles

ROWS_MEMORY = 2**30  # default limit in bytes for work on an X read in blocks


def fits(source: RowBlocks, memory: int) -> bool:
    """Whether to load X: a wide one that fits, or a tall one of at most 1/16 of the memory."""
    if source.m is None:
        return False
    limit = memory if source.m < source.n else memory // 16
    return source.m * source.n * source.dtype.itemsize <= limit


def gram_fits(source: RowBlocks, memory: object) -> bool:
    """Whether XᵀX may be added up in memory; else each product reads the rows, a block at a time.

    If the memory does not suffice for that either, an error is raised before anything is read.
    """
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise ValueError(f"memory must be a positive whole number of bytes, got {memory!r}")
    n = source.n
    needed = 6 * 8 * n * n  # the sum, its carry, the next term, and three more for the result
    if needed <= memory:
        return True
    need = (
        f"X has n = {n} columns: adding up XᵀX takes {needed / 2**30:.1f} GiB, above "
        f"memory = {memory / 2**30:.2g} GiB"
    )
    if not source.again:
        raise MemoryError(
            f"{need}, and an iterator is read once only; raise memory=…, or pass a function that "
            "returns a fresh iterator"
        )
    if 64 * n > memory:
        raise MemoryError(
            f"{need}, and so is reading it by rows of {8 * n / 2**20:.1f} MiB; raise memory=… to "
            f"at least {64 * n} bytes"
        )
    return False


class ByRows(Operator):
    """The operator XᵀX of rows that are read again for each product; its diagonal is known."""

    cheap = frozenset({"diagonal"})

    def __init__(self, source: RowBlocks, diagonal: np.ndarray, *, exponent: int = 0, memory: int):
        super().__init__(source.n, np.zeros(0), exponent=exponent)
        self.source, self.names = source, source.names
        self.pass_memory = memory
        self._diagonal = diagonal

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        self.ledger.add(products=block.shape[1])
        product = np.zeros((self.n if rows is None else len(rows), block.shape[1]))
        for X in self._tiles():
            product += _columns(X, rows).T @ (_columns(X, cols) @ block)
        return product

    def diagonal(self) -> Array:
        return self._diagonal.copy()

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices))
        columns = np.zeros((self.n, len(indices)))
        for X in self._tiles():
            columns += X.T @ _columns(X, indices)
        return columns

    def _tiles(self) -> Iterator[np.ndarray]:
        for _, X in tiles(
            self.source, pass_height(self.n, self.pass_memory), self.pass_memory // 8
        ):
            self.ledger.add(entries=X.size)
            yield X


source_of.register(ByRows, lambda operator: operator.source)
product_seconds.register(ByRows, lambda operator: (operator.source.m or 0) * operator.n * 2e-9)


def _columns(X: np.ndarray, indices: Indices | None) -> np.ndarray:
    return X if indices is None else X[:, np.asarray(indices)]
