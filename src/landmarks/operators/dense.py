"""Matrices in memory: K itself, or X with K = XᵀX, formed once where that is cheaper.

X is an array, or a SciPy sparse matrix, which is never made dense.
"""

from __future__ import annotations

import abc
from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._array import Array, Indices, Part, is_array, namespace, on_gpu, prototype, take
from .base import DENSE_MEMORY, MEMORY, Ledger, Operator, blocks, itemsize
from .standard import Standard

STRIP = 256  # rows of a symmetric product that are computed at a time


class Dense(Operator):
    """The operator of a stored matrix; `psd` checks and makes it.

    moves : about how many drops and additions searches on it will make, where that is known.
    """

    in_memory = True
    moves: int = 0
    determined_by = ("K",)

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

    @property
    def keeps_powers(self) -> bool:
        """Whether K² and K³ may be stored: each takes as much memory as K."""
        return itemsize(self.like) * self.n**2 <= MEMORY // 2

    def powers(self, highest: int) -> list[Array]:
        """K, K², up to the highest power, formed once.

        The ledger does not count that: a resumed run forms them again and must count the same.
        """
        while len(self._powers) < highest:
            self._powers.append(symmetric_product(self._powers[-1], self.K))
        return self._powers[:highest]

    def squared_columns(self, block: np.ndarray, columns: Array) -> Array:
        if on_gpu(self.like) or not self.keeps_powers:
            return self.matmul(columns)
        self.ledger.add(products=len(block), entries=self.n**2)
        return self.powers(2)[1][:, int(block[0]) : int(block[-1]) + 1]

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
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
        return take(self.K, indices, axis=1)

    def product_seconds(self) -> float:
        return self.n**2 * (2e-12 if on_gpu(self.like) else 5e-10)

    def restrict(self, indices: Indices) -> Dense:
        return Dense(
            take(take(self.K, indices, axis=0), indices, axis=1),
            exponent=self.exponent,
            ledger=self.ledger,
            digits=self._digits,
        )


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


class Columns(Operator):
    """The operator XᵀX of a stored X; products go by XᵀX itself where that is cheaper."""

    X: Any
    determined_by = ("X",)

    def __init__(
        self,
        X: Any,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
        names: tuple[str, ...] | None = None,
    ):
        self.X = X
        self.n = X.shape[1]
        self.like = prototype(X) if is_array(X) else np.zeros(0, dtype=X.dtype)
        self.ledger = ledger or Ledger()
        self.exponent = exponent
        self.names = names

    @abc.abstractmethod
    def part(self, indices: Part) -> Any:
        """Columns of X as they are stored."""

    @abc.abstractmethod
    def entries(self, part: Any) -> int:
        """How many entries of X are stored in some columns."""

    @property
    def m(self) -> int:
        return self.X.shape[0]

    @cached_property
    def gram(self) -> Array | None:
        """XᵀX when a product with it is cheaper than two with X and it is small, else None."""
        rows = self.entries(self.X) // max(1, self.n)
        if not gram_is_cheaper(rows, self.n, itemsize(self.like)):
            return None
        self.ledger.add(entries=self.entries(self.X))
        K = self.X.T @ self.X
        return K if is_array(K) else K.toarray()

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        if self.gram is not None:
            K = self.gram if rows is None else take(self.gram, rows, axis=0)
            K = K if cols is None else take(K, cols, axis=1)
            self.ledger.add(products=block.shape[1], entries=K.shape[0] * K.shape[1])
            return K @ block
        left, right = self.part(rows), self.part(cols)
        self.ledger.add(products=block.shape[1], entries=self.entries(left) + self.entries(right))
        return left.T @ (right @ block)

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        if self.gram is not None:
            return take(self.gram, indices, axis=1)
        return self.X.T @ self.factor(indices)

    def share_gram(self, part: Columns, indices: Indices) -> None:
        """Give a restriction its part of XᵀX, if that was formed."""
        if "gram" in self.__dict__ and self.gram is not None:
            part.gram = take(take(self.gram, indices, axis=0), indices, axis=1)


class Data(Columns):
    """The operator XᵀX of an array X; `data` checks and makes it."""

    factor_in_memory = True

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

    def restrict(self, indices: Indices) -> Data:
        part = Data(self.part(indices), exponent=self.exponent, ledger=self.ledger)
        self.share_gram(part, indices)
        return part


def gram_is_cheaper(m: int, n: int, itemsize: int) -> bool:
    """Whether K = XᵀX is small enough to keep and a product with it costs less than two with X."""
    return n <= 2 * m and n * n * itemsize <= MEMORY


def array_data(
    X: Any,
    *,
    center: bool = False,
    scale: bool = False,
    names: tuple[str, ...] | None = None,
    labels: tuple[Any, ...] | None = None,
) -> Data:
    """The operator of the columns of a matrix in memory, checked, and prepared if asked for."""
    X = _check.matrix(X, "X")
    xp = namespace(X)
    power = _check.exponent(max(float(xp.max(X)), -float(xp.min(X))), X)
    X = _check.scaled(X, power)
    if center or scale:
        X = Standard(center, scale).of_array(X)[0]
    operator = Data(X, exponent=0 if scale else 2 * power, names=names)
    operator.labels = labels
    return operator


def storable(operator: Operator, memory: int = DENSE_MEMORY) -> bool:
    """Whether the n × n matrix fits in the memory."""
    return operator.n**2 * itemsize(operator.like) <= memory


def densify(operator: Operator) -> Array:
    """The full n × n matrix, when it fits."""
    if not storable(operator):
        need = operator.n**2 * itemsize(operator.like)
        raise MemoryError(
            f"storing K needs {need / 2**30:.1f} GiB, above the limit of "
            f"{DENSE_MEMORY / 2**30:.0f} GiB; use a method that works on products: auto, greedy, "
            "swap, continuous, nuclear or rpcholesky"
        )
    return operator.columns(np.arange(operator.n))


class Sparse(Columns):
    """The operator XᵀX of a sparse X in CSC form; vectors are NumPy arrays."""

    def part(self, indices: Part) -> Any:
        return self.X if indices is None else self.X[:, np.asarray(indices)]

    def entries(self, part: Any) -> int:
        return part.nnz

    def factor(self, indices: Part = None) -> Array:
        return self.part(indices).toarray()

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.X.nnz)
        squares = self.X.copy()
        squares.data = squares.data**2
        return np.asarray(squares.sum(axis=0)).ravel()

    def restrict(self, indices: Indices) -> Sparse:
        part = Sparse(self.part(indices), exponent=self.exponent, ledger=self.ledger)
        self.share_gram(part, indices)
        return part


def sparse_data(X: Any) -> Sparse:
    """The operator of the columns of a SciPy sparse matrix or array of any format."""
    X = _check.sparse(X)
    largest = float(np.max(np.abs(X.data))) if X.nnz else 0.0
    power = _check.exponent(largest, X.data)
    if power:
        X = X.copy()
        X.data = _check.scaled(X.data, power)
    return Sparse(X, exponent=2 * power)
