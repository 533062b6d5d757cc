"""From data to the operator of centred, scaled and weighted columns; sparse data stay sparse."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..base import MEMORY, Operator
from ..dense import array_data
from ..function import function
from ..psd import psd
from ..rows.base import RowBlocks
from ..rows.moments import Moments
from ..rows.out_of_core import from_rows, scaled_gram
from ..rows.tiles import tile_height, tiles
from ..sparse import sparse_data
from ..standard import Prepared, Standard
from .covariance import PairMoments, moments, pair_moments


@dataclass(frozen=True)
class Preparation(Standard):
    """What is done to the columns before the choice, as `ColumnSelector` names it."""

    missing: str = "error"

    def of_rows(self, X: Any, weights: np.ndarray | None) -> Prepared:
        """Prepare a data matrix."""
        if self.missing == "pairwise":
            return self.of_moments(pair_moments(X, weights).resolved("pairwise"), X.dtype)
        if self.missing == "impute":
            X = mean_imputed(X, weights)
        if scipy.sparse.issparse(X):
            return self._of_sparse(X.tocsc(), weights)
        return self._of_dense(X, weights)

    def of_source(self, source: RowBlocks, weights: np.ndarray | None) -> Prepared:
        """Prepare rows that are read in blocks, in one pass."""
        if self.missing == "error":
            return from_rows(source, self, weights=weights)
        return self.of_moments(
            _pair_moments_of(source, weights).resolved(self.missing), source.dtype
        )

    def of_moments(self, sums: Moments, dtype: Any) -> Prepared:
        """Prepare columns given by their moments."""
        mean, factor, scale = self.parts(sums.mean, sums.variance, float(np.finfo(dtype).eps))
        operator = psd(scaled_gram(sums, self.center, factor))
        degrees = sums.weight - self.center
        share = self.mean_share(sums.mean, sums.variance)
        return Prepared(operator, mean, scale, degrees, share)

    def _of_dense(self, X: np.ndarray, weights: np.ndarray | None) -> Prepared:
        Z, mean, scale = self.of_array(X, weights)
        rows = X.shape[0] if weights is None else float(weights.sum())
        share = 0.0 if self.center else means_hold(X)
        return Prepared(array_data(Z), mean, scale, rows - self.center, share)

    def _of_sparse(self, X: Any, weights: np.ndarray | None) -> Prepared:
        if self.center and X.shape[1] ** 2 * 8 <= MEMORY // 8:
            return self.of_moments(moments(X, weights), X.dtype)
        average, variance = _mean_and_variance(X, weights)
        mean, factor, scale = self.parts(average, variance, float(np.finfo(X.dtype).eps))
        w = np.ones(X.shape[0]) if weights is None else weights
        Z = scipy.sparse.diags_array(np.sqrt(w)) @ X @ scipy.sparse.diags_array(factor)
        Z = Z.astype(X.dtype)
        if not self.center:
            share = self.mean_share(average, variance)
            return Prepared(sparse_data(Z), mean, scale, float(w.sum()), share)
        W = float(w.sum())
        return Prepared(centred(Z, mean * factor, W, variance * factor**2), mean, scale, W - 1)


def means_hold(X: np.ndarray) -> float:
    """The share of the sum of squares of X that the means of its columns hold."""
    if len(X) < 2:
        return 0.0
    X = np.ldexp(X, -int(np.frexp(np.max(np.abs(X)))[1]))  # squares stay within range
    total = float(np.einsum("ij,ij->", X, X, dtype=np.float64))
    means = X.mean(axis=0, dtype=np.float64)
    return float(X.shape[0] * np.sum(means**2)) / total if total > 0 else 0.0


def _mean_and_variance(X: Any, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.utils.sparsefuncs import mean_variance_axis  # only sparse matrices need it

    if weights is not None:
        weights = weights.astype(X.dtype)  # it takes no others
    return mean_variance_axis(X, axis=0, weights=weights)


def centred(Z: Any, mean: np.ndarray, weight: float, variance: np.ndarray) -> Operator:
    """ZᵀZ − W mean meanᵀ by products: centres a sparse Z whose Gram matrix would be too large."""
    mean = mean.astype(Z.dtype)

    def product(block: np.ndarray) -> np.ndarray:
        return (Z.T @ (Z @ block) - weight * np.outer(mean, mean @ block)).astype(Z.dtype)

    return function(product, n=Z.shape[1], diagonal=weight * variance, dtype=Z.dtype)


def _pair_moments_of(source: RowBlocks, weights: np.ndarray | None) -> PairMoments:
    """The moments of all rows of a source, with the mean of the first tile as origin."""
    total: PairMoments | None = None
    for start, X in tiles(source, tile_height(source.n)):
        w = None if weights is None else weights[start : start + len(X)]
        part = pair_moments(X, w, None if total is None else total.origin)
        total = part if total is None else total + part
    return total  # type: ignore[return-value]  # tiles raises when there is no row


def mean_imputed(X: Any, weights: np.ndarray | None) -> Any:
    """X with missing values replaced by the mean of the known ones in their column."""
    if scipy.sparse.issparse(X):
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
