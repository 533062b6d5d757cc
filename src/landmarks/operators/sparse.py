"""The operator XᵀX of a SciPy sparse matrix X, centred or not; only a small one is made dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .. import _check
from .._array import Array, Indices, Part, is_single, namespace
from .base import MEMORY, Ledger, Operator, determining, product_seconds, remade_in_double
from .dense import Data, Gram
from .forms import form


class SparseGram(Gram):
    """The operator of the rows X − r μᵀ of a sparse X in CSC form: centred data stay sparse.

    mean : μ, one number for each column; None for the rows as they are. weights : r, one for each
        row; 1 unless rows are weighted. Vectors are NumPy arrays.
    """

    def __init__(
        self,
        X: Any,
        mean: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
    ):
        super().__init__(X, exponent=exponent, ledger=ledger)
        self.mean: Any = None if mean is None else mean.astype(X.dtype)
        self.weights = np.ones(self.m, X.dtype) if weights is None else weights.astype(X.dtype)

    def part(self, indices: Part) -> Any:
        return self.X if indices is None else self.X[:, np.asarray(indices)]

    def entries(self, part: Any) -> int:
        return part.nnz

    def factor(self, indices: Part = None) -> Array:
        rows = self.part(indices).toarray()
        if self.mean is None:
            return rows
        mean = self.mean if indices is None else self.mean[np.asarray(indices)]
        return rows - np.outer(self.weights, mean)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.X.nnz)
        squares, zeros = self.X.copy(), self.X.copy()
        if self.mean is None:
            squares.data = squares.data**2
            return np.asarray(squares.sum(axis=0)).ravel()
        r = self.weights[self.X.indices]
        squares.data = (self.X.data - r * np.repeat(self.mean, np.diff(self.X.indptr))) ** 2
        zeros.data = r**2
        elsewhere = np.sum(self.weights**2) - np.asarray(zeros.sum(axis=0)).ravel()
        return np.asarray(squares.sum(axis=0)).ravel() + self.mean**2 * np.maximum(elsewhere, 0.0)

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        if self.stored is not None or self.mean is None:
            return super().matmul(block, rows, cols)
        left, right = self.restrict(rows), self.restrict(cols)
        self.ledger.add(products=block.shape[1], entries=left.X.nnz + right.X.nnz)
        return left._adjoint(right.X @ block - np.outer(self.weights, right.mean @ block))

    def columns(self, indices: Indices) -> Array:
        if self.stored is not None or self.mean is None:
            return super().columns(indices)
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        return self._adjoint(self.factor(indices))

    def _adjoint(self, image: Array) -> Array:
        return self.X.T @ image - np.outer(self.mean, self.weights @ image)

    @property
    def stores_gram(self) -> bool:
        small = self.mean is not None and self.n**2 * 8 <= MEMORY // 8
        return small or super().stores_gram

    def gram(self) -> Array:
        return sparse_gram(self.X, self.mean, self.weights)

    def of(self, X: Any) -> SparseGram:
        return type(self)(X, self.mean, self.weights, exponent=self.exponent, ledger=self.ledger)

    def restrict(self, indices: Part) -> Any:
        if indices is None:
            return self
        part: Any = super().restrict(indices)
        if self.mean is not None:
            part.mean = self.mean[np.asarray(indices)]
        return part


class Sparse(SparseGram):
    """The operator XᵀX of a sparse X, whose rows are as they are."""


remade_in_double.register(SparseGram, lambda operator: operator.of(operator.X.astype(float)))
product_seconds.register(SparseGram, lambda operator: 1.1e-9 * operator.X.nnz)


@form.register
def _sparse_form(operator: SparseGram, k: int) -> Operator:
    """The form of X as an array where that is small; else K where it is stored, or as it is."""
    promoted = operator.of(operator.X.astype(float)) if is_single(operator.like) else operator
    if operator.n * operator.m * 8 > MEMORY // 8:
        return promoted.stored or promoted
    return form(Data(promoted.factor(), exponent=operator.exponent, ledger=operator.ledger), k)


@determining.register
def _determining(operator: SparseGram) -> tuple[Any, ...]:
    return (operator.X,) if operator.mean is None else (operator.X, operator.mean, operator.weights)


def sparse_gram(X: Any, mean: Array | None = None, weights: Array | None = None) -> Array:
    """XᵀX, or that of the rows X − r μᵀ, in the cheaper of two ways.

    A product of sparse matrices takes some 100 times as long for a term as one of arrays, so that
    from about a tenth of entries on, blocks of rows as arrays are faster.
    """
    m, n = X.shape
    terms = float(np.sum(np.square(np.bincount(X.indices, minlength=m), dtype=np.float64)))
    if 100 * terms < m * n * n:
        K = (X.T @ X).toarray()
        if mean is not None and weights is not None:
            sums, total = X.T @ weights, float(weights @ weights)
            K -= np.outer(sums, mean) + np.outer(mean, sums - total * mean)
            K = (K + K.T) / 2
        return K
    rows, K = X.tocsr(), np.zeros((n, n), dtype=X.dtype)
    height = max(1, MEMORY // 8 // (8 * n))
    for start in range(0, m, height):
        block = rows[start : start + height].toarray()
        if mean is not None and weights is not None:
            block -= np.outer(weights[start : start + height], mean)
        K += block.T @ block
    return K


def is_symmetric(X: Any) -> bool:
    """Whether X is a symmetric matrix and not diagonal, for which X and XᵀX choose the same."""
    if X.shape[0] != X.shape[1]:
        return False
    if scipy.sparse.issparse(X):
        return (X - X.T).nnz == 0 and X.nnz > np.count_nonzero(X.diagonal())
    xp = namespace(X)
    symmetric = bool(xp.all(X == X.T))
    return symmetric and int(xp.count_nonzero(X)) > int(xp.count_nonzero(xp.linalg.diagonal(X)))


def checked_sparse(X: Any, **how: Any) -> Any:
    """A CSC matrix of float32 or float64 whose values are checked.

    how : of that check, as for `finite`.
    """
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is {X.dtype}")
    if 0 in X.shape or len(X.shape) != 2:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
    X = scipy.sparse.csc_array(
        X, dtype=X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    )
    _check.finite(X, "X", **how)
    if not X.has_canonical_format:
        X = X.copy()  # adding up duplicates writes to the arrays, which the user may hold
        X.sum_duplicates()
    return X
