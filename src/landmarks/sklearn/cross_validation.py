"""The error on held-out rows or points: for each k its mean and standard error."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Never

import numpy as np
import scipy.sparse
from sklearn.model_selection import KFold, check_cv

import landmarks as lm

from .. import _check
from .._array import host, take
from ..how_many.cross_validated import HeldOut
from ..how_many.curve import checked_sizes
from ..linalg.nystrom import Nystrom
from ..methods.registry import as_method
from ..objectives import Target, Trace
from ..objectives.objective import by_name
from ..objectives.reconstructed import reconstructed
from ..operators.base import Operator, points_of
from ..operators.data import asked_for, given, warn
from ..operators.prepare import Preparation, Prepared, mean_imputed
from ..readers.frames import unpacked
from ._common import blocks_of_rows, dense, target_rows

WAYS = ("drop", "impute")  # of `missing`: both leave rows to hold out


def held_out(
    A: Any,
    ks: Iterable[int] | int,
    *,
    center: bool = False,
    scale: bool | None = None,
    missing: str = "error",
    numeric_only: bool = False,
    cv: Any = 5,
    seed: int = 0,
    method: Any = "greedy",
    criterion: str = "trace",
    target: Any = None,
    ridge: Any = None,
    **unknown: Never,
) -> HeldOut:
    """The error on held-out rows of X, or held-out points of a kernel, for many k.

    For X, columns are chosen and coefficients fitted on the training rows: the error is
    ‖X − X_S B‖²_F over ‖X‖²_F on the rows held out. For a kernel, landmarks are chosen among the
    training points: the error is Σ h(x, x) − ‖φ(x)‖² over Σ h(x, x) on the points held out, with φ
    the Nyström features.

    Parameters
    ----------
    A : data as for `select`, which are loaded into memory; a SciPy sparse matrix stays sparse. Or
        an operator made by `kernel`.
    ks : the numbers of columns to try; one number, such as 10, means 1, 2, …, 10.
    center, scale, missing, numeric_only : as for `select`, with the means and the standard
        deviations of the training rows; "pairwise" leaves no rows to hold out.
    cv : the number of folds, drawn at random, or a splitter of scikit-learn, or a list of
        (train, test) indices.
    seed : for the folds and the method.
    method, criterion : as for `select`. Greedy selection runs once per fold for all k; other
        methods run once for each k.
    target : what to rebuild instead of X: an array or a data frame with the rows of X. The error is
        then that of the target on the held-out rows.
    ridge : a penalty on the coefficients as for `Selection.reconstruction`; "cv" finds it on the
        training rows. None is least squares, whose error on new rows may rise with k.

    Returns
    -------
    HeldOut
        `ks`, `errors` by fold, `mean`, `standard_error`, `best`, `one_standard_error`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 8))
    >>> X += 0.1 * rng.standard_normal((60, 8))
    >>> found = lm.held_out(X, range(1, 5))
    >>> found.mean.round(2).tolist()
    [0.4, 0.01, 0.01, 0.01]
    """
    _check.known(unknown, held_out)
    points = isinstance(A, Operator) and points_of(A) is not None
    if isinstance(A, Operator) and not points:
        raise TypeError(
            "held-out rows need the data X or a kernel on points; pass X itself or "
            f"kernel(points, h), got {A!r}"
        )
    if points and (center or scale):
        raise ValueError("center and scale are done to the columns of data, not to a kernel")
    if points and (ridge is not None or target is not None):
        raise ValueError("target and ridge are for held-out rows of data; a kernel has none")
    quiet = False if scale is None and target is not None else scale
    X, rows = A, None
    if not points:
        X, prepared = _rows(A, center, quiet, missing, numeric_only)
        rows = prepared.rows
    sizes = checked_sizes(ks, A.n if points else X.shape[1])
    as_method(method)
    folds = (
        KFold(cv, shuffle=True, random_state=_check.seed(seed))
        if isinstance(cv, int)
        else check_cv(cv)
    )
    standard = Preparation(bool(center), bool(scale))
    Y = None if target is None else target_rows(target, X if rows is None else A)
    Y = Y if Y is None or rows is None else Y[rows]
    run = _Folds(sizes, method, criterion, seed, standard, ridge, Y)
    one = run.points_errors if points else run.rows_errors
    if not points:
        warn(prepared, by_name(criterion).by_length)
    rows = np.zeros(A.n if points else X.shape[0])
    errors = [one(X, train, test) for train, test in folds.split(rows)]
    if len(errors) < 2:
        raise ValueError("a standard error needs at least two folds, got one")
    return HeldOut(sizes, np.array(errors))


def _rows(
    A: Any, center: bool, scale: bool | None, missing: str, numeric_only: bool
) -> tuple[Any, Prepared]:
    """The rows as an array or a sparse matrix, without those left out; what was prepared."""
    if missing == "pairwise":
        raise ValueError(
            'errors on held-out rows need every value: missing is "error", "drop" or "impute" here'
        )
    A = A.compute() if unpacked(A).kind == "dask" else A
    held = given(A, missing=missing, numeric_only=numeric_only, load=True, ways=WAYS)
    prepared = held.prepared(asked_for(center, scale, missing))
    prepared = replace(prepared, left_open=scale is None)
    X = held.values.tocsr() if scipy.sparse.issparse(held.values) else host(held.values)
    return X if prepared.rows is None else X[prepared.rows], prepared


@dataclass(frozen=True, eq=False)
class _Folds:
    """What is done in each fold; Y : the rows of the target, None to rebuild the columns."""

    ks: np.ndarray
    method: Any
    criterion: str
    seed: int
    standard: Preparation
    ridge: Any
    Y: np.ndarray | None

    def choices(self, operator: Operator, target: np.ndarray | None = None) -> list[np.ndarray]:
        """The columns chosen for each k; greedy picks serve all k at once."""
        nested = as_method(self.method) == lm.Greedy()
        wanted: dict[str, Any] = {"criterion": self.criterion, "seed": self.seed}
        chosen = [
            lm.select(operator, int(k), method=self.method, target=target, **wanted).indices
            for k in (self.ks[-1:] if nested else self.ks)
        ]
        return [chosen[0][:k] for k in self.ks] if nested else chosen

    def rows_errors(self, X: Any, train: np.ndarray, test: np.ndarray) -> list[float]:
        """The part of the held-out rows, or of their target, that is left, for each k."""
        X = mean_imputed(X, np.isin(np.arange(X.shape[0]), train).astype(np.float64))
        prepared = self.standard.of_rows(X[train])
        operator, objective, units = prepared.operator, Trace(), 1.0
        wanted, mean, scale = None, prepared.mean, prepared.scale
        if self.Y is not None:
            wanted, (mean, _, scale), _ = self.standard.of_array(self.Y[train])
            objective, units = Trace(Target(wanted)), 2.0 ** (operator.exponent / 2)
        fitted = []
        for S in self.choices(operator, wanted):
            centred = self.standard.center
            rebuilt = reconstructed(operator, S, objective, self.ridge, centred=centred)
            fitted.append((S, rebuilt.coefficients / units))
        held, left, whole = X[test], np.zeros(len(fitted)), 0.0
        for part in blocks_of_rows(held):
            rows = goal = (dense(held[part]) - prepared.mean) / prepared.scale
            if self.Y is not None:
                goal = (self.Y[test][part] - mean) / scale
            whole += float(np.sum(goal**2))
            left += [float(np.sum((goal - rows[:, S] @ B) ** 2)) for S, B in fitted]
        return list(left / (whole or 1.0))

    def points_errors(self, kernel: Operator, train: np.ndarray, test: np.ndarray) -> list[float]:
        """The part of the held-out points that is left, for each k."""
        own, held = kernel.restrict(train), take(points_of(kernel), test)
        whole = host(take(kernel.diagonal(), test)).astype(np.float64)
        errors = []
        for S in self.choices(own):
            features = host(Nystrom(own, S).features(held)).astype(np.float64)
            left = np.maximum(whole - np.sum(features**2, axis=1), 0.0)
            errors.append(float(np.sum(left) / np.sum(whole)))
        return errors
