"""Columns of a SciPy sparse matrix: K = XᵀX through products with X, which is never made dense."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._array import Array, Indices, Part
from .base import Ledger, Operator
from .dense import gram_is_cheaper


class Sparse(Operator):
    """The operator XᵀX of a sparse X in CSC form; vectors are NumPy arrays."""

    determined_by = ("X",)

    def __init__(self, X: Any, *, exponent: int = 0, ledger: Ledger | None = None):
        self.X = X
        self.n = X.shape[1]
        self.like = np.zeros(0, dtype=X.dtype)
        self.ledger = ledger or Ledger()
        self.exponent = exponent

    @property
    def m(self) -> int:
        return self.X.shape[0]

    @cached_property
    def gram(self) -> Array | None:
        """XᵀX as an array if it is small and cheaper to multiply by than X and Xᵀ, else None."""
        rows = self.X.nnz // max(1, self.n)
        if not gram_is_cheaper(rows, self.n, self.like.itemsize):
            return None
        self.ledger.add(entries=self.X.nnz)
        return (self.X.T @ self.X).toarray()

    def factor(self, indices: Indices | None = None) -> Array:
        return (self.X if indices is None else self.X[:, np.asarray(indices)]).toarray()

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        if self.gram is not None:
            K = self.gram if rows is None else self.gram[rows]
            K = K if cols is None else K[:, cols]
            self.ledger.add(products=block.shape[1], entries=K.size)
            return K @ block
        left = self.X if rows is None else self.X[:, np.asarray(rows)]
        right = self.X if cols is None else self.X[:, np.asarray(cols)]
        self.ledger.add(products=block.shape[1], entries=left.nnz + right.nnz)
        return left.T @ (right @ block)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.X.nnz)
        squares = self.X.copy()
        squares.data = squares.data**2
        return np.asarray(squares.sum(axis=0)).ravel()

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        if self.gram is not None:
            return self.gram[:, np.asarray(indices)]
        return self.X.T @ self.factor(indices)

    def restrict(self, indices: Indices) -> Sparse:
        part = Sparse(self.X[:, np.asarray(indices)], exponent=self.exponent, ledger=self.ledger)
        if "gram" in self.__dict__ and self.gram is not None:
            part.gram = self.gram[np.ix_(np.asarray(indices), np.asarray(indices))]
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
