"""Columns of an array X: K = XᵀX, formed once when that is cheaper than two products with X."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .. import _check
from .._array import Array, Indices, namespace, prototype, take
from .base import MEMORY, Operator, blocks, itemsize
from .ledger import Ledger
from .standard import Standard


class Data(Operator):
    """The operator XᵀX of an array X; `data` checks and makes it."""

    factor_in_memory = True

    def __init__(
        self,
        X: Array,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
        names: tuple[str, ...] | None = None,
    ):
        self.X = X
        self.n = X.shape[1]
        self.like = prototype(X)
        self.ledger = ledger or Ledger()
        self.exponent = exponent
        self.names = names

    @property
    def m(self) -> int:
        return self.X.shape[0]

    @cached_property
    def gram(self) -> Array | None:
        """XᵀX when a product with it is cheaper than two with X and it is small, else None."""
        if not gram_is_cheaper(self.m, self.n, itemsize(self.like)):
            return None
        self.ledger.add(entries=self.m * self.n)
        return self.X.T @ self.X

    def factor(self, indices: Indices | None = None) -> Array:
        return self.X if indices is None else take(self.X, indices, axis=1)

    def matmul(
        self, block: Array, rows: Indices | None = None, cols: Indices | None = None
    ) -> Array:
        if self.gram is not None:
            K = self.gram if rows is None else take(self.gram, rows, axis=0)
            K = K if cols is None else take(K, cols, axis=1)
            self.ledger.add(products=block.shape[1], entries=K.shape[0] * K.shape[1])
            return K @ block
        left, right = self.factor(rows), self.factor(cols)
        self.ledger.add(products=block.shape[1], entries=self.m * (left.shape[1] + right.shape[1]))
        return left.T @ (right @ block)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.m * self.n)
        xp = namespace(self.X)
        width = MEMORY // (64 * self.m * itemsize(self.like))
        parts = (self.X[:, int(block[0]) : int(block[-1]) + 1] for block in blocks(self.n, width))
        return xp.concat([xp.sum(X * X, axis=0) for X in parts])

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        if self.gram is not None:
            return take(self.gram, indices, axis=1)
        return self.X.T @ self.factor(indices)

    def restrict(self, indices: Indices) -> Data:
        part = Data(self.factor(indices), exponent=self.exponent, ledger=self.ledger)
        if "gram" in self.__dict__ and self.gram is not None:
            part.gram = take(take(self.gram, indices, axis=0), indices, axis=1)
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
