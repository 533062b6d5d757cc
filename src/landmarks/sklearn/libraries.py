"""Arrays of other libraries in the estimators, where scikit-learn's array_api_dispatch is on.

Without it every function here sees NumPy arrays.
"""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils._array_api import _convert_to_numpy, get_namespace, get_namespace_and_device


def on_host(values: Any) -> Any:
    """The values as a NumPy array; sparse matrices, lists and tables stay."""
    if scipy.sparse.issparse(values) or not hasattr(values, "dtype"):
        return values
    xp, is_array = get_namespace(values)
    return _convert_to_numpy(values, xp) if is_array else values


def indices_like(indices: np.ndarray, X: Any) -> Any:
    """Indices as an array of the library and on the device of X."""
    xp, _, device = get_namespace_and_device(X)
    return xp.asarray(indices, dtype=xp.int64, device=device)


def take_at(X: Any, indices: Any, axis: int = 0) -> Any:
    """The rows or columns of X; the indices are of its library and on its device."""
    if scipy.sparse.issparse(X):
        return X[indices] if axis == 0 else X[:, indices]
    xp, _ = get_namespace(X)
    return xp.take(X, indices, axis=axis)


def like_points(values: Any, X: Any) -> Any:
    """Kernel values in the library and on the device of the points, as floats."""
    xp, _, device = get_namespace_and_device(X)
    if values.dtype not in (xp.float32, xp.float64):
        values = xp.asarray(values, dtype=xp.float64)
    return xp.asarray(values, device=device)


def check_same_library(X: Any, fitted: Any, where: str) -> None:
    """Raise when X is of another library or on another device than what was fitted."""
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(fitted):
        return
    xp, is_array, device = get_namespace_and_device(X)
    own, was_array, place = get_namespace_and_device(fitted)
    if is_array and was_array and (xp is not own or device != place):
        raise ValueError(
            f"Inputs passed to {where} must use the same namespace and the same device as those "
            f"passed to fit(): got {xp.__name__} on {device}, fit had {own.__name__} on {place}."
        )


def inverse_root(K: Any) -> Any:
    """The pseudo-inverse of √K; singular values up to k·eps times the largest count as zero."""
    xp, _ = get_namespace(K)
    U, values, V = xp.linalg.svd(K)
    large = values > K.shape[0] * float(xp.finfo(K.dtype).eps) * values[0]
    ones, zeros = xp.ones_like(values), xp.zeros_like(values)
    roots = xp.where(large, 1 / xp.sqrt(xp.where(large, values, ones)), zeros)
    return U * roots @ V
