"""Matrices in memory: K itself, or X with K = XᵀX, formed once where that is cheaper.

A search works on K where K is accurate enough, else on X, whose residual is a matrix of its own.
Data in float32 are exact numbers, so both are in float64 (`forms`).
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from .. import _check
from .._array import (
    Array,
    Indices,
    Part,
    double,
    host,
    is_array,
    is_single,
    namespace,
    on_gpu,
    prototype,
    take,
)
from .base import (
    MEMORY,
    STORED,
    Ledger,
    Operator,
    blocks,
    determining,
    itemsize,
    product_seconds,
    remade_in_double,
    squared_columns,
)
from .pivoted_factor import check_definite
from .sums import moments_of

NEAR = 1e-8  # relative to a squared length: a stored K knows half of the digits of such a column
ALIKE = 1e-3  # 1 − r² of two columns: of a third in line with them some 1e-6 is left
STRIP = 256  # rows of a symmetric product that are computed at a time
NOTHING = 8 * float(np.finfo(np.float64).eps)  # times n: the residual of a dependent column


class Dense(Operator):
    """The operator of a stored matrix; `psd` checks and makes it.

    moves : about how many drops and additions searches on it will make, where that is known.
    unchecked : whether K may be indefinite; products, and the form for a search, look at that once.
        A method that reads a few columns costs no more than these.
    """

    moves: int = 0
    unchecked: bool = False

    def __init__(
        self,
        K: Array,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
        names: tuple[str, ...] | None = None,
        digits: Array | None = None,
    ):
        self.K = K
        self._digits = digits
        self.n = K.shape[0]
        self.like = prototype(K)
        self.ledger = ledger or Ledger()
        self.exponent = exponent
        self.names = names
        self._powers = [K]

    @property
    def digits(self) -> Array:
        return self.like if self._digits is None else self._digits

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_powers": [self.K]}  # K² and K³ are formed again when needed

    @property
    def keeps_powers(self) -> bool:
        """Whether K² and K³ may be stored: each takes as much memory as K."""
        return itemsize(self.like) * self.n**2 <= STORED // 4

    def powers(self, highest: int) -> list[Array]:
        """K, K², up to the highest power, formed once.

        The ledger does not count that: a resumed run forms them again and must count the same.
        """
        while len(self._powers) < highest:
            self._powers.append(symmetric_product(self._powers[-1], self.K))
        return self._powers[:highest]

    def check(self) -> None:
        """Raise when K is clearly indefinite, unless that was checked already."""
        if self.unchecked:
            check_definite(self.K)
            self.unchecked = False

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        self.check()
        K = self.K if rows is None else take(self.K, rows, axis=0)
        K = K if cols is None else take(K, cols, axis=1)
        self.ledger.add(products=block.shape[1], entries=K.shape[0] * K.shape[1])
        return K @ block

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        return namespace(self.K).linalg.diagonal(self.K)

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        if len(indices) > 1:
            first, end = int(indices[0]), int(indices[0]) + len(indices)
            if np.array_equal(indices, np.arange(first, end)):
                return self.K[:, first:end]
        return take(self.K, indices).T  # K is symmetric, and its rows lie together

    def restrict(self, indices: Indices) -> Dense:
        return Dense(
            take(take(self.K, indices, axis=0), indices, axis=1),
            exponent=self.exponent,
            ledger=self.ledger,
            digits=self._digits,
        )

    def is_accurate(self) -> bool:
        """Whether a stored K is accurate enough for a search.

        It is if elimination leaves each column either large or zero, and no two columns are nearly
        parallel.

        If a column is chosen whose residual is small, but above rounding, a stored K is inaccurate
        for the others. With full rank the pivots rule this out; otherwise very similar columns may
        still be chosen one after the other.
        """
        K = host(self.K)
        lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        scale = np.where(lengths > 0, lengths, 1.0)
        correlations = K / np.outer(scale, scale)
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(correlations, lower=1, tol=NEAR)
        if rank == self.n:
            return True
        nothing = NOTHING * self.n
        before = np.diagonal(correlations)[order[rank:] - 1]  # 1, or 0 for a column of zeros
        left = before - np.sum(np.square(factor[rank:, :rank]), axis=1)
        apart = 1.0 - np.square(correlations)
        alike = (apart > nothing) & (apart < ALIKE)
        return not bool(np.any(left > nothing) or np.any(alike))


def symmetric_product(A: Array, B: Array) -> Array:
    """A B of symmetric matrices that commute: symmetric too, so half of it is computed."""
    n = A.shape[0]
    if A is B or n < 2 * STRIP or on_gpu(A):
        return A @ B.T
    found = namespace(A).empty_like(A)
    for first in range(0, n, STRIP):
        last = min(n, first + STRIP)
        strip = A[first:last, :] @ B[:, first:]
        found[first:last, first:] = strip
        found[first:, first:last] = strip.T
    return found


determining.register(Dense, lambda operator: (operator.K,))


@product_seconds.register
def _stored_seconds(operator: Dense) -> float:
    return operator.n**2 * (2e-12 if on_gpu(operator.like) else 3.5e-10)


@squared_columns.register
def _stored_squares(operator: Dense, block: np.ndarray, columns: Array) -> Array:
    if on_gpu(operator.like) or not operator.keeps_powers:
        return operator.matmul(columns)
    operator.ledger.add(products=len(block), entries=operator.n**2)
    return operator.powers(2)[1][:, int(block[0]) : int(block[-1]) + 1]


class Columns(Operator):
    """The operator XᵀX of a stored X; products use XᵀX itself if that is cheaper."""

    X: Any

    def __init__(self, X: Any, *, exponent: int = 0, ledger: Ledger | None = None):
        self.X = X
        self.n = X.shape[1]
        self.like = prototype(X) if is_array(X) else np.zeros(0, dtype=X.dtype)
        self.ledger = ledger or Ledger()
        self.exponent = exponent

    @abc.abstractmethod
    def of(self, X: Any) -> Columns:
        """The operator of another X with the same units and ledger."""

    @abc.abstractmethod
    def part(self, indices: Part) -> Any:
        """Columns of X as they are stored."""

    @abc.abstractmethod
    def entries(self, part: Any) -> int:
        """How many entries of X are stored in some columns."""

    @property
    def m(self) -> int:
        return self.X.shape[0]

    @property
    def stores_gram(self) -> bool:
        """Whether a product with XᵀX is cheaper than two with X and it is small."""
        rows = self.entries(self.X) // max(1, self.n)
        return gram_is_cheaper(rows, self.n, itemsize(self.like))

    def gram(self) -> Array:
        """XᵀX."""
        return self.X.T @ self.X

    @cached_property
    def stored(self) -> Dense | None:
        """XᵀX where it is stored, else None."""
        if not self.stores_gram:
            return None
        self.ledger.add(entries=self.entries(self.X))
        return Dense(self.gram(), exponent=self.exponent, ledger=self.ledger)

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        if self.stored is not None:
            return self.stored.matmul(block, rows, cols)
        left, right = self.part(rows), self.part(cols)
        self.ledger.add(products=block.shape[1], entries=self.entries(left) + self.entries(right))
        return left.T @ (right @ block)

    def columns(self, indices: Indices) -> Array:
        if self.stored is not None:
            return self.stored.columns(indices)
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        return self.X.T @ self.factor(indices)

    def restrict(self, indices: Indices) -> Columns:
        part = self.of(self.part(indices))
        if "stored" in self.__dict__ and self.stored is not None:
            part.stored = self.stored.restrict(indices)
        return part


determining.register(Columns, lambda operator: (operator.X,))


class Data(Columns):
    """The operator XᵀX of an array X; `data` checks and makes it."""

    def __init__(
        self,
        X: Array,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
        summed: Callable[[], np.ndarray] | None = None,
    ):
        super().__init__(X, exponent=exponent, ledger=ledger)
        self._summed = summed  # XᵀX of prepared columns, from the columns as they were given

    def gram(self) -> Array:
        """XᵀX; in float64 on the CPU, the same to the last bit as out of core and on dask."""
        if type(self.X) is not np.ndarray or is_single(self.X):
            return super().gram()
        if self._summed is not None:
            return self._summed()
        moments, power = moments_of(self.X, about_mean=False, products=True)
        return _check.scaled(moments.scatter, -2 * power)

    def part(self, indices: Part) -> Array:
        return self.X if indices is None else take(self.X, indices, axis=1)

    def entries(self, part: Array) -> int:
        return part.shape[0] * part.shape[1]

    def factor(self, indices: Part = None) -> Array:
        return self.part(indices)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.m * self.n)
        xp = namespace(self.X)
        width = MEMORY // (64 * self.m * itemsize(self.like))
        parts = (self.X[:, int(block[0]) : int(block[-1]) + 1] for block in blocks(self.n, width))
        return xp.concat([xp.sum(X * X, axis=0) for X in parts])

    def of(self, X: Array) -> Data:
        return Data(X, exponent=self.exponent, ledger=self.ledger)


remade_in_double.register(Data, lambda operator: operator.of(double(operator.X)))


def gram_is_cheaper(m: int, n: int, itemsize: int) -> bool:
    """Whether K = XᵀX is small enough to keep and a product with it costs less than two with X."""
    return n <= 2 * m and n * n * itemsize <= MEMORY


def array_data(X: Any) -> Data:
    """The operator of the columns of a matrix in memory, checked."""
    X = _check.matrix(X, "X")
    xp = namespace(X)
    power = _check.exponent(max(float(xp.max(X)), -float(xp.min(X))), X)
    X = _check.scaled(X, power)
    return Data(X, exponent=2 * power)


def is_symmetric(X: Array) -> bool:
    """Whether X is a symmetric matrix and not diagonal, for which X and XᵀX choose the same."""
    m, n = X.shape
    xp = namespace(X)
    if m != n or not bool(xp.all(X == X.T)):
        return False
    return int(xp.count_nonzero(X)) > int(xp.count_nonzero(xp.linalg.diagonal(X)))
