"""Weighted Gram matrices of a batch of rows, with or without missing values.

Those of two batches add up to that of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..rows.moments import Moments


def moments(X: Any, weights: np.ndarray | None) -> Moments:
    """The moments of the rows of X, an array or a SciPy sparse matrix, which stays sparse."""
    w = np.ones(X.shape[0]) if weights is None else weights
    W = float(w.sum())
    if W == 0:
        return Moments(0.0, np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1])))
    mean = (X.T @ w) / W
    if scipy.sparse.issparse(X):
        X = X.astype(np.float64)
        return Moments(W, mean, _product(X, w, X) - W * np.outer(mean, mean))
    centred = (X - mean) * np.sqrt(w)[:, None]
    return Moments(W, mean, centred.T @ centred)


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
    known, missing, origin = _split(X, origin)
    U, V, M = _product(known, w, known), _product(known, w, missing), _product(missing, w, missing)
    lost = np.diag(M)
    sums = np.asarray(known.T @ w)[:, None] - V
    return PairMoments(float(w.sum()), origin, w.sum() - lost[:, None] - lost[None, :] + M, sums, U)


def _split(X: Any, origin: np.ndarray | None) -> tuple[Any, Any, np.ndarray]:
    """The values less the origin, 0 where missing; and a matrix that is 1 where missing."""
    if scipy.sparse.issparse(X):
        known, missing = X.astype(np.float64), X.astype(np.float64)
        missing.data = np.isnan(X.data).astype(np.float64)
        known.data = np.nan_to_num(known.data, nan=0.0)
        return known, missing, np.zeros(X.shape[1])
    missing = np.isnan(X)
    if origin is None:
        origin = np.where(missing, 0.0, X).sum(axis=0, dtype=np.float64) / np.maximum(
            1, (~missing).sum(axis=0)
        )
    return np.where(missing, 0.0, X - origin), missing.astype(np.float64), origin


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
