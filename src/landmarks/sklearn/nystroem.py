"""The Nyström feature map for scikit-learn, with landmarks chosen instead of drawn at random."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ..kernels import OURS
from ._common import CallbackSupport, fit_task, readable, without_data
from .kernel_points import chosen_points, own_landmarks
from .libraries import (
    check_same_library,
    indices_like,
    inverse_root,
    like_points,
    take_at,
)


class Nystroem(CallbackSupport, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
    landmarks : your own landmarks instead of a choice: points of shape (n_components, n_features),
        or a list of indices of training points.
    subsample : the number of training points, drawn at random, among which landmarks are chosen and
        which they represent; None uses all, at a cost that grows with their square. A large kernel
        matrix is never stored.

    Attributes
    ----------
    components_ : the landmarks; for a precomputed kernel their rows of it.
    component_indices_ : their indices in the training set, in order of choice; None if `landmarks`
        are points.
    selection_ : the `landmarks.Selection` among the training points, or among those drawn for
        `subsample`: error, bounds, what the choice cost. None for landmarks of your own or drawn
        uniformly. It holds the training data; copies made by pickle do not.
    normalization_ : the inverse square root of the kernel matrix of the landmarks, without
        directions whose eigenvalue is rounding compared with the largest.
    n_features_in_ : the number of columns seen during fit.
    feature_names_in_ : their names, when all of them are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from landmarks.sklearn import Nystroem
    >>> X = load_digits().data / 16
    >>> Nystroem(gamma=0.05, n_components=30, selection="greedy").fit_transform(X).shape
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
        "landmarks": ["array-like", "sparse matrix", None],
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
        landmarks: Any = None,
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
        self.landmarks = landmarks
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
        with fit_task(self, X, y):
            self._set_landmarks(X, y, parameters)
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

    def _set_landmarks(self, X: Any, y: Any, parameters: dict[str, Any]) -> None:
        own = own_landmarks(self.landmarks, X, self.kernel)
        if own is not None and own.ndim == 2:
            self.components_, self.component_indices_, self.selection_ = own, None, None
            return
        chosen, self.selection_ = (
            chosen_points(self, X, y, parameters) if own is None else (own, None)
        )
        self.component_indices_ = indices_like(chosen, X)
        self.components_ = take_at(X, self.component_indices_)

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
