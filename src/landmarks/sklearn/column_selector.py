"""A feature selector for scikit-learn that keeps the columns from which all others are rebuilt."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import metadata_routing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

import landmarks as lm

from .._check import share
from ..constraints import check_size, constrained
from ..errors import UnsupportedError
from ..linalg.reconstruction import reconstruct
from ..methods.registry import as_method
from ..objectives import OBJECTIVES, Target, Trace
from ..objectives.reconstructed import reconstructed
from ..operators.base import DENSE_MEMORY
from ..operators.data import opened, rows_of, warn
from ..operators.prepare import PairMoments, Preparation, Prepared, pair_moments
from ..operators.sources import is_arrow, schema_of
from ..readers.frames import numbers_only, numeric_places, taken, unpacked
from ..selection import Selection
from ._common import (
    WAYS,
    blocks_of_rows,
    dense,
    readable,
    refuse_missing,
    seed,
    target_rows,
    weights,
    without_data,
)

Standardised = tuple[np.ndarray, np.ndarray, np.ndarray]  # columns, their means, their scales


class ColumnSelector(SelectorMixin, BaseEstimator):
    """Select the columns from which all columns, or a target, are best rebuilt by least squares.

    The k columns S are chosen to make ‖X − P_S X‖²_F small, where P_S projects onto them; with a
    target Y, to make ‖Y − P_S Y‖²_F small. **The y of fit is ignored unless target="y"**: without
    it the columns rebuild the table, and need not be those that predict y.

    Parameters
    ----------
    n_features_to_select : how many columns, or groups: an integer; a fraction between 0 and 1; a
        rule, `landmarks.MaxError`, `Knee`, `CrossValidated` or `LikelihoodRatio`; or "auto": the
        fewest that explain `explained_variance`, or with costs the most that `budget_cost` pays
        for.
    method : a name ("auto", "greedy", "swap", …) or a method object such as `landmarks.Greedy()`.
    criterion : "trace" minimises ‖X − P_S X‖²_F, "frobenius" the squared error of XᵀX.
    center : whether to subtract the mean of each column first, as scikit-learn's PCA does. Columns
        are then rebuilt with an intercept, and the share that is explained is one of the variance.
    scale : whether to divide each column by its standard deviation; None warns where that matters,
        as in `landmarks.select`.
    include, exclude : columns that must, or must not, be selected: indices or names.
    groups, costs, budget_cost : as in `landmarks.select`.
    target : what to rebuild. None rebuilds X itself; "y" rebuilds the y passed to fit, one or more
        columns of numbers; an array or a data frame with the rows of X rebuilds that. The target is
        centred, scaled and weighted like X. `coefficients_` still rebuild X; `target_coefficients_`
        rebuild the target.
    explained_variance : the share of the variance that n_features_to_select="auto" must reach; of
        the sum of squares when center is False.
    missing : how to treat NaN: "error", "impute" or "pairwise", as in `landmarks.select`.
        `transform` leaves NaN as they are.
    numeric_only : whether to leave out the columns of a data frame that hold no numbers, with a
        warning. The attributes count the others; `transform` and `score` take frames with all.
    budget : seconds that the method may spend on improving its choice; None sets no limit.
    random_state : an integer gives the same selection each time.

    Attributes
    ----------
    support_ : mask of the columns, true for the selected ones.
    indices_ : the selected columns in the order of their choice.
    scores_ : the share of the variance (of the target, if there is one) that would be lost without
        each selected column; 0 for columns that were not selected, and for those that other
        selected columns can replace.
    reconstruction_error_ : ‖X − P_S X‖²_F, or ‖Y − P_S Y‖²_F, of the prepared and weighted training
        data.
    selection_ : the `landmarks.Selection`, with bounds, factor and cost. It holds the training
        data; copies made by pickle do not.
    coefficients_ : the matrix that gives all columns, minus their means, from the selected columns,
        minus theirs.
    target_coefficients_ : with a target, the matrix that gives its columns, minus their means, from
        the selected columns, minus theirs.
    target_mean_, target_scale_ : what was subtracted from the columns of the target, and what they
        were divided by.
    mean_, scale_ : what was subtracted from the columns, and what they were divided by.
    n_features_in_ : the number of columns seen during fit.
    feature_names_in_ : their names, if all are strings and no two are equal.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X = load_wine().data
    >>> selector = lm.ColumnSelector(4, method="greedy", center=True, scale=True).fit(X)
    >>> selector.transform(X).shape, selector.inverse_transform(selector.transform(X)).shape
    ((178, 4), (178, 13))
    >>> round(selector.score(X), 2)
    0.65
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"auto"}),
            HasMethods(["apply"]),
        ],
        "method": [str, HasMethods(["choose"])],
        "criterion": [StrOptions({name for name, found in OBJECTIVES.items() if found.shares})],
        "center": ["boolean"],
        "scale": ["boolean", None],
        "include": ["array-like", str, None],
        "exclude": ["array-like", str, None],
        "groups": ["array-like", None],
        "costs": ["array-like", None],
        "budget_cost": [Interval(Real, 0, None, closed="neither"), None],
        "target": ["array-like", StrOptions({"y"}), None],
        "explained_variance": [Interval(Real, 0, 1, closed="right")],
        "missing": [StrOptions({"error", "impute", "pairwise"})],
        "numeric_only": ["boolean"],
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    support_: np.ndarray
    indices_: np.ndarray
    coefficients_: np.ndarray
    mean_: np.ndarray
    scale_: np.ndarray
    selection_: Selection
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"select": metadata_routing.UNUSED}
    _moments: PairMoments  # after partial_fit
    _labels: tuple[Any, ...] | None = None
    _numbers: tuple[tuple[Any, ...], list[int]] | None = None  # all labels, and the places kept

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        method: Any = "auto",
        criterion: str = "trace",
        center: bool = False,
        scale: bool | None = None,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        costs: Any = None,
        budget_cost: float | None = None,
        target: Any = None,
        explained_variance: float = 0.95,
        missing: str = "error",
        numeric_only: bool = False,
        budget: float | None = None,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.method = method
        self.criterion = criterion
        self.center = center
        self.scale = scale
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.costs = costs
        self.budget_cost = budget_cost
        self.target = target
        self.explained_variance = explained_variance
        self.missing = missing
        self.numeric_only = numeric_only
        self.budget = budget
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ColumnSelector:
        """Select columns of X.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix of shape (n_samples, n_features), the path of
            a file, or anything that `landmarks.data` reads in blocks of rows, such as a memory map,
            which is read once and not copied.
        y : ignored, unless target="y": then what to rebuild, of shape (n_samples,) or
            (n_samples, n_targets).
        sample_weight : n_samples weights; a row of weight 2 counts as two equal rows.

        Returns
        -------
        ColumnSelector
            Itself, fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> lm.ColumnSelector(2, center=True, scale=True).fit(X).indices_.tolist()
        [6, 9]
        """
        self.__dict__.pop("_moments", None)
        self.__dict__.pop("target_coefficients_", None)
        least = 2 if self.center else 1
        asked: dict[str, Any] = {
            name: getattr(self, name) for name in ("center", "scale", "missing")
        }
        source = None if self.target is not None else rows_of(X, None, self.numeric_only)
        if source is not None and source.places is not None:
            self._numbers = tuple(schema_of(X).names), source.places
        if isinstance(X, str | os.PathLike) or source is not None:
            rows = partial(row_weights, sample_weight, least)
            asked |= {"numeric_only": self.numeric_only, "ways": WAYS}
            prepared = opened(source or X, weights=rows, load=False, **asked)
            self._labels = names = prepared.operator.names
            self.n_features_in_ = prepared.operator.n
            self.__dict__.pop("feature_names_in_", None)
            if names is not None and len(set(names)) == len(names):
                self.feature_names_in_ = np.asarray(names, dtype=object)
            self._select(prepared, (prepared.operator.like if source is None else source).dtype)
            return self
        X = self._candidates(X, reset=True)
        self._labels = unpacked(X).labels
        X = self._validated(X, ensure_min_samples=least)
        w = weights(sample_weight, X)
        target = None if self.target is None else self._prepared_target(y, X, w)
        self._select(opened(X, weights=w, **asked), X.dtype, target)
        return self

    def _prepared_target(self, y: Any, X: Any, w: np.ndarray | None) -> Standardised:
        """The target that the settings ask for: its columns, means and scales."""
        if self.missing == "pairwise" or (scipy.sparse.issparse(X) and self.center):
            raise UnsupportedError(
                "a target needs the rows of X as they are used: give X as a dense array, and "
                'missing="impute" where values are missing'
            )
        standard = Preparation(self.center, bool(self.scale))
        columns, (mean, _, scale), _ = standard.of_array(self._wanted(y, X), w)
        return columns, mean, scale

    def _wanted(self, y: Any, X: Any) -> np.ndarray:
        """The target as numbers with the rows of X."""
        if not isinstance(self.target, str):
            return target_rows(self.target, X)
        if y is None:
            raise ValueError(
                'target="y" rebuilds y: this ColumnSelector requires y to be passed, but the '
                "target y is None"
            )
        return target_rows(y, X, "y")

    def _select(self, prepared: Prepared, dtype: Any, target: Standardised | None = None) -> None:
        """Choose the columns and set the fitted attributes."""
        operator, scale = prepared.operator, prepared.scale
        operator.names = None if self._labels is None else tuple(map(str, self._labels))
        operator.labels = self._labels
        asked = ("include", "exclude", "groups", "costs", "budget_cost")
        constraints = {name: getattr(self, name) for name in asked}
        size = requested_size(self, prepared, constraints)
        as_method(self.method)
        open_scales = replace(prepared, left_open=self.scale is None and target is None)
        warn(open_scales, OBJECTIVES[self.criterion].by_length)
        selection = lm.select(
            operator,
            size,
            method=self.method,
            criterion=self.criterion,
            seed=seed(self.random_state),
            budget=self.budget,
            target=None if target is None else target[0],
            **constraints,
        )
        selection = replace(selection, center=bool(self.center), scale=bool(self.scale))
        self.selection_ = selection
        self.indices_ = selection.indices.copy()
        self.support_ = np.isin(np.arange(selection.n), self.indices_)
        self.reconstruction_error_ = selection.error("trace")
        chosen = np.flatnonzero(self.support_)
        rebuilt = reconstruct(operator, chosen)
        B = rebuilt.coefficients * scale / scale[chosen, None]
        self.coefficients_, self.mean_ = B.astype(dtype), prepared.mean.astype(dtype)
        self.scale_ = scale.astype(dtype)
        if target is not None:
            columns, mean, spread = target
            rebuilt = reconstructed(operator, chosen, Trace(Target(columns)))
            B = rebuilt.coefficients / 2.0 ** (operator.exponent / 2) * spread / scale[chosen, None]
            self.target_coefficients_, self.target_mean_ = B.astype(dtype), mean.astype(dtype)
            self.target_scale_ = spread.astype(dtype)
        self.scores_ = np.zeros(selection.n)
        self.scores_[chosen] = rebuilt.losses
        self.scores_ /= max(selection.total("trace"), np.finfo(float).tiny)

    def _candidates(self, X: Any, *, reset: bool = False) -> Any:
        """A frame without the columns that `numeric_only` left out in fit."""
        values, labels, kind = unpacked(X)
        X = values if kind == "frame" else X
        if not self.numeric_only or (kind != "frame" and not is_arrow(X)) or labels is None:
            return X
        if reset and (source := rows_of(X, None, True)) is not None and source.places is not None:
            self._numbers = labels, source.places
        elif reset:
            kept = numbers_only(X, numeric_only=True)
            self._numbers = labels, numeric_places(X)
            return kept
        if self._numbers is None or self._numbers[0] != labels:
            return X
        return taken(X, self._numbers[1])

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1) -> Any:
        names = unpacked(X).names
        X = validate_data(
            self,
            readable(X),
            accept_sparse=("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=ensure_min_samples,
            reset=reset,
        )
        if self.missing == "error":
            refuse_missing(X, names)
        return X

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, select: bool = True
    ) -> Self:
        """Add rows to those of earlier calls, and select columns for all of them.

        Only the n_features × n_features Gram matrix is kept, not the rows. The first call after
        `fit` starts with no rows.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix of shape (n_samples, n_features).
        y : ignored.
        sample_weight : n_samples weights.
        select : False only adds the rows and keeps the last selection; use it to save time on all
            calls but the last.

        Returns
        -------
        ColumnSelector
            Itself, fitted to all rows so far when select is True.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(2, center=True, scale=True)
        >>> selector.partial_fit(X[:90], select=False).partial_fit(X[90:]).indices_.tolist()
        [6, 9]
        """
        if self.target is not None:
            raise UnsupportedError(
                "partial_fit keeps XᵀX and not the rows, so it cannot use a target; use fit on all "
                "rows"
            )
        first = not hasattr(self, "_moments")
        X = self._candidates(X, reset=first)
        self._labels = unpacked(X).labels
        X = self._validated(X, reset=first)
        if (n := X.shape[1]) ** 2 * 8 > DENSE_MEMORY:
            raise MemoryError(
                f"partial_fit keeps the Gram matrix, which needs {n * n * 8 / 2**30:.1f} GiB for "
                f"{n} features; use fit on all rows instead"
            )
        w, known = weights(sample_weight, X), None if first else self._moments
        batch = pair_moments(X, w, origin=None if known is None else known.origin)
        self._moments = batch if known is None else known + batch
        if select:
            resolved = self._moments.resolved(self.missing)
            standard = Preparation(self.center, bool(self.scale), self.missing)
            self._select(standard.of_moments(resolved, X.dtype), X.dtype)
        return self

    def transform(self, X: Any) -> Any:
        """The selected columns of X, in the order of X.

        Parameters
        ----------
        X : data of shape (n_samples, n_features).

        Returns
        -------
        array or data frame of shape (n_samples, n_features_selected)
            As `set_output` says.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> lm.ColumnSelector(4, center=True, scale=True).fit(X).transform(X).shape
        (178, 4)
        """
        return super().transform(readable(self._candidates(X)))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rebuild all columns from the selected ones, with the coefficients found in fit.

        Parameters
        ----------
        X : the selected columns, in the order `transform` gives them, of shape (n_samples,
            n_features_selected).

        Returns
        -------
        array of shape (n_samples, n_features)
            It is dense; the selected columns are as given.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(4, center=True, scale=True).fit(X)
        >>> selector.inverse_transform(selector.transform(X)).shape
        (178, 13)
        """
        check_is_fitted(self)
        X = check_array(
            X, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite=True
        )
        if X.shape[1] != len(self.indices_):
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} selected "
                f"{len(self.indices_)} features."
            )
        rebuilt = rebuild(X, self.coefficients_, self.mean_[self.support_], self.mean_)
        rebuilt[:, self.support_] = dense(X)
        return rebuilt

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the variance of X that the selected columns explain; at most 1.

        It is taken about the training mean, or about zero if center is False.

        Parameters
        ----------
        X : new data of shape (n_samples, n_features). If fit accepts missing values, they count as
            the mean in selected columns and are left out of the sum in the others.
        y : ignored, unless target="y": then what to rebuild, and the share is that of its variance.
        sample_weight : n_samples weights.

        Returns
        -------
        float
            Higher is better, as scikit-learn expects.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(4, center=True, scale=True).fit(X)
        >>> round(selector.score(X), 2)
        0.65
        """
        check_is_fitted(self)
        X = self._validated(self._candidates(X), reset=False)
        w = weights(sample_weight, X)
        if self.target is None:
            wanted, B, mean, scale = X, self.coefficients_, self.mean_, self.scale_
        elif isinstance(self.target, str):
            wanted, B = self._wanted(y, X), self.target_coefficients_
            mean, scale = self.target_mean_, self.target_scale_
        else:
            raise ValueError(
                'score needs the target of the rows it is given: set target="y" and give it as y'
            )
        w = np.ones(X.shape[0]) if w is None else w
        center = self.mean_[self.support_]
        left = total = 0.0
        for rows in blocks_of_rows(X):  # NaN count as absent
            selected, block = dense(X[rows][:, self.support_]), dense(wanted[rows])
            filled = np.where(np.isnan(selected), center, selected)
            lost = (block - rebuild(filled, B, center, mean)) / scale
            left += float(w[rows] @ np.nansum(lost**2, axis=1))
            total += float(w[rows] @ np.nansum(((block - mean) / scale) ** 2, axis=1))
        return float(1 - left / total) if total > 0 else 0.0

    def why(self, *, each: int = 3, stability: Any = None) -> Any:
        """Why these columns: what each adds, what could replace it, what rebuilds the others.

        Shares are those of the prepared and weighted training data, which copies made by pickle do
        not hold.

        Parameters
        ----------
        each : how many substitutes and sources to list for each column.
        stability : the result of `selection_.stability()`, to be shown as well.

        Returns
        -------
        Reasons
            With the tables `chosen` and `dropped`, which print themselves.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(4, center=True, scale=True).fit(X)
        >>> len(selector.why().chosen["adds"])
        4
        """
        check_is_fitted(self)
        if self.selection_.operator is None:
            raise ValueError(
                f"this {type(self).__name__} was pickled without its training data; "
                "call fit again before why"
            )
        return self.selection_.why(each=each, stability=stability)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __getstate__(self) -> dict[str, Any]:
        return without_data(super().__getstate__())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = isinstance(self.target, str)
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def requested_size(
    selector: ColumnSelector, prepared: Prepared, constraints: dict[str, Any]
) -> Any:
    """The number of columns or groups, or a rule; None lets the costs decide."""
    asked: Any = selector.n_features_to_select
    problem = constrained(prepared.operator, selector.criterion, **constraints)
    if isinstance(asked, str):
        return None if selector.costs is not None else lm.MaxError(1 - selector.explained_variance)
    if hasattr(asked, "apply"):
        needs_degrees = getattr(asked, "degrees", 0) is None
        return replace(asked, degrees=prepared.degrees) if needs_degrees else asked
    most = problem.count(np.arange(prepared.operator.n))
    if asked > most:
        what = "n_features" if selector.groups is None else "the number of groups"
        raise ValueError(f"n_features_to_select={asked} must be at most {what} = {most}.")
    size = int(asked) if isinstance(asked, Integral) else share(asked, most)
    check_size(size, problem, "n_features_to_select")
    return size


def row_weights(sample_weight: Any, least: int, m: int | None, n: int) -> np.ndarray | None:
    """The weights of m rows, or None if all count the same; too few rows are refused."""
    if m is not None and m < least:
        raise ValueError(
            f"Found array with {m} sample(s) (shape=({m}, {n})) while a minimum of {least} is "
            "required."
        )
    if sample_weight is None:
        return None
    if m is None:
        raise ValueError(
            "sample_weight needs to know the number of rows, which an iterator does not know; add "
            "up batches with partial_fit instead"
        )
    return weights(sample_weight, np.broadcast_to(np.float64(0.0), (m, 1)))


def rebuild(selected: Any, B: np.ndarray, center: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """mean + (selected − center) B, in the dtype of the selected columns."""
    B, center, mean = (part.astype(selected.dtype) for part in (B, center, mean))
    return selected @ B + (mean - center @ B)
