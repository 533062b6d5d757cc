"""From a data matrix to the operator of its centred, scaled and weighted columns; a sparse matrix stays sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

import landmarks as lm

from ..operators.base import MEMORY, Operator
from .covariance import Moments, moments, pair_moments


@dataclass(frozen=True)
class Prepared:
    """The operator of the columns, the mean and scale that were taken out of them, and the degrees of freedom left."""

    operator: Operator
    mean: np.ndarray
    scale: np.ndarray
    degrees: float


@dataclass(frozen=True)
class Preparation:
    """What is done to the columns before the choice: the settings of `ColumnSelector` of these names."""

    center: bool
    scale: bool
    missing: str

    def of_rows(self, X: Any, weights: np.ndarray | None) -> Prepared:
        """Prepare a whole data matrix."""
        if self.missing == "pairwise":
            return self.of_moments(pair_moments(X, weights).resolved("pairwise"), X.dtype)
        if self.missing == "impute":
            X = mean_imputed(X, weights)
        if scipy.sparse.issparse(X):
            return self._of_sparse(X.tocsc(), weights)
        return self._of_dense(X, weights)

    def of_moments(self, sums: Moments, dtype: Any) -> Prepared:
        """Prepare what is known by its moments."""
        mean, factor, scale = self._standard(sums.mean, sums.variance, dtype)
        K = sums.gram(self.center) * factor[:, None] * factor[None, :]
        return Prepared(lm.psd((K + K.T) / 2), mean, scale, sums.weight - self.center)

    def _of_dense(self, X: np.ndarray, weights: np.ndarray | None) -> Prepared:
        w = np.ones(X.shape[0]) if weights is None else weights
        average = np.einsum("i,ij->j", w, X, dtype=np.float64) / w.sum()
        centred = X - average.astype(X.dtype)
        variance = np.einsum("i,ij,ij->j", w, centred, centred, dtype=np.float64) / w.sum()
        mean, factor, scale = self._standard(average, variance, X.dtype)
        Z = centred if self.center else X
        Z = Z if np.all(factor == 1.0) else Z * factor.astype(X.dtype)
        Z = Z if weights is None else Z * np.sqrt(weights).astype(X.dtype)[:, None]
        return Prepared(lm.data(Z), mean, scale, float(w.sum()) - self.center)

    def _of_sparse(self, X: Any, weights: np.ndarray | None) -> Prepared:
        if self.center and X.shape[1] ** 2 * 8 <= MEMORY // 8:
            return self.of_moments(moments(X, weights), X.dtype)
        average, variance = mean_variance_axis(X, axis=0, weights=weights)
        mean, factor, scale = self._standard(average, variance, X.dtype)
        w = np.ones(X.shape[0]) if weights is None else weights
        Z = (scipy.sparse.diags_array(np.sqrt(w)) @ X @ scipy.sparse.diags_array(factor)).astype(X.dtype)
        if not self.center:
            return Prepared(lm.data(Z), mean, scale, float(w.sum()))
        W = float(w.sum())
        return Prepared(centred(Z, mean * factor, W, variance * factor**2), mean, scale, W - 1)

    def _standard(self, mean: np.ndarray, variance: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean to take out, the factor of each column (0 for one that is constant once centred), the scale."""
        constant = variance <= (16 * np.finfo(dtype).eps * np.abs(mean)) ** 2
        scale = np.where(constant, 1.0, np.sqrt(variance)) if self.scale else np.ones(len(mean))
        factor = np.where(constant, 0.0, 1 / scale) if self.center else 1 / scale
        return (mean if self.center else np.zeros(len(mean))), factor, scale


def centred(Z: Any, mean: np.ndarray, weight: float, variance: np.ndarray) -> Operator:
    """ZᵀZ − W mean meanᵀ by products alone: the rank-one term centres a sparse Z that is too wide for its Gram matrix."""
    mean = mean.astype(Z.dtype)

    def product(block: np.ndarray) -> np.ndarray:
        return (Z.T @ (Z @ block) - weight * np.outer(mean, mean @ block)).astype(Z.dtype)

    return lm.function(product, n=Z.shape[1], diagonal=weight * variance, dtype=Z.dtype)


def mean_imputed(X: Any, weights: np.ndarray | None) -> Any:
    """X with missing values replaced by the mean of the known ones in their column."""
    if scipy.sparse.issparse(X):
        X = X.tocsc(copy=True)
        mean = mean_variance_axis(X, axis=0, weights=weights)[0]
        filled = np.repeat(mean, np.diff(X.indptr))
        X.data = np.where(np.isnan(X.data), filled, X.data).astype(X.dtype)
        return X
    missing = np.isnan(X)
    if not missing.any():
        return X
    w = np.where(missing, 0.0, 1.0 if weights is None else weights[:, None])
    mean = np.sum(w * np.where(missing, 0.0, X), axis=0) / np.maximum(w.sum(axis=0), np.finfo(float).tiny)
    return np.where(missing, mean.astype(X.dtype), X)
