"""Matrices in memory: K itself, or X with K = XᵀX, formed once where that is cheaper.

A search works on K where K is accurate enough, else on X, whose residual is a matrix of its own.
Data in float32 are exact numbers, so both are in float64 (`forms`).
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

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
from ..errors import NotPSDError, warn_user
from ..readers.frames import unpacked
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
    source_of,
    squared_columns,
)
from .pivoted_factor import check_definite, lapack_pivots, rounding_slack
from .sources import RowBlocks
from .sums import moments_of

AT_ONCE = 256  # order up to which definiteness is checked at once; above, when a product is needed
TILE = 128  # rows and columns compared with their mirror image at a time, within the cache
NEAR = 1e-8  # relative to a squared length: a stored K knows half of the digits of such a column
ALIKE = 1e-3  # 1 − r² of two columns: of a third in line with them some 1e-6 is left
STRIP = 256  # rows of a symmetric product that are computed at a time
NOTHING = 8 * float(np.finfo(np.float64).eps)  # times n: the residual of a dependent column


class Dense(Operator):
    """The operator of a stored matrix; `psd` checks and makes it.

    moves : about how many drops and additions searches on it will make, where that is known.
    unchecked : whether K may be indefinite; products, and the form for a search, look at that once.
        A method that reads a few columns costs no more than these.
    source : the rows of X, where K = XᵀX was summed over rows that can be read again.
    """

    moves: int = 0
    unchecked: bool = False
    source: RowBlocks | None = None

    def __init__(
        self,
        K: Array,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
        names: tuple[str, ...] | None = None,
        digits: Array | None = None,
    ):
        super().__init__(K.shape[0], prototype(K), exponent=exponent, ledger=ledger)
        self.K = K
        self.names = names
        self._digits = digits
        self._powers = [K]

    def of(self, K: Array) -> Dense:
        """The operator of another matrix with the same units, ledger and digits."""
        return Dense(K, exponent=self.exponent, ledger=self.ledger, digits=self._digits)

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
        return self.of(take(take(self.K, indices, axis=0), indices, axis=1))

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
        L, order = lapack_pivots(correlations, NEAR)
        rank = L.shape[1]
        if rank == self.n:
            return True
        nothing = NOTHING * self.n
        before = np.diagonal(correlations)[order[rank:]]  # 1, or 0 for a column of zeros
        left = before - np.sum(np.square(L[rank:]), axis=1)
        apart = 1.0 - np.square(correlations)
        alike = (apart > nothing) & (apart < ALIKE)
        return not bool(np.any(left > nothing) or np.any(alike))


def psd(
    K: Array, *, check_symmetric: bool | str = True, names: Sequence[Any] | None = None
) -> Dense:
    """The operator of a stored Gram, covariance or kernel matrix.

    Parameters
    ----------
    K : the n × n symmetric positive semidefinite matrix; never modified.
    check_symmetric : True raises an error if K is not symmetric; "warn" warns. False skips this
        check and the check that K is positive semidefinite. Up to n = 256 all of that is looked at
        here; above, eigenvalues are when a method first makes products with K.
    names : of the n columns; a data frame brings its own.

    Returns
    -------
    Operator
        The matrix K, to be passed to `select`, `path` or `compare`.

    Examples
    --------
    >>> lm.psd(np.eye(3))
    Dense(n=3, dtype=float64)
    """
    K, labels, _ = unpacked(K)
    labels = labels if names is None else tuple(names)
    called = None if labels is None else tuple(map(str, labels))
    K = _check.matrix(K, "K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"K must be square, got shape {tuple(K.shape)}; for the columns of X use data(X)"
        )
    if called is not None and len(called) != K.shape[1]:
        raise ValueError(
            f"expected {K.shape[1]} names, one for each column of K, got {len(called)}"
        )
    diagonal = host(namespace(K).linalg.diagonal(K)).astype(np.float64)
    _check_entries(K, diagonal, check_symmetric)
    if check_symmetric and K.shape[0] <= AT_ONCE:
        check_definite(K)
    exponent = _check.exponent(float(diagonal.max()), K)
    operator = Dense(_check.scaled(K, exponent), exponent=exponent, names=called)
    operator.labels = labels
    operator.unchecked = bool(check_symmetric) and K.shape[0] > AT_ONCE
    return operator


def _check_entries(K: Array, diagonal: np.ndarray, check_symmetric: bool | str) -> None:
    """Raise where an entry shows that K is not symmetric, or not positive semidefinite."""
    rounding = 1e-5 if is_single(K) else 1e-9
    if check_symmetric:
        asymmetry, excess, (i, j) = _compared(K)
        if asymmetry > rounding:
            message = (
                f"K must be symmetric, but max|K − Kᵀ| is {asymmetry:.2g} of max|K|; symmetrise it "
                "with (K + K.T) / 2, or pass check_symmetric=False"
            )
            if check_symmetric != "warn":
                raise ValueError(message)
            warn_user(message)
    least = int(np.argmin(diagonal))
    largest = max(float(np.max(np.abs(diagonal))), np.finfo(float).tiny)
    if diagonal[least] < -rounding * largest:
        raise NotPSDError(
            f"K must be positive semidefinite, but K[{least}, {least}] = {diagonal[least]:.3g} is "
            "negative"
        )
    if check_symmetric and excess > rounding_slack(K) * float(diagonal.max()):
        raise NotPSDError(
            f"K must be positive semidefinite, but |K[{i}, {j}]| = {abs(float(K[i, j])):.3g} "
            f"exceeds √(K[{i}, {i}] K[{j}, {j}])"
        )


def _compared(K: Array) -> tuple[float, float, tuple[int, int]]:
    """max|K − Kᵀ| / max|K|; the most that an entry exceeds √(K_ii K_jj), and where: one pass."""
    xp = namespace(K)
    lengths = xp.sqrt(xp.clip(xp.linalg.diagonal(K), min=0.0))
    difference = excess = 0.0
    place, width = (0, 0), TILE if isinstance(K, np.ndarray) else K.shape[0]
    starts = range(0, K.shape[0], width)
    for i, j in ((i, j) for i in starts for j in starts if j >= i):
        above, below = K[i : i + width, j : j + width], K[j : j + width, i : i + width].T
        difference = max(difference, float(xp.max(xp.abs(above - below))))
        beyond = xp.abs(above) - lengths[i : i + width, None] * lengths[None, j : j + width]
        if float(xp.max(beyond)) > excess:
            row, column = divmod(int(xp.argmax(xp.reshape(beyond, (-1,)))), beyond.shape[1])
            excess, place = float(beyond[row, column]), (i + row, j + column)
    largest = float(xp.max(lengths)) ** 2 + excess  # no entry is larger
    return difference / max(largest, np.finfo(float).tiny), excess, place


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
source_of.register(Dense, lambda operator: operator.source)


@product_seconds.register
def _stored_seconds(operator: Dense) -> float:
    return operator.n**2 * (2e-12 if on_gpu(operator.like) else 3.5e-10)


@squared_columns.register
def _stored_squares(operator: Dense, block: np.ndarray, columns: Array) -> Array:
    if on_gpu(operator.like) or not operator.keeps_powers:
        return operator.matmul(columns)
    operator.ledger.add(products=len(block), entries=operator.n**2)
    return operator.powers(2)[1][:, int(block[0]) : int(block[-1]) + 1]


class Gram(Operator):
    """The operator XᵀX of a stored X; products use XᵀX itself if that is cheaper."""

    X: Any

    def __init__(self, X: Any, *, exponent: int = 0, ledger: Ledger | None = None):
        like = prototype(X) if is_array(X) else np.zeros(0, dtype=X.dtype)
        super().__init__(X.shape[1], like, exponent=exponent, ledger=ledger)
        self.X = X

    @abc.abstractmethod
    def of(self, X: Any) -> Gram:
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
        n, rows = self.n, self.entries(self.X) // max(1, self.n)
        return n <= 2 * rows and n * n * itemsize(self.like) <= MEMORY

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

    def restrict(self, indices: Indices) -> Gram:
        part = self.of(self.part(indices))
        if "stored" in self.__dict__ and self.stored is not None:
            part.stored = self.stored.restrict(indices)
        return part


determining.register(Gram, lambda operator: (operator.X,))


class Data(Gram):
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
