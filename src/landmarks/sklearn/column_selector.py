"""A feature selector for scikit-learn that keeps the columns from which all others are rebuilt."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

import landmarks as lm

from ..operators.data import opened, warn
from ..operators.sources import as_rows
from ..operators.standard import Prepared
from ..readers.frames import column_labels
from ._common import CallbackSupport, fit_task, seed, weights
from .fitted_columns import FittedColumns
from .rebuilder import PreparedTarget
from .requested import (
    requested_constraints,
    requested_size,
    row_weights,
    set_features,
)


class ColumnSelector(CallbackSupport, FittedColumns, BaseEstimator):
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
        The default is False, as in `landmarks.select`; a warning says when the means decide the
        choice.
    scale : whether to divide each column by its standard deviation. None, the default, does not
        scale, but warns if some columns are so large that they decide the choice. False neither
        scales nor warns.
    include, exclude : columns that must, or must not, be selected: indices or names.
    groups : a label for each column; columns of one label are selected together or not at all.
    costs, budget_cost : the cost of each column, and the most that the selected ones may cost.
    target : what to rebuild. None rebuilds X itself; "y" rebuilds the y passed to fit, one or more
        columns of numbers; an array or a data frame with the rows of X rebuilds that. The target is
        centred, scaled and weighted like X. `coefficients_` still rebuild X; `target_coefficients_`
        rebuild the target.
    explained_variance : the share of the variance that n_features_to_select="auto" must reach; of
        the sum of squares when center is False.
    missing : how to treat NaN. "error" raises an error. "impute" fills in the column means.
        "pairwise" computes each covariance from the rows that have both values, sets negative
        eigenvalues to zero and restores the diagonal. `transform` leaves NaN as they are.
    budget : seconds that the method may spend on improving its choice; None sets no limit.
    random_state : an integer gives the same selection each time.
    verbose : whether to print one line about the selection.

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
    feature_names_in_ : their names, if all are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from landmarks.sklearn import ColumnSelector
    >>> X = load_wine().data
    >>> selector = ColumnSelector(4, method="greedy", center=True, scale=True).fit(X)
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
        "criterion": [StrOptions({"trace", "frobenius"})],
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
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

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
        budget: float | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
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
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

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
        asked: dict[str, Any] = {
            "center": self.center,
            "scale": self.scale,
            "missing": self.missing,
        }
        source = None if self.target is not None else as_rows(X)
        if isinstance(X, str | os.PathLike) or source is not None:
            rows = partial(row_weights, sample_weight, 2 if self.center else 1)
            with fit_task(self, X, y):
                prepared = opened(source or X, weights=rows, load=False, **asked)
                self._labels = prepared.operator.names
                set_features(self, prepared.operator)
                like = prepared.operator.like if source is None else source
                self._select(prepared, like.dtype)
            return self
        self._labels = column_labels(X)
        X = self._validated(X, ensure_min_samples=2 if self.center else 1)
        with fit_task(self, X, y):
            w = weights(sample_weight, X)
            aim = None if self.target is None else PreparedTarget.of(self, y, X, w)
            self._select(opened(X, weights=w, **asked), X.dtype, aim)
        return self

    def _select(self, prepared: Prepared, dtype: Any, aim: PreparedTarget | None = None) -> None:
        """Choose the columns and set the fitted attributes."""
        start = time.perf_counter()
        operator = prepared.operator
        operator.names = None if self._labels is None else tuple(map(str, self._labels))
        operator.labels = self._labels
        constraints = requested_constraints(self)
        size = requested_size(self, prepared, constraints)
        warn(replace(prepared, left_open=self.scale is None and aim is None), stacklevel=5)
        selection = lm.select(
            operator,
            size,
            method=self.method,
            criterion=self.criterion,
            seed=seed(self.random_state),
            budget=self.budget,
            target=None if aim is None else aim.columns,
            **constraints,
        )
        selection = replace(selection, center=bool(self.center), scale=bool(self.scale))
        self._take_in(selection, prepared, dtype, aim)
        if self.verbose:
            share = 1 - self.selection_.relative_error("trace")
            print(
                f"[ColumnSelector] {len(self.indices_)} of {operator.n} columns explain "
                f"{share:.2%} of the variance, {time.perf_counter() - start:.1f}s"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = isinstance(self.target, str)
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
