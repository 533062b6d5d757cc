"""The smallest k whose error on held-out rows is within one standard error of the lowest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from .. import _check
from .._array import host
from .._shown import Shown, Table
from ..errors import RankWarning, UnsupportedError
from ..linalg.rebuilding import independent_basis
from ..methods.greedy.greedy import Greedy
from ..objectives import Target, Trace
from ..objectives.reconstructed import best_penalty
from ..operators.dense import Data
from ..problem import Choice, Method, Problem
from ..runs.runner import report

DEPENDENT = 1e-20  # relative to the squared length: the residual of a dependent column
SIZES = 16  # sizes that are tried with a ridge; each needs its own decomposition


@dataclass(frozen=True)
class CrossValidated:
    """The smallest k whose error on held-out rows is within one standard error of the lowest.

    In each fold, columns are picked greedily and coefficients fitted on the training rows, and the
    error is measured on the held-out rows, for the target if there is one. The method then chooses
    that many columns on all rows. The rule is that of Breiman et al. (CART, 1984). Data are centred
    and scaled once, on all rows.

    Parameters
    ----------
    folds : how many parts the rows are split into at random, by the seed of `select`.
    most : the largest k that is tried.
    ridge : None for least squares, "cv" for a penalty found on the training rows at each k.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 20))
    >>> X += 0.3 * rng.standard_normal((80, 20))
    >>> lm.select(X, "held-out").k == lm.select(X, lm.CrossValidated()).k
    True
    """

    folds: int = 5
    most: int = 100
    ridge: str | None = None

    def __post_init__(self) -> None:
        _check.count(self.most, "most")
        if _check.count(self.folds, "folds") < 2:
            raise ValueError("a standard error needs at least two folds, got 1")
        if self.ridge not in (None, "cv"):
            raise ValueError(f'ridge must be None or "cv", got {self.ridge!r}')

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        k = self.curve(problem, rng).one_standard_error
        return method.choose(replace(problem, k=max(k, len(problem.include))), rng)

    def curve(self, problem: Problem, rng: np.random.Generator) -> HeldOut:
        """The errors on held-out rows for k = 1, 2, …, as shares of their total.

        Parameters
        ----------
        problem : the data; problem.k is ignored.
        rng : splits the rows into folds.

        Returns
        -------
        HeldOut
            The errors by fold and k; `one_standard_error` is the k that the rule takes.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> problem = lm.Problem(lm.data(rng.standard_normal((40, 6))), k=0)
        >>> lm.CrossValidated(folds=4, most=3).curve(problem, rng).errors.shape
        (4, 3)
        """
        X, Y = _rows(problem)
        smallest = len(X) - -(-len(X) // self.folds)
        if smallest < 2:
            raise ValueError(
                f"{self.folds} folds need at least {2 * self.folds} rows, got {len(X)}"
            )
        most = min(self.most, len(problem.candidates), smallest - 1)
        sizes = np.arange(1, most + 1)
        if self.ridge is not None:
            sizes = np.unique(np.geomspace(1, most, SIZES).round().astype(np.int64))
        parts = np.array_split(rng.permutation(len(X)), self.folds)
        errors = []
        for done, test in enumerate(parts, start=1):
            errors.append(fold_errors(problem, X, Y, test, sizes, self.ridge))
            report("held out", done, self.folds)
        return HeldOut(sizes, np.array(errors))


def _rows(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the candidates and of what is rebuilt."""
    if problem.operator.m is None:
        raise UnsupportedError(
            'k="held-out" leaves out rows, which only data in memory have; give k as a number, as '
            "a MaxError or as a Knee, or use held_out for a kernel"
        )
    if problem.groups is not None or problem.objective.noise is not None:
        raise UnsupportedError(
            'k="held-out" is for single columns without noise; give k as a number or a MaxError'
        )
    X = host(problem.operator.factor()).astype(np.float64)
    target = problem.objective.target
    return X, X if target is None else target.values


def fold_errors(
    problem: Problem, X: np.ndarray, Y: np.ndarray, test: np.ndarray, sizes: np.ndarray, ridge: Any
) -> np.ndarray:
    """The relative error on some rows, for each number of columns chosen on the others."""
    rows = np.setdiff1d(np.arange(len(X)), test)
    wanted, held = Y[rows], Y[test]
    own = replace(problem, operator=Data(X[rows]), k=max(int(sizes[-1]), len(problem.include)))
    if problem.objective.target is not None:
        own = replace(own, objective=Trace(Target(wanted)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        picks = Greedy().choose(own, np.random.default_rng(0)).indices
    train, unseen, total = X[rows][:, picks], X[test][:, picks], float(np.sum(held**2)) or 1.0
    if ridge is None:
        return nested_errors(train, unseen, wanted, held)[sizes - 1] / total
    errors = []
    for size in sizes:
        A, zeros = train[:, :size], np.zeros((size, wanted.shape[1]))
        penalised = np.vstack([A, np.sqrt(best_penalty(A, wanted)) * np.eye(size)])
        B = np.linalg.lstsq(penalised, np.vstack([wanted, zeros]), rcond=None)[0]
        errors.append(float(np.sum((held - unseen[:, :size] @ B) ** 2)))
    return np.array(errors) / total


def nested_errors(
    train: np.ndarray, unseen: np.ndarray, wanted: np.ndarray, held: np.ndarray
) -> np.ndarray:
    """What the first 1, 2, … columns leave; a dependent column adds nothing."""
    kept, Q, T = independent_basis(train, DEPENDENT * np.sum(train**2, axis=0))
    F, left = Q.T @ wanted, held.copy()
    directions = unseen[:, kept]
    if len(kept):
        directions = scipy.linalg.solve_triangular(T, directions.T, trans="T", check_finite=False).T
    added, errors = 0, np.zeros(train.shape[1])
    for place in range(len(errors)):
        if added < len(kept) and kept[added] == place:
            left -= np.outer(directions[:, added], F[added])
            added += 1
        errors[place] = np.sum(left * left)
    return errors


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(Shown):
    """Relative errors on held-out rows: one row per fold, one column per k.

    Attributes
    ----------
    ks : the sizes, increasing.
    errors : the errors, of shape (folds, sizes).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12))
    >>> X += 0.05 * rng.standard_normal((60, 12))
    >>> curve = lm.held_out(X, range(1, 7))
    >>> curve.ks.tolist(), curve.errors.shape
    ([1, 2, 3, 4, 5, 6], (5, 6))
    >>> bool(curve.mean[2] < 0.02 < curve.mean[1])
    True
    """

    ks: np.ndarray
    errors: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean over the folds, for each k."""
        return self.errors.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """The standard error of the mean, for each k."""
        return self.errors.std(axis=0, ddof=1) / np.sqrt(len(self.errors))

    @property
    def best(self) -> int:
        """The k of the lowest mean."""
        return int(self.ks[np.argmin(self.mean)])

    @property
    def one_standard_error(self) -> int:
        """The smallest k whose mean is within one standard error of the lowest (Breiman et al.,
        CART, 1984).
        """
        lowest = int(np.argmin(self.mean))
        return int(self.ks[np.argmax(self.mean <= self.mean[lowest] + self.standard_error[lowest])])

    @property
    def table(self) -> Table:
        """A row for each size: the mean over the folds, and its standard error."""
        wide = self.standard_error.tolist()
        return Table({"k": self.ks.tolist(), "error": self.mean.tolist(), "standard error": wide})

    @property
    def sentence(self) -> str:
        """The sizes, the lowest error, and the fewest columns about as good."""
        if len(self.ks) == 1:
            return (
                f"relative error {self.mean[0]:.3g} at k = {self.best} on {len(self.errors)} folds"
            )
        return (
            f"{len(self.ks)} sizes from k = {self.ks[0]} to {self.ks[-1]} on {len(self.errors)} "
            f"folds; lowest relative error {self.mean.min():.3g} at k = {self.best}, within one "
            f"standard error of it from k = {self.one_standard_error}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean error with its standard error against k.

        Parameters
        ----------
        ax : matplotlib axes; a new figure unless given.

        Returns
        -------
        a display, with the axes as `ax_` and the figure as `figure_`
            It shows itself in notebooks.

        Examples
        --------
        >>> X = np.random.default_rng(0).standard_normal((60, 12))
        >>> lm.held_out(X, [2, 4]).plot().get_xlabel()
        'columns chosen'
        """
        from ..plots.curves import plot_held_out

        return plot_held_out(self, ax)
