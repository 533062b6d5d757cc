"""The operator XᵀX of a SciPy sparse matrix X; only a search in a small one makes it dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .. import _check
from .._array import Array, Part, is_single
from .base import MEMORY, Operator
from .dense import Columns, Data


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

    def of(self, X: Any) -> Sparse:
        return Sparse(X, exponent=self.exponent, ledger=self.ledger)

    def remade_in_double(self) -> Sparse:
        return self.of(self.X.astype("float64"))

    def form(self, k: int) -> Operator:
        """K where it is stored and has the digits; X as an array where that is small; else self."""
        wide = self.remade_in_double() if is_single(self.like) else self
        small = self.n * self.m * 8 <= MEMORY // 8
        if wide.stored is not None and (not small or wide.stored.keeps_digits()):
            return wide.stored
        if not small:
            return wide
        return Data(wide.factor(), exponent=self.exponent, ledger=self.ledger).form(k)


def sparse_data(X: Any) -> Sparse:
    """The operator of the columns of a SciPy sparse matrix or array of any format."""
    X = checked_sparse(X)
    largest = float(np.max(np.abs(X.data))) if X.nnz else 0.0
    power = _check.exponent(largest, X.data)
    if power:
        X = X.copy()
        X.data = _check.scaled(X.data, power)
    operator = Sparse(X, exponent=2 * power)
    if X.shape[0] == X.shape[1] and (X - X.T).nnz == 0:
        operator.symmetric = X.nnz > np.count_nonzero(X.diagonal())
    return operator


def checked_sparse(X: Any, names: tuple[str, ...] | None = None, *, missing: bool = False) -> Any:
    """A CSC matrix of float32 or float64 that is finite, or has NaN for missing values."""
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is {X.dtype}")
    if 0 in X.shape or len(X.shape) != 2:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
    X = scipy.sparse.csc_array(
        X, dtype=X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    )
    bad = np.isinf(X.data) if missing else ~np.isfinite(X.data)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        column = int(np.searchsorted(X.indptr, place, side="right") - 1)
        where = (int(X.indices[place]), column)
        raise ValueError(_check.not_finite("X", X.data[place], where, int(bad.sum()), names))
    if not X.has_canonical_format:
        X = X.copy()  # adding up duplicates writes to the arrays, which the user may hold
        X.sum_duplicates()
    return X
