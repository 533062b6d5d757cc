"""Columns of a SciPy sparse matrix: K = XᵀX through products with X, which is never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._array import Array, Indices, Part
from .dense import Columns


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
