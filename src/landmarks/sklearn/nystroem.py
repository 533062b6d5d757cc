"""The Nyström feature map for scikit-learn, with landmarks chosen instead of drawn at random.

Landmarks are chosen among the training points for the kernels of scikit-learn; K is never stored.
Points of other array libraries, where scikit-learn's array_api_dispatch is on, keep their library
and device where landmarks can be chosen there; without it every function here sees NumPy arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils._array_api import _convert_to_numpy, get_namespace, get_namespace_and_device
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

import landmarks as lm

from ..errors import warn_user
from ..kernels import OURS
from ..operators.base import Operator
from ..selection.selection import Selection
from ._common import readable, seed, without_data

NOT_PSD = ("sigmoid", "additive_chi2")
QUICK = 3_000  # candidates up to which greedy choice and swaps take a few seconds
OWN = ("rbf", "laplacian", "poly", "polynomial", "linear")  # kernels that `own_kernel` knows
CLASSES = 100  # whole numbers with more distinct values are a quantity, not classes


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Approximate the feature map of a kernel by kernel values with a few chosen landmarks.

    A drop-in replacement for `sklearn.kernel_approximation.Nystroem`, which draws its landmarks
    uniformly. With scikit-learn's `array_api_dispatch` the features stay in the library and on the
    device of X.

    Parameters
    ----------
    kernel : a name known to `sklearn.metrics.pairwise`; a kernel of this package, such as
        `lm.rbf(sigma=[1.0, 0.5])` with a width for each column or `lm.matern(nu=2.5)`;
        "precomputed"; or a callable of two points that returns a number. "precomputed": fit takes
        the square matrix of kernel values between the training points; transform takes the values
        of new points with all training points, or with the landmarks `component_indices_` alone.
    gamma, coef0, degree : parameters of the kernel, with scikit-learn's meaning and defaults.
    kernel_params : further parameters of the kernel; the dictionary is never modified.
    n_components : the number of landmarks, which is the number of features.
    random_state : an integer gives the same landmarks each time.
    n_jobs : how many jobs evaluate kernel values in transform.
    selection : how landmarks are chosen: a name ("greedy", "swap", …) or a method object such as
        `landmarks.Greedy()`. "uniform" draws the ones that scikit-learn draws from the same
        random_state. "auto" uses the target if fit is given one (`landmarks.Supervised`), as in a
        pipeline; without one it is "swap", a greedy choice improved by swaps. For a callable kernel
        it is randomly pivoted Cholesky, which reads few kernel values; for a kernel that is not
        positive semidefinite (sigmoid, additive_chi2) it draws uniformly, with a warning.
    subsample : the number of training points, drawn at random, among which landmarks are chosen and
        which they represent; None uses all, at a cost that grows with their square. A large kernel
        matrix is never stored.

    Attributes
    ----------
    components_ : the landmarks; for a precomputed kernel their rows of it.
    component_indices_ : their indices in the training set, in order of choice.
    selection_ : the `landmarks.Selection` among the training points, or among those drawn for
        `subsample`: error, bounds, what the choice cost. None for landmarks drawn uniformly. It
        holds the training data; copies made by pickle do not.
    normalization_ : the inverse square root of the kernel matrix of the landmarks, without
        directions whose eigenvalue is rounding compared with the largest.
    n_features_in_ : the number of columns seen during fit.
    feature_names_in_ : their names, when all of them are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data / 16
    >>> lm.Nystroem(gamma=0.05, n_components=30, selection="greedy").fit_transform(X).shape
    (1797, 30)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "coef0": [Interval(Real, None, None, closed="neither"), None],
        "degree": [Interval(Real, 1, None, closed="left"), None],
        "kernel_params": [dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "selection": [str, HasMethods(["choose"])],
        "subsample": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        selection: Any = "auto",
        subsample: int | None = 2_000,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.selection = selection
        self.subsample = subsample

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Choose the landmarks and compute the normalization.

        Parameters
        ----------
        X : training points of shape (n_samples, n_features), dense or sparse, or their kernel
            matrix.
        y : the target, numbers or classes, one for each point or a row of several. selection="auto"
            chooses landmarks that help to predict it; everything else ignores it.

        Returns
        -------
        Nystroem
            Itself, fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> features = lm.Nystroem(gamma=0.1, n_components=10, random_state=0)
        >>> features.fit(X).components_.shape
        (10, 13)
        """
        parameters = self._kernel_parameters()
        X = validate_data(self, readable(X), accept_sparse=self._sparse)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs the square matrix of kernel values between the "
                f"training points, got shape {X.shape}."
            )
        chosen, self.selection_ = chosen_points(self, X, y, parameters)
        xp, _, device = get_namespace_and_device(X)
        self.component_indices_ = xp.asarray(chosen, dtype=xp.int64, device=device)
        self.components_ = take_at(X, self.component_indices_)
        values = self._values(self.components_, parameters)
        self.normalization_ = inverse_root(like_points(values, X))
        self._n_features_out = self.components_.shape[0]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of the points: their kernel values with the landmarks, normalised.

        Parameters
        ----------
        X : points of shape (n_samples, n_features); for a precomputed kernel their kernel values
            with the training points, or with the landmarks alone.

        Returns
        -------
        array of shape (n_samples, n_components)
            Inner products of its rows approximate the kernel.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> features = lm.Nystroem(gamma=0.1, n_components=10, random_state=0)
        >>> features.fit_transform(X).shape
        (178, 10)
        """
        check_is_fitted(self)
        check_same_library(X, self.components_, f"{type(self).__name__}.transform()")
        if (
            self.kernel == "precomputed"
            and np.ndim(X) == 2
            and np.shape(X)[1] == self._n_features_out
        ):
            X = check_array(X)
            every = X.shape[1] == self.n_features_in_
            values = take_at(X, self.component_indices_, axis=1) if every else X
        else:
            X = validate_data(self, readable(X), accept_sparse=self._sparse, reset=False)
            values = self._values(X, self._kernel_parameters())
        return like_points(values, X) @ self.normalization_.T

    def _values(self, X: Any, parameters: dict[str, Any]) -> np.ndarray:
        """The kernel values of points, or of rows of a precomputed kernel, with the landmarks."""
        if self.kernel == "precomputed":
            return take_at(X, self.component_indices_, axis=1)
        if isinstance(self.kernel, OURS):
            return self.kernel(X, self.components_)
        return pairwise_kernels(
            X,
            self.components_,
            metric=self.kernel,
            filter_params=True,
            n_jobs=self.n_jobs,
            **parameters,
        )

    def _kernel_parameters(self) -> dict[str, Any]:
        named = {
            name: getattr(self, name)
            for name in ("gamma", "coef0", "degree")
            if getattr(self, name) is not None
        }
        if named and (callable(self.kernel) or self.kernel == "precomputed"):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed "
                "kernel"
            )
        known = () if callable(self.kernel) else KERNEL_PARAMS.get(self.kernel, ())
        return {
            **(self.kernel_params or {}),
            **{name: value for name, value in named.items() if name in known},
        }

    @property
    def _sparse(self) -> Any:
        """The sparse format that the kernel takes; ours take none."""
        return False if isinstance(self.kernel, OURS) else "csr"

    def __getstate__(self) -> dict[str, Any]:
        return without_data(super().__getstate__())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = bool(self._sparse)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def chosen_points(
    estimator: Nystroem, X: Any, y: Any, parameters: dict[str, Any]
) -> tuple[np.ndarray, Selection | None]:
    """The training points that the estimator chooses, in order; the selection, if one is made."""
    n, k = X.shape[0], min(estimator.n_components, X.shape[0])
    if estimator.n_components > n:
        warn_user(
            "n_components > n_samples. This is not possible.\nn_components was set to "
            f"n_samples = {n}, which results in "
            "inefficient evaluation of the full kernel."
        )
    most = n if estimator.subsample is None else min(n, max(k, estimator.subsample))
    method = _method(estimator)
    if method == "uniform":
        return check_random_state(estimator.random_state).permutation(n)[:k], None
    number = seed(estimator.random_state)
    candidates = np.arange(n)
    if most < n:
        candidates = np.sort(np.random.default_rng(number).choice(n, size=most, replace=False))
    if method == "auto":  # a choice that helps to predict the target, or by the kernel alone
        target = None if y is None else numeric_target(on_host(X), on_host(y), candidates)
        if target is not None:
            method = lm.Supervised(target)
        elif most <= QUICK:
            method = lm.Swap(max_swaps=estimator.n_components)
    points = for_choice(X, estimator.kernel)
    operator = kernel_operator(points, candidates, estimator.kernel, parameters)
    selection = lm.select(operator, k, method=method, seed=number)
    return candidates[selection.indices], selection


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
        warn_user(
            f"kernel={estimator.kernel!r} is not positive semidefinite; its landmarks are drawn "
            "uniformly."
        )
        return "uniform"
    single = callable(estimator.kernel) and not isinstance(estimator.kernel, OURS)
    return "rpcholesky" if single else "auto"


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

    def values(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The kernel as a function of the indices of points, which may then be sparse."""
        x, y = points[rows[:, 0].astype(np.intp)], points[columns[:, 0].astype(np.intp)]
        block = pairwise_kernels(x, y, metric=kernel, filter_params=True, **parameters)
        return np.asarray(block, dtype=np.float64)

    return lm.kernel(np.arange(len(candidates), dtype=np.float64)[:, None], values)


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


def on_host(values: Any) -> Any:
    """The values as a NumPy array; sparse matrices, lists and tables stay."""
    if scipy.sparse.issparse(values) or not hasattr(values, "dtype"):
        return values
    xp, is_array = get_namespace(values)
    return _convert_to_numpy(values, xp) if is_array else values


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
