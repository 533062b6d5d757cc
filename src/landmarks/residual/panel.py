"""The factor F of K̂ = F Fᵀ while picks are added.

Its n × k numbers are kept, or made again from k columns of K when they are used. With S picked,
F = K_S R for an upper triangular R. Where the panel would not fit, only R is kept. The columns of K
must then come out the same each time, to the last digit: fused products, which round K otherwise
than `columns` does, took the residual of a smooth kernel in single precision off by a third after a
thousand picks.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator

import numpy as np
import scipy.linalg

from .._array import Array, Indices, as_dtype_of, double, free_memory, like, namespace, take, zeros
from ..operators.base import DENSE_MEMORY, MEMORY, Operator, block_width, blocks, itemsize
from ..runs.state import State


class Panel(State, abc.ABC):
    """F with as many columns as there are picks."""

    @abc.abstractmethod
    def times(self, block: Array) -> Array:
        """F @ block."""

    @abc.abstractmethod
    def transposed_times(self, block: Array) -> Array:
        """Fᵀ @ block."""

    @abc.abstractmethod
    def rows(self, indices: Indices, columns: Array | None = None) -> Array:
        """The rows of F at the indices J; columns are those of K at J, if they are at hand."""

    @abc.abstractmethod
    def append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        """Take in picks J: V = C_J L⁻ᵀ are the new columns of F, where C_JJ = L Lᵀ.

        rows : those of F at J before. A single pick with L = 0 adds nothing: its V is zero.
        """


class StoredPanel(Panel):
    """The numbers of F, in place for as many picks as there will be."""

    def __init__(self, operator: Operator, capacity: int):
        self._numbers = zeros((operator.n, capacity), operator.like)
        self._filled = 0

    @property
    def factor(self) -> Array:
        """F."""
        return self._numbers[:, : self._filled]

    def times(self, block: Array) -> Array:
        return self.factor @ block

    def transposed_times(self, block: Array) -> Array:
        return self.factor.T @ block

    def rows(self, indices: Indices, columns: Array | None = None) -> Array:
        return take(self.factor, indices)

    def append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        start, self._filled = self._filled, self._filled + len(indices)
        self._numbers[:, start : self._filled] = V


class ImplicitPanel(Panel):
    """R alone, in float64; every use evaluates the columns of K at the picks again."""

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
        for part in self._parts():
            product += self.operator.columns(self.picks[part]) @ weights[part[0] : part[-1] + 1, :]
        return product

    def transposed_times(self, block: Array) -> Array:
        parts = [self.operator.columns(self.picks[part]).T @ block for part in self._parts()]
        return (
            as_dtype_of(self.R.T @ double(namespace(block).concat(parts)), block)
            if parts
            else zeros((0, block.shape[1]), block)
        )

    def rows(self, indices: Indices, columns: Array | None = None) -> Array:
        K = self._block(indices) if columns is None else take(columns, self.picks)
        return as_dtype_of(double(K).T @ self.R, K)

    def _block(self, indices: Indices) -> Array:
        """The rows of K at the picks, in the columns at the indices; no part of length n."""
        r, indices = len(self.picks), np.asarray(indices, dtype=np.int64)
        part = self.operator.restrict(np.concatenate([self.picks, indices]))
        return part.columns(np.arange(r, r + len(indices)))[:r, :]

    def _parts(self) -> Iterator[np.ndarray]:
        """The places of the picks, in blocks whose columns of K fit in the memory."""
        return blocks(len(self.picks), block_width(self.operator, MEMORY))

    def append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        """As F_new = (K_J − K_S R F_Jᵀ) L⁻ᵀ, the new columns of R are −R F_Jᵀ L⁻ᵀ over L⁻ᵀ."""
        start, end = len(self.picks), len(self.picks) + len(indices)
        inverse = like(_inverse(L).T, self._numbers)
        self._numbers[:start, start:end] = -(self.R @ double(rows).T) @ inverse
        self._numbers[start:end, start:end] = inverse
        self.picks = np.concatenate([self.picks, np.asarray(indices, dtype=np.int64)])


def panel(operator: Operator, capacity: int) -> Panel:
    """The numbers of F if half of the free memory holds them or columns cost products; else R."""
    needed = operator.n * capacity * itemsize(operator.like)
    fits = needed <= free_memory(operator.like, otherwise=2 * DENSE_MEMORY) // 2
    return (
        StoredPanel(operator, capacity)
        if fits or "columns" not in operator.cheap
        else ImplicitPanel(operator, capacity)
    )


def _inverse(L: np.ndarray) -> np.ndarray:
    """L⁻¹; zero for a single pick that adds nothing."""
    if len(L) == 1 and L[0, 0] == 0:
        return np.zeros((1, 1))
    return scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True)
