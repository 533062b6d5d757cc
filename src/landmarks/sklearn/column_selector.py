"""Columns of X as a feature selector for scikit-learn: the k columns from which the others are best
rebuilt.
"""

from __future__ import annotations

import time
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import metadata_routing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

import landmarks as lm

from .._check import column_labels, share
from ..constraints import check_size, constrained
from ..intake import warn_of_spread
from ..linalg.reconstruction import reconstruct
from ..operators.base import DENSE_MEMORY
from ..operators.covariance import Moments, PairMoments, moments, pair_moments
from ..operators.preparation import Preparation
from ..operators.rows.base import RowBlocks
from ..operators.rows.convert import as_rows
from ..operators.standard import Prepared
from ._common import CallbackSupport, fit_task, seed, weights, without_data
from .prepared_target import PreparedTarget, refuse_target, target_score
from .row_source import check_source, set_features, source_weights


class ColumnSelector(CallbackSupport, SelectorMixin, BaseEstimator):
    """Select the columns from which all columns, or a target, are best rebuilt by least squares.

    The k columns S are chosen to leave little of the centred data X: ‖X − P_S X‖²_F, where P_S
    projects onto them; with a target Y they leave little of it: ‖Y − P_S Y‖²_F.

    Parameters
    ----------
    n_features_to_select : how many columns to select: an integer; a fraction of the columns between
        0 and 1; a rule, `landmarks.Target`, `Knee` or `LikelihoodRatio`; or "auto", as few as the
        method needs to explain `explained_variance`, and with costs as many as `budget_cost` pays
        for. With groups it counts groups.
    method : a name ("auto", "greedy", "swap", …) or a method object such as `landmarks.Greedy()`.
    criterion : "trace" minimises ‖X − P_S X‖²_F; "frobenius" minimises the squared error of the
        covariance matrix.
    center : whether to subtract the mean of each column. True, as in scikit-learn's PCA: what is
        explained is variance, a constant column is never selected, and columns are rebuilt with an
        intercept. `landmarks.select` leaves the columns as they are. A sparse X stays sparse.
    scale : divide each column by its standard deviation. None, the default, leaves the columns as
        they are and warns when some are so large that they decide the choice; False leaves them
        without a warning.
    include, exclude : columns that must, or must not, be selected: indices, or names when X has
        names.
    groups : a label for each column; columns of one label are selected together or not at all.
    costs, budget_cost : the cost of each column, and what the selected ones may cost together.
    target : None rebuilds X itself. "y" rebuilds the y, one or more columns of numbers, that fit is
        given; an array or a data frame with the rows of X rebuilds that. It is centred, scaled and
        weighted as X is. `coefficients_` still rebuild X, `target_coefficients_` the target.
    explained_variance : the share of the variance that n_features_to_select="auto" must reach.
    missing : what is done about NaN. "error" refuses them. "impute" fills in the column means.
        "pairwise" takes each covariance over the rows that have both values and scales it to all
        rows; negative eigenvalues, which such a matrix can have, are set to zero and its diagonal
        is restored. `transform` leaves NaN where they are.
    budget : seconds that improving methods may take; None lets them end by themselves.
    random_state : an integer gives the same selection each time.
    verbose : whether to print one line about the selection.

    Attributes
    ----------
    support_ : mask of the columns, true for the selected ones.
    indices_ : the selected columns in the order of their choice.
    scores_ : what each selected column alone adds: the share of the variance that would be lost
        without it; 0 for the columns that were not selected and for those that other selected
        columns make superfluous.
    reconstruction_error_ : ‖X − P_S X‖²_F, or that of the target, of the centred, scaled and
        weighted training data.
    selection_ : the `landmarks.Selection`, with bounds, factor and cost. It holds the training
        data, but for copies made by pickle.
    coefficients_ : the matrix by which selected columns, less their means, give all columns, less
        theirs.
    target_coefficients_ : with a target, the matrix by which selected columns, less their means,
        give its columns, less their means; `target_mean_`, `target_scale_` are those taken out.
    mean_, scale_ : what was subtracted from the columns, and by what they were divided.
    n_features_in_ : the number of columns seen during fit.
    feature_names_in_ : their names, when all of them are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from landmarks.sklearn import ColumnSelector
    >>> X = load_wine().data
    >>> selector = ColumnSelector(n_features_to_select=4, method="greedy", scale=True).fit(X)
    >>> selector.transform(X).shape, selector.inverse_transform(selector.transform(X)).shape
    ((178, 4), (178, 13))
    >>> round(selector.score(X), 2)
    0.65
    """

    _parameter_constraints: ClassVar[dict] = {
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
    __metadata_request__partial_fit: ClassVar[dict] = {"select": metadata_routing.UNUSED}
    _moments: Any  # Moments or PairMoments, after partial_fit
    _labels: tuple[Any, ...] | None = None

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        method: Any = "auto",
        criterion: str = "trace",
        center: bool = True,
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
        X : array, data frame or SciPy sparse matrix of shape (n_samples, n_features), or anything
            that `landmarks.data` reads in blocks of rows, such as a memory map, which is read once
            and not copied.
        y : ignored, unless target="y": then what to rebuild, of shape (n_samples,) or
            (n_samples, n_targets).
        sample_weight : n_samples weights; a row of weight 2 counts as two equal rows.
        """
        if (source := as_rows(X)) is not None and self.target is None:
            return self._fit_source(source, X, y, sample_weight)
        labels = column_labels(X)
        self.__dict__.pop("target_coefficients_", None)
        X = self._validated(X, ensure_min_samples=2 if self.center else 1)
        self.__dict__.pop("_moments", None)
        self._labels = labels
        with fit_task(self, X, y):
            w = weights(sample_weight, X)
            aim = None if self.target is None else PreparedTarget.of(self, y, X, w)
            self._select(self._preparation.of_rows(X, w), X.dtype, aim)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, select: bool = True
    ) -> ColumnSelector:
        """Add rows to those of earlier calls, and select columns for all of them.

        The n_features × n_features Gram matrix is kept and adds up; the rows are not kept. After
        `fit`, the first call starts anew.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix of shape (n_samples, n_features).
        y : ignored.
        sample_weight : n_samples weights.
        select : False only adds the rows, which saves time until the last call; the last selection,
            if any, stays.
        """
        refuse_target(self)
        self._labels = column_labels(X)
        X = self._validated(X, reset=not hasattr(self, "_moments"))
        _check_gram_fits(X.shape[1])
        batch = self._moments_of(X, weights(sample_weight, X))
        self._moments = self._moments + batch if hasattr(self, "_moments") else batch
        if select:
            self._select(
                self._preparation.of_moments(self._moments.resolved(self.missing), X.dtype), X.dtype
            )
        return self

    def _fit_source(self, source: RowBlocks, X: Any, y: Any, sample_weight: Any) -> ColumnSelector:
        """Select columns of rows that are read in blocks."""
        check_source(source, 2 if self.center else 1)
        if self.missing != "error":
            _check_gram_fits(source.n)
        self.__dict__.pop("_moments", None)
        set_features(self, source)
        self._labels = source.names
        with fit_task(self, X, y):
            self._select(
                self._preparation.of_source(source, source_weights(sample_weight, source)),
                source.dtype,
            )
        return self

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rebuild all columns from the selected ones by least squares, with the coefficients found
        in fit.

        Parameters
        ----------
        X : the selected columns, in the order `transform` gives them, of shape (n_samples,
            n_features_selected).

        Returns
        -------
        The dense array of shape (n_samples, n_features), in which the selected columns are as
        given.
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
        return self._rebuilt(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the variance of X about the training mean that the selected columns explain;
        at most 1.

        Parameters
        ----------
        X : new data of shape (n_samples, n_features). Missing values, when fit takes them, count as
            the mean where they are selected, and are left out of the sum elsewhere.
        y : ignored; with target="y" what to rebuild, and the share is that of its variance.
        sample_weight : n_samples weights.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        w = weights(sample_weight, X)
        if self.target is not None:
            return target_score(self, X, y, w)
        left, whole = np.sum(
            [
                self._squares(X[rows], None if w is None else w[rows])
                for rows in _row_blocks(X.shape)
            ],
            axis=0,
        )
        return float(1 - left / whole) if whole > 0 else 0.0

    def why(self, *, each: int = 3, stability: Any = None) -> Any:
        """Why these columns: a `Reasons` object with the tables `chosen` and `dropped`, in which
        columns have their names.

        Shares are those of the centred, scaled and weighted training data, which copies made by
        pickle do not hold.

        Parameters
        ----------
        each : how many substitutes and sources to list for each column.
        stability : what `selection_.stability()` returned, to be shown as well.
        """
        check_is_fitted(self)
        if self.selection_.operator is None:
            raise ValueError(
                f"this {type(self).__name__} was pickled, which leaves the training data behind; "
                "call fit again before why"
            )
        return self.selection_.why(each=each, stability=stability)

    def _squares(self, X: Any, w: np.ndarray | None) -> tuple[float, float]:
        """The weighted squares of what the selected columns leave of X, and of X less the mean, in
        scaled units.
        """
        X = (X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)).astype(np.float64)
        filled = np.where(np.isnan(X), self.mean_, X)
        w = np.ones(len(X)) if w is None else w
        left = (X - self._rebuilt(filled[:, self.support_])) / self.scale_
        whole = (X - self.mean_) / self.scale_
        return float(w @ np.nansum(left**2, axis=1)), float(w @ np.nansum(whole**2, axis=1))

    def _rebuilt(self, chosen: Any) -> np.ndarray:
        """mean + (chosen − mean_S) B, in the dtype of the chosen columns."""
        B, mean = self.coefficients_.astype(chosen.dtype), self.mean_.astype(chosen.dtype)
        rebuilt = chosen @ B + (mean - mean[self.support_] @ B)
        rebuilt[:, self.support_] = chosen.toarray() if scipy.sparse.issparse(chosen) else chosen
        return rebuilt

    @property
    def _preparation(self) -> Preparation:
        return Preparation(self.center, bool(self.scale), self.missing)

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1) -> Any:
        return validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_all_finite=True if self.missing == "error" else "allow-nan",
            ensure_min_samples=ensure_min_samples,
            reset=reset,
        )

    def _moments_of(self, X: Any, w: np.ndarray | None) -> Moments | PairMoments:
        if self.missing == "error":
            return moments(X, w)
        return pair_moments(
            X, w, origin=self._moments.origin if hasattr(self, "_moments") else None
        )

    def _select(self, prepared: Prepared, dtype: Any, aim: PreparedTarget | None = None) -> None:
        """Choose the columns and set the fitted attributes."""
        start = time.perf_counter()
        operator = prepared.operator
        operator.names = (
            tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        )
        operator.labels = self._labels
        if self.scale is None and aim is None:
            warn_of_spread(operator, stacklevel=5)
        selection = lm.select(
            operator,
            self._size(prepared),
            method=self.method,
            criterion=self.criterion,
            seed=seed(self.random_state),
            budget=self.budget,
            target=None if aim is None else aim.columns,
            **self._constraints,
        )
        self.selection_ = replace(
            selection, center=bool(self.center), scale=bool(self.scale), path=selection.path
        )
        self.indices_ = self.selection_.indices.copy()
        self.support_ = np.isin(np.arange(operator.n), self.indices_)
        self.reconstruction_error_ = self.selection_.error("trace")
        self._rebuild(prepared, dtype)
        if aim is not None:
            aim.rebuild(self, prepared, dtype)
        if self.verbose:
            share, seconds = (
                1 - self.selection_.relative_error("trace"),
                time.perf_counter() - start,
            )
            print(
                f"[ColumnSelector] {len(self.indices_)} of {operator.n} columns explain "
                f"{share:.2%} of the variance, {seconds:.1f}s"
            )

    def _rebuild(self, prepared: Prepared, dtype: Any) -> None:
        """Set the coefficients in the units of the data, and the scores."""
        chosen, scale = np.flatnonzero(self.support_), prepared.scale
        rebuilt = reconstruct(prepared.operator, chosen)
        self.mean_, self.scale_ = prepared.mean.astype(dtype), scale.astype(dtype)
        self.coefficients_ = (rebuilt.coefficients * scale[None, :] / scale[chosen, None]).astype(
            dtype
        )
        self.scores_ = np.zeros(len(scale))
        self.scores_[chosen] = rebuilt.losses / max(
            self.selection_.total("trace"), np.finfo(float).tiny
        )

    def _size(self, prepared: Prepared) -> Any:
        """The number of columns or groups, or the rule that finds it; None leaves it to the
        costs.
        """
        wanted: Any = self.n_features_to_select
        problem = constrained(prepared.operator, self.criterion, **self._constraints)
        if isinstance(wanted, str):
            return lm.Target(error=1 - self.explained_variance) if self.costs is None else None
        if hasattr(wanted, "apply"):
            return (
                replace(wanted, degrees=prepared.degrees)
                if getattr(wanted, "degrees", 0) is None
                else wanted
            )
        most = problem.count(np.arange(prepared.operator.n))
        if wanted > most:
            raise ValueError(
                f"n_features_to_select={wanted} must be at most "
                f"{'n_features' if self.groups is None else 'the number of groups'} = {most}."
            )
        size = int(wanted) if isinstance(wanted, Integral) else share(wanted, most)
        check_size(size, problem, "n_features_to_select")
        return size

    @property
    def _constraints(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("groups", "costs", "budget_cost")}
        return {"include": _listed(self.include), "exclude": _listed(self.exclude), **own}

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


def _listed(columns: Any) -> list[Any]:
    """The columns as a list; one name is a list of one."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    height = max(1, 2**22 // shape[1])
    return [slice(start, start + height) for start in range(0, shape[0], height)]


def _check_gram_fits(n: int) -> None:
    if n * n * 8 > DENSE_MEMORY:
        raise MemoryError(
            f"partial_fit keeps the Gram matrix, which needs {n * n * 8 / 2**30:.1f} GiB for {n} "
            "features; use fit on all rows instead"
        )
