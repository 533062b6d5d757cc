"""From scikit-learn's kernels to an operator on some of the training points; K is never stored.

Points of other array libraries keep their library and device where landmarks can be chosen there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_array
from sklearn.utils._array_api import get_namespace

import landmarks as lm

from ..operators.base import Operator, check_indices
from .libraries import on_host

NOT_PSD = ("sigmoid", "additive_chi2")
OWN = ("rbf", "laplacian", "poly", "polynomial", "linear")  # kernels that `own_kernel` knows


def kernel_operator(
    X: Any, candidates: np.ndarray, kernel: Any, parameters: dict[str, Any]
) -> Operator:
    """The operator of the kernel on the rows of X at the candidates, or of a precomputed matrix."""
    everything = len(candidates) == X.shape[0]
    if kernel == "precomputed":
        return lm.psd(X if everything else X[np.ix_(candidates, candidates)])
    own = (
        None
        if scipy.sparse.issparse(X) or callable(kernel)
        else own_kernel(kernel, X.shape[1], parameters)
    )
    points = X if everything else X[candidates]
    if own is not None:
        return lm.kernel(points, own)
    return lm.kernel(
        np.arange(len(candidates), dtype=np.float64)[:, None], by_index(points, kernel, parameters)
    )


def own_kernel(kernel: str, d: int, parameters: dict[str, Any]) -> Callable | None:
    """The kernel of that name as one of ours, which evaluates faster, or None."""
    gamma = parameters.get("gamma")
    gamma = 1 / d if gamma is None else float(gamma)
    if kernel == "linear":
        return lm.linear()
    if gamma <= 0:
        return None
    if kernel == "rbf":
        return lm.rbf(sigma=1 / math.sqrt(gamma))
    if kernel == "laplacian":
        return lm.laplacian(sigma=1 / gamma)
    degree, coef0 = parameters.get("degree", 3), float(parameters.get("coef0", 1))
    if kernel in ("poly", "polynomial") and degree == int(degree) and coef0 >= 0:
        return lm.polynomial(degree=int(degree), gamma=gamma, coef0=coef0)
    return None


def by_index(
    points: Any, kernel: Any, parameters: dict[str, Any]
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The kernel as a function of the indices of points, which may then be sparse."""

    def values(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        x, y = points[rows[:, 0].astype(np.intp)], points[columns[:, 0].astype(np.intp)]
        block = pairwise_kernels(x, y, metric=kernel, filter_params=True, **parameters)
        return np.asarray(block, dtype=np.float64)

    return values


def for_choice(X: Any, kernel: Any) -> Any:
    """The points as landmarks are chosen from them: torch tensors for our own kernels stay.

    All else is chosen from on the host: callables and scikit-learn's other kernels read single
    values, which a device would hand over one by one.
    """
    xp, _ = get_namespace(X)
    if scipy.sparse.issparse(X) or isinstance(X, np.ndarray):
        return X
    if "torch" in xp.__name__ and isinstance(kernel, str) and kernel in OWN:
        return X
    return on_host(X)


def drawn_at_random(n: int, most: int, seed: int | None) -> np.ndarray:
    """All indices below n, or that many of them drawn at random, in rising order."""
    if n == most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=most, replace=False))


def own_landmarks(landmarks: Any, X: Any, kernel: Any) -> Any:
    """The user's landmarks: indices of training points, or points; None if there are none."""
    if landmarks is None:
        return None
    given = landmarks if scipy.sparse.issparse(landmarks) else np.asarray(landmarks)
    if given.ndim == 1:
        return check_indices(given, X.shape[0])
    if kernel == "precomputed":
        raise ValueError(
            "landmarks must be a list of indices of training points when kernel='precomputed', "
            "which has no points."
        )
    points = check_array(given, accept_sparse="csr", dtype=X.dtype, input_name="landmarks")
    if points.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks has {points.shape[1]} features, but X has {X.shape[1]} features."
        )
    return points
