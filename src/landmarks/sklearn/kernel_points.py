"""Landmarks among the training points, for the kernels of scikit-learn; K is never stored.

Points of other array libraries keep their library and device where landmarks can be chosen there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils._array_api import get_namespace
from sklearn.utils.multiclass import type_of_target

import landmarks as lm

from ..kernels import OURS
from ..operators.base import Operator
from ..problem import check_indices
from ..selection.selection import Selection
from ._common import seed
from .libraries import on_host

if TYPE_CHECKING:
    from .nystroem import Nystroem


NOT_PSD = ("sigmoid", "additive_chi2")
QUICK = 3_000  # candidates up to which greedy choice and swaps take a few seconds
OWN = ("rbf", "laplacian", "poly", "polynomial", "linear")  # kernels that `own_kernel` knows
CLASSES = 100  # whole numbers with more distinct values are a quantity, not classes


def chosen_points(
    estimator: Nystroem, X: Any, y: Any, parameters: dict[str, Any]
) -> tuple[np.ndarray, Selection | None]:
    """The training points that the estimator chooses, in order; the selection, if one is made."""
    n, k = X.shape[0], _size(estimator, X.shape[0])
    most = n if estimator.subsample is None else min(n, max(k, estimator.subsample))
    method = _method(estimator)
    if method == "uniform":
        return check_random_state(estimator.random_state).permutation(n)[:k], None
    number = seed(estimator.random_state)
    candidates = drawn_at_random(n, most, number)
    method = _automatic(estimator, X, y, candidates) if method == "auto" else method
    points = for_choice(X, estimator.kernel)
    operator = kernel_operator(points, candidates, estimator.kernel, parameters)
    selection = lm.select(operator, k, method=method, seed=number)
    return candidates[selection.indices], selection


def _size(estimator: Nystroem, n: int) -> int:
    if estimator.n_components > n:
        warnings.warn(
            "n_components > n_samples. This is not possible.\nn_components was set to "
            f"n_samples = {n}, which results in "
            "inefficient evaluation of the full kernel.",
            stacklevel=4,
        )
    return min(estimator.n_components, n)


def _method(estimator: Nystroem) -> Any:
    """The requested selection, or the one that the kernel needs; else "auto"."""
    definite = callable(estimator.kernel) or estimator.kernel not in NOT_PSD
    if estimator.selection != "auto":
        if not definite and estimator.selection != "uniform":
            raise ValueError(
                f"kernel={estimator.kernel!r} is not positive semidefinite: no landmarks can be "
                "chosen for it; use selection='uniform'."
            )
        return estimator.selection
    if not definite:
        warnings.warn(
            f"kernel={estimator.kernel!r} is not positive semidefinite; its landmarks are drawn "
            "uniformly.",
            stacklevel=4,
        )
        return "uniform"
    single = callable(estimator.kernel) and not isinstance(estimator.kernel, OURS)
    return "rpcholesky" if single else "auto"


def _automatic(estimator: Nystroem, X: Any, y: Any, candidates: np.ndarray) -> Any:
    """A choice that helps to predict the target, if there is one; else by the kernel alone."""
    target = None if y is None else numeric_target(on_host(X), on_host(y), candidates)
    if target is not None:
        return lm.Supervised(target)
    return lm.Swap(max_swaps=estimator.n_components) if len(candidates) <= QUICK else "auto"


def kernel_operator(
    X: Any, candidates: np.ndarray, kernel: Any, parameters: dict[str, Any]
) -> Operator:
    """The operator of the kernel on the rows of X at the candidates, or of a precomputed matrix."""
    everything = len(candidates) == X.shape[0]
    if kernel == "precomputed":
        return lm.psd(X if everything else X[np.ix_(candidates, candidates)])
    own = None if scipy.sparse.issparse(X) else own_kernel(kernel, X.shape[1], parameters)
    points = X if everything else X[candidates]
    if own is not None:
        return lm.kernel(points, own)
    return lm.kernel(
        np.arange(len(candidates), dtype=np.float64)[:, None], by_index(points, kernel, parameters)
    )


def own_kernel(kernel: Any, d: int, parameters: dict[str, Any]) -> Callable[..., Any] | None:
    """The kernel if it is one of ours, or ours of that name, which evaluates faster, or None."""
    if callable(kernel):
        return kernel if isinstance(kernel, OURS) else None
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
    named = isinstance(kernel, str) and kernel in OWN
    if "torch" in xp.__name__ and (named or isinstance(kernel, OURS)):
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


def numeric_target(X: Any, y: Any, candidates: np.ndarray) -> np.ndarray | None:
    """A column of zeros and ones for each class, a standardised one for each quantity; None when
    nothing varies.

    candidates : the samples that count; the rows of the result are theirs.
    """
    Y = check_array(
        y.toarray() if hasattr(y, "toarray") else y, ensure_2d=False, dtype=None, input_name="y"
    )
    check_consistent_length(X, Y)
    if Y.dtype.kind == "f" and np.max(np.abs(Y), initial=0.0) > 2.0**53:  # no numbers of classes
        Y = np.ldexp(Y.astype(np.float64), -int(np.frexp(np.max(np.abs(Y)))[1]))
    kind = type_of_target(Y, input_name="y")
    if kind == "unknown":
        raise ValueError(
            "Unknown label type: y must hold numbers or the names of classes; selection='swap' "
            "chooses landmarks without y."
        )
    columns = Y.reshape(len(Y), -1)[candidates]
    distinct = np.array([len(np.unique(column)) for column in columns.T])
    columns = columns[:, distinct > 1]
    if columns.shape[1] == 0:
        return None
    if kind == "multilabel-indicator":
        return columns.astype(np.float64)
    quantity = kind.startswith("continuous") or (
        columns.dtype.kind in "biuf" and distinct.max() > CLASSES
    )
    if not quantity:
        encoded = OneHotEncoder(sparse_output=False).fit_transform(columns)
        return np.asarray(encoded, dtype=np.float64)
    columns = columns.astype(np.float64)
    exponents = np.frexp(np.max(np.abs(columns), axis=0))[1]
    return StandardScaler().fit_transform(np.ldexp(columns, -exponents))  # squares stay in range
