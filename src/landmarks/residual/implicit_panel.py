"""The factor F of K̂ = F Fᵀ where its n × k numbers would not fit: recomputed when it is used.

With S picked, F = K_S R for an upper triangular R, and only R is kept. The columns of K must be
bit-identical each time. Fused products round K differently from `columns`; with them the residual
of a smooth kernel in single precision was wrong by a third after a thousand picks.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._array import Array, Indices, as_dtype_of, double, like, take, zeros
from ..operators.base import Operator, tiles_of_columns
from ..runs.state import State


class ImplicitPanel(State):
    """As `residual.Panel`, with R alone, in float64."""

    def __init__(self, operator: Operator, capacity: int):
        self.operator = operator
        self.picks = np.zeros(0, dtype=np.int64)
        self._numbers = zeros((capacity, capacity), double(operator.like))

    @property
    def R(self) -> Array:
        """R with F = K_S R."""
        return self._numbers[: len(self.picks), : len(self.picks)]

    def times(self, block: Array) -> Array:
        weights = as_dtype_of(self.R @ double(block), block)
        product = zeros((self.operator.n, block.shape[1]), block)
        for rows, places, values in tiles_of_columns(self.operator, self.picks):
            product[rows, :] += values @ weights[places, :]
        return product

    def transposed_times(self, block: Array) -> Array:
        product = zeros((len(self.picks), block.shape[1]), block)
        for rows, places, values in tiles_of_columns(self.operator, self.picks):
            product[places, :] += values.T @ block[rows, :]
        return as_dtype_of(self.R.T @ double(product), block)

    def rows(self, indices: Indices, columns: Array | None = None) -> Array:
        K = self._block(indices) if columns is None else take(columns, self.picks)
        return as_dtype_of(double(K).T @ self.R, K)

    def _block(self, indices: Indices) -> Array:
        """The rows of K at the picks, in the columns at the indices; no part of length n."""
        r, indices = len(self.picks), np.asarray(indices, dtype=np.int64)
        part = self.operator.restrict(np.concatenate([self.picks, indices]))
        return part.columns(np.arange(r, r + len(indices)))[:r, :]

    def append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        """As F_new = (K_J − K_S R F_Jᵀ) L⁻ᵀ, the new columns of R are −R F_Jᵀ L⁻ᵀ over L⁻ᵀ."""
        start, end = len(self.picks), len(self.picks) + len(indices)
        inverse = like(_inverse(L).T, self._numbers)
        self._numbers[:start, start:end] = -(self.R @ double(rows).T) @ inverse
        self._numbers[start:end, start:end] = inverse
        self.picks = np.concatenate([self.picks, np.asarray(indices, dtype=np.int64)])


def _inverse(L: np.ndarray) -> np.ndarray:
    """L⁻¹; zero for a single pick that adds nothing."""
    if len(L) == 1 and L[0, 0] == 0:
        return np.zeros((1, 1))
    return scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True)
