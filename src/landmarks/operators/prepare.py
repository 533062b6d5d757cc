"""From rows to the operator of centred, scaled, weighted and completed columns.

Sparse data stay sparse. Moments of two batches of rows add up to those of both, with or without
missing values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from .. import _check
from .._array import Array, eps, host, like, namespace
from .base import Operator
from .dense import Data, Dense, psd
from .out_of_core import ROWS_MEMORY, ByRows, gram_fits
from .sources import RowBlocks, tile_height, tiles
from .sparse import Sparse, SparseGram, is_symmetric
from .sums import Moments, moments_of

WAYS = ("error", "impute", "drop", "pairwise")  # what may be done about missing values

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]  # the mean, the factor and the scale of columns


@dataclass(frozen=True, eq=False)
class Prepared:
    """The operator of the columns, what was subtracted, the scale, and the degrees of freedom.

    mean_share : the share of the sum of squares that the means hold, if they were not subtracted;
        None where the operator has the columns from which to compute it.
    constant : the columns that are zero once centred, since they hold one value.
    rows : the rows that were kept; None for all.
    left_out : how many rows were left out, and of how many.
    filled : how many missing values were filled in.
    given : whether the user gave the operator. left_open : whether nothing was said about scales.
    symmetric : whether X was a symmetric matrix and not diagonal, so that it may be meant as a
        kernel matrix.
    """

    operator: Operator
    mean: np.ndarray
    scale: np.ndarray
    degrees: float
    mean_share: float | None = None
    constant: tuple[int, ...] = ()
    rows: np.ndarray | None = None
    left_out: tuple[int, int] = (0, 0)
    filled: int = 0
    given: bool = False
    left_open: bool = False
    symmetric: bool = False


def unprepared(operator: Operator) -> Prepared:
    """An operator whose columns stay as they are."""
    zeros, ones = (np.broadcast_to(value, operator.n) for value in (0.0, 1.0))  # no memory
    return Prepared(operator, zeros, ones, operator.m or 0)


@dataclass(frozen=True)
class Preparation:
    """What is done to the columns before the choice.

    center : whether each column is centred. scale : whether it is divided by its standard
        deviation.
    missing : "error" refuses missing values; "impute" fills in the mean of the column; "drop"
        leaves out the rows that have one; "pairwise" computes each covariance from the rows that
        have both values, sets negative eigenvalues to zero and restores the diagonal.
    """

    center: bool = False
    scale: bool = False
    missing: str = "error"

    @property
    def plain(self) -> bool:
        """Whether the columns stay as they are."""
        return not (self.center or self.scale)

    def parts(self, mean: np.ndarray, variance: np.ndarray, accuracy: float) -> Parts:
        """The mean to subtract, the factor of each column (0 if it is constant), and the scale."""
        constant = variance <= (16 * accuracy * np.abs(mean)) ** 2
        scale = np.ones(len(mean))
        if self.scale:
            scale = np.where(constant, 1.0, np.sqrt(variance))
        if not self.center:
            return np.zeros(len(mean)), 1 / scale, scale
        return mean, np.where(constant, 0.0, 1 / scale), scale

    def result(self, operator: Operator, parts: Parts, moments: Moments, power: int) -> Prepared:
        """The prepared columns, from their parts and moments in units of 2**power."""
        mean, factor, scale = parts
        share = moments.mean_share if self.plain and moments.weight > 1 else 0.0
        return Prepared(
            operator,
            np.ldexp(mean, power),
            np.ldexp(scale, power) if self.scale else scale,
            moments.weight - self.center,
            share,
            tuple(int(j) for j in np.flatnonzero(factor == 0)),
        )

    def of_array(self, X: Array, weights: np.ndarray | None = None) -> tuple[Array, Parts, Moments]:
        """The columns of an array less the mean, times the factor and √weight; `parts`, moments."""
        moments, power = moments_of(X, weights)
        mean, factor, scale = self.parts(moments.mean, moments.variance, eps(X))
        mean = np.ldexp(mean, power)
        if self.scale:
            factor, scale = np.ldexp(factor, -power), np.ldexp(scale, power)
        Z = np.ascontiguousarray(X) if type(X) is np.ndarray else X
        if self.center:
            Z = Z - like(mean, X)
        if not np.all(factor == 1.0):
            Z = Z * like(factor, X)
        if weights is not None:
            Z = Z * like(np.sqrt(weights), X)[:, None]
        return Z, (mean, factor, scale), moments

    def of_rows(self, X: Any, weights: np.ndarray | None = None) -> Prepared:
        """Prepare a checked data matrix: an array of any library, or a SciPy sparse matrix."""
        if self.missing == "error":
            return self._of_complete(X, weights)
        sparse = scipy.sparse.issparse(X)
        if self.missing == "pairwise":
            sums = pair_moments(X if sparse else host(X), weights).resolved("pairwise")
            return self.of_moments(sums, host(X.data[:0] if sparse else X[:0]).dtype)
        if sparse:
            entries = X.tocoo()
            gaps = np.bincount(entries.coords[0], np.isnan(entries.data), X.shape[0])
        else:
            gaps = np.isnan(host(X)).sum(axis=1)
        if not gaps.any():
            return self._of_complete(X, weights)
        if self.missing == "impute":
            filled = mean_imputed(X, weights) if sparse else like(mean_imputed(host(X), weights), X)
            return replace(self._of_complete(filled, weights), filled=int(gaps.sum()))
        rows = np.flatnonzero(gaps == 0)
        left_out = len(gaps) - len(rows), len(gaps)
        check_left(left_out)
        kept = X.tocsr()[rows] if sparse else like(host(X)[rows], X)
        weights = None if weights is None else weights[rows]
        return replace(self._of_complete(kept, weights), rows=rows, left_out=left_out)

    def of_source(
        self, source: RowBlocks, weights: np.ndarray | None, memory: int = ROWS_MEMORY
    ) -> Prepared:
        """Prepare rows that are read in blocks, in one pass."""
        if self.missing == "error":
            return self._of_complete_source(source, weights, memory)
        if self.missing == "drop":
            seen = [0]  # rows, in the last pass
            complete = replace(source, read=partial(_complete, source, seen), m=None, array=None)
            prepared = self._of_complete_source(complete, None, memory)
            left_out = seen[0] - (complete.m or 0), seen[0]
            check_left(left_out)
            return replace(prepared, left_out=left_out)
        total: PairMoments | None = None
        for start, X in tiles(source, tile_height(source.n)):
            w = None if weights is None else weights[start : start + len(X)]
            _check.finite(X, "X", offset=start, names=source.names, missing=True)
            part = pair_moments(X, w, None if total is None else total.origin)
            total = part if total is None else total + part
        sums: PairMoments = total  # type: ignore[assignment]  # tiles raises when there is no row
        prepared = self.of_moments(sums.resolved(self.missing), source.dtype)
        gaps = sums.weight * source.n - np.trace(sums.pair_weight) if weights is None else 0
        return replace(prepared, filled=round(gaps) if self.missing == "impute" else 0)

    def _of_complete_source(
        self, source: RowBlocks, weights: np.ndarray | None, memory: int
    ) -> Prepared:
        products = gram_fits(source, memory)
        how: dict[str, Any] = {"about_mean": not self.plain, "products": products}
        moments, power = moments_of(source, weights, memory=memory, **how)
        mean, factor, _ = parts = self.parts(
            moments.mean, moments.variance, float(np.finfo(source.dtype).eps)
        )
        rows = source.standardised(power, mean, factor, weights) if source.again else None
        exponent = 0 if self.scale else 2 * power
        K = scaled_gram(moments, self.center, factor)
        operator: Operator
        if products:
            operator = stored = Dense(K, exponent=exponent, names=source.names)
            stored.source = rows
        else:
            operator = ByRows(rows, K, exponent=exponent, memory=memory)  # type: ignore[arg-type]  # `gram_fits` saw that the rows can be read again
        return self.result(operator, parts, moments, power)

    def of_moments(self, sums: Moments, dtype: Any) -> Prepared:
        """Prepare columns given by their moments."""
        parts = self.parts(sums.mean, sums.variance, float(np.finfo(dtype).eps))
        return self.result(psd(scaled_gram(sums, self.center, parts[1])), parts, sums, 0)

    def _of_complete(self, X: Any, weights: np.ndarray | None) -> Prepared:
        """Prepare a matrix in which no value is missing."""
        symmetric, plain = is_symmetric(X), self.plain and weights is None
        if scipy.sparse.issparse(X):
            X = scipy.sparse.csc_array(X)
            power = _check.exponent(float(np.max(np.abs(X.data), initial=0.0)), X.data)
            if power:
                X = X.copy()  # the user's matrix stays as it is
                X.data = _check.scaled(X.data, power)
            operator: Any = Sparse(X, exponent=2 * power)
            found = unprepared(operator) if plain else self._of_sparse(X, weights, power)
            return replace(found, symmetric=symmetric)
        xp = namespace(X)
        power = _check.exponent(max(float(xp.max(X)), -float(xp.min(X))), X)
        X = _check.scaled(X, power)
        if plain:
            return replace(unprepared(Data(X, exponent=2 * power)), symmetric=symmetric)
        Z, parts, moments = self.of_array(X, weights)
        summed = None if self.plain else partial(self._gram, X, weights, parts[1])
        operator = Data(Z, exponent=0 if self.scale else 2 * power, summed=summed)
        return replace(self.result(operator, parts, moments, power), symmetric=symmetric)

    def _gram(self, X: Any, weights: np.ndarray | None, factor: np.ndarray) -> np.ndarray:
        """The Gram matrix of prepared columns, the same to the last bit as out of core."""
        return scaled_gram(moments_of(X, weights, products=True)[0], self.center, factor)

    def _of_sparse(self, X: Any, weights: np.ndarray | None, power: int) -> Prepared:
        """Prepare a sparse matrix in units of 2**power, which stays sparse."""
        known, variance = _mean_and_variance(X.astype(np.float64), weights)
        mean, factor, _ = parts = self.parts(known, variance, float(np.finfo(X.dtype).eps))
        w = np.ones(X.shape[0]) if weights is None else weights
        r, D = np.sqrt(w), scipy.sparse.diags_array(factor)
        Z = scipy.sparse.diags_array(r) @ X.astype(np.float64) @ D
        Z = scipy.sparse.csc_array(Z, dtype=X.dtype)
        exponent, W = 0 if self.scale else 2 * power, float(w.sum())
        operator: Operator = Sparse(Z, exponent=exponent)
        if self.center:
            operator = SparseGram(Z, mean * factor, r, exponent=exponent)
        return self.result(operator, parts, Moments(W, known, W * variance), power)


def scaled_gram(moments: Moments, center: bool, factor: np.ndarray) -> np.ndarray:
    """The Gram matrix of the columns times their factors, symmetric to the last bit.

    If the moments have the diagonal of the scatter alone, so has the result.
    """
    K = moments.gram(center)
    if K.ndim == 1:
        return K * factor**2
    if np.any(factor != 1.0):
        K = K * factor[:, None] * factor[None, :]
    return (K + K.T) / 2


def check_left(left_out: tuple[int, int], k: int = 0) -> None:
    """Raise when rows were left out, and one is left, or no more than k: any k rebuild k rows."""
    dropped, of = left_out
    if dropped and of - dropped <= max(1, k):
        raise ValueError(
            f"only {of - dropped} of {of} rows have every value, too few to choose "
            f'{k or "any"} columns from; missing="impute" (--missing impute) fills in means; '
            "or leave out the columns in which most are missing"
        )


def _complete(source: RowBlocks, seen: list[int], memory: int) -> Iterator[np.ndarray]:
    """The rows of a source that have every value; counts all."""
    seen[0] = 0
    for block in source.read(memory):
        seen[0] += len(block)
        yield block[~np.isnan(block).any(axis=1)]


def _mean_and_variance(X: Any, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.utils.sparsefuncs import mean_variance_axis  # only sparse matrices need it

    if weights is not None:
        weights = weights.astype(X.dtype)  # it takes no others
    return mean_variance_axis(X, axis=0, weights=weights)


def mean_imputed(X: Any, weights: np.ndarray | None) -> Any:
    """X with missing values replaced by the mean of the known ones in their column."""
    if scipy.sparse.issparse(X):
        if not np.isnan(X.data).any():
            return X
        X = X.tocsc(copy=True)
        mean = _mean_and_variance(X, weights)[0]
        filled = np.repeat(mean, np.diff(X.indptr))
        X.data = np.where(np.isnan(X.data), filled, X.data).astype(X.dtype)
        return X
    missing = np.isnan(X)
    if not missing.any():
        return X
    w = np.where(missing, 0.0, 1.0 if weights is None else weights[:, None])
    known_weight = np.maximum(w.sum(axis=0), np.finfo(float).tiny)
    mean = np.sum(w * np.where(missing, 0.0, X), axis=0) / known_weight
    return np.where(missing, mean.astype(X.dtype), X)


@dataclass(frozen=True)
class PairMoments:
    """Sums over the rows where two columns are both known, of values taken from an origin.

    weight : Σw over all rows.
    pair_weight : the n × n sums of w over the rows where i and j are known.
    sums : the n × n sums of w (x_i − origin_i) over the same rows.
    products : the n × n sums of w (x_i − origin_i)(x_j − origin_j) over the same rows.
    """

    weight: float
    origin: np.ndarray
    pair_weight: np.ndarray
    sums: np.ndarray
    products: np.ndarray

    def __add__(self, other: PairMoments) -> PairMoments:
        """The moments of both sets of rows, which must have one origin."""
        return PairMoments(
            self.weight + other.weight,
            self.origin,
            self.pair_weight + other.pair_weight,
            self.sums + other.sums,
            self.products + other.products,
        )

    @property
    def offset(self) -> np.ndarray:
        """The mean of the known values of each column, from the origin; 0 where none is known."""
        return np.diag(self.sums) / np.maximum(np.diag(self.pair_weight), np.finfo(float).tiny)

    @property
    def scatter(self) -> np.ndarray:
        """Σ w (x_i − mean_i)(x_j − mean_j) over the rows where both are known."""
        d = self.offset
        return (
            self.products
            - self.sums * d[None, :]
            - self.sums.T * d[:, None]
            + self.pair_weight * np.outer(d, d)
        )

    def resolved(self, missing: str) -> Moments:
        """The moments with missing values resolved.

        "impute": a missing value is the mean of its column, so its row adds nothing to the scatter.
        "pairwise": each entry is scaled up from the rows that have it to all rows; the result can
        have negative eigenvalues, which are set to zero.
        """
        scatter = self.scatter
        if missing == "pairwise":
            known = self.pair_weight > 0
            scatter = nearest_psd(
                np.where(known, self.weight * scatter / np.where(known, self.pair_weight, 1.0), 0.0)
            )
        return Moments(self.weight, self.origin + self.offset, scatter)


def pair_moments(
    X: Any, weights: np.ndarray | None, origin: np.ndarray | None = None
) -> PairMoments:
    """The moments of rows with missing values; a sparse X stays sparse and has the origin zero."""
    w = np.ones(X.shape[0]) if weights is None else weights
    if scipy.sparse.issparse(X):
        known, missing = X.astype(np.float64), X.astype(np.float64)
        missing.data = np.isnan(X.data).astype(np.float64)
        known.data = np.nan_to_num(known.data, nan=0.0)
        gaps, origin = missing.data.any(), np.zeros(X.shape[1])
    else:
        absent = np.isnan(X)
        gaps, missing = absent.any(), absent.astype(np.float64)
        if origin is None:
            present = np.maximum(1, (~absent).sum(axis=0))
            origin = np.where(absent, 0.0, X).sum(axis=0, dtype=np.float64) / present
        known = np.where(absent, 0.0, X - origin)
    V = M = np.zeros((X.shape[1], X.shape[1]))
    if gaps:
        V, M = _product(known, w, missing), _product(missing, w, missing)
    lost, sums = np.diag(M), np.asarray(known.T @ w)[:, None] - V
    weight = w.sum() - lost[:, None] - lost[None, :] + M
    return PairMoments(float(w.sum()), origin, weight, sums, _product(known, w, known))


def _product(A: Any, w: np.ndarray, B: Any) -> np.ndarray:
    """Aᵀ diag(w) B as an array."""
    if scipy.sparse.issparse(A):
        return (A.T @ scipy.sparse.diags_array(w) @ B).toarray()
    return A.T @ (w[:, None] * B)


def nearest_psd(K: np.ndarray) -> np.ndarray:
    """K without its negative eigenvalues, scaled back to the same diagonal."""
    values, vectors = np.linalg.eigh(K)
    if values[0] >= 0:
        return K
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    norms = np.sqrt(np.sum(root**2, axis=1))
    target = np.sqrt(np.maximum(np.diag(K), 0.0))
    root *= (target / np.maximum(norms, np.finfo(float).tiny))[:, None]
    return root @ root.T
