"""K = XᵀX by passes over the rows of X, one per product, where neither X nor K fits in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._array import Array, Indices
from ..base import Ledger, Operator, block_width
from ..restricted import Restricted
from .base import RowBlocks
from .tiles import pass_height, tiles


class ByRows(Operator):
    """The operator XᵀX of rows that are read again for each product; its diagonal is known."""

    source: RowBlocks
    pass_memory: int
    cheap = frozenset({"diagonal"})

    def __init__(self, source: RowBlocks, diagonal: np.ndarray, *, exponent: int = 0, memory: int):
        self.source = source
        self.n, self.names = source.n, source.names
        self.like = np.zeros(0)
        self.ledger = Ledger()
        self.exponent = exponent
        self.pass_memory = memory
        self._diagonal = diagonal

    def matmul(
        self, block: Array, rows: Indices | None = None, cols: Indices | None = None
    ) -> Array:
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

    def product_seconds(self) -> float:
        return (self.source.m or 0) * self.n * 2e-9

    def restrict(self, indices: Indices) -> Operator:
        return Restricted(self, np.asarray(indices))

    def squared_diagonal(self) -> Array | None:
        """The diagonal of K² from pairs of row panels, if that takes fewer passes than columns."""
        height = max(1, self.pass_memory // (32 * self.n))
        if (self.source.m or 0) / height > self.n / block_width(self, self.pass_memory // 8):
            return None
        squares = np.zeros(self.n)
        for _, A in tiles(self.source, height, self.pass_memory // 8):
            for B in self._tiles():
                squares += np.einsum("ij,ij->j", B, (B @ A.T) @ A)
        return squares

    def _tiles(self) -> Iterator[np.ndarray]:
        for _, X in tiles(
            self.source, pass_height(self.n, self.pass_memory), self.pass_memory // 8
        ):
            self.ledger.add(entries=X.size)
            yield X


def _columns(X: np.ndarray, indices: Indices | None) -> np.ndarray:
    return X if indices is None else X[:, np.asarray(indices)]
