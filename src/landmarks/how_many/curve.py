"""Error against k: the curve from one greedy pass, and the smallest k for a given error."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._array import Array
from .._shown import Shown, Table
from ..constraints import check_size, constrained
from ..methods.greedy.greedy import ErrorGains, Gains, pursue
from ..objectives.objective import OBJECTIVES
from ..operators.data import opened, warn
from ..problem import Problem
from ..residual.residual import Residual


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Shown):
    """The errors of nested choices: for each k the first k of the indices.

    Attributes
    ----------
    ks : the sizes, increasing.
    indices : the columns in the order of choice; their number is the largest size.
    relative : the error for each k divided by that of choosing nothing; it never increases.
    criterion : of the errors.

    Examples
    --------
    >>> curve = lm.path(np.diag([5.0, 4.0, 0.2, 0.1]), range(1, 5))
    >>> curve.knee(), curve.smallest(error=0.01)
    (2, 2)
    """

    ks: np.ndarray
    indices: np.ndarray
    relative: np.ndarray
    criterion: str

    def smallest(self, error: float) -> int:
        """The smallest k whose relative error is at most the given one.

        Parameters
        ----------
        error : from 0 to 1; if no k on the curve reaches it, a ValueError is raised.

        Returns
        -------
        int
            One of `ks`.

        Examples
        --------
        >>> lm.path(np.diag([3.0, 2.0, 1.0]), 3).smallest(error=0.1)
        2
        """
        reached = np.flatnonzero(self.relative <= error)
        if len(reached) == 0:
            raise ValueError(
                f"no k up to {self.ks[-1]} has a relative error of at most {error}; "
                f"the last has {self.relative[-1]:.3g}"
            )
        return int(self.ks[reached[0]])

    def knee(self) -> int:
        """The k after which the curve flattens: farthest below the line from k = 0 to its end.

        Returns
        -------
        int
            One of `ks`.

        Examples
        --------
        >>> lm.path(np.diag([5.0, 4.0, 0.2, 0.1]), 4).knee()
        2
        """
        x = self.ks / self.ks[-1]
        y = (self.relative - self.relative[-1]) / max(1 - self.relative[-1], np.finfo(float).tiny)
        return int(self.ks[np.argmax(1 - x - y)])

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors against k, with the knee marked.

        Parameters
        ----------
        ax : matplotlib axes; a new figure unless given.

        Returns
        -------
        a display, with the axes as `ax_` and the figure as `figure_`
            It shows itself in notebooks.

        Examples
        --------
        >>> curve = lm.path(np.diag([5.0, 4.0, 0.2, 0.1]), 4)
        >>> curve.plot().get_xlabel()
        'columns chosen'
        """
        from ..plots.error_curve import plot_curve

        return plot_curve(self, ax)

    @property
    def table(self) -> Table:
        """A row for each size: what is kept, and the relative error."""
        kept = [f"{1 - error:.2%}" for error in self.relative]
        errors = self.relative.tolist()
        return Table({"k": self.ks.tolist(), "kept": kept, "relative error": errors})

    @property
    def sentence(self) -> str:
        """The sizes, the errors and the knee."""
        return (
            f"{len(self.ks)} sizes from k = {self.ks[0]} to {self.ks[-1]}, relative error "
            f"{self.relative[0]:.3g} to {self.relative[-1]:.3g}, knee at k = {self.knee()}"
        )


def path(
    A: Any,
    ks: Iterable[int] | int,
    *,
    center: bool = False,
    scale: bool | None = None,
    missing: str = "error",
    numeric_only: bool = False,
    criterion: str = "trace",
    include: Any = (),
    exclude: Any = (),
) -> Curve:
    """The error for many k at once, from one greedy selection of the largest size.

    Parameters
    ----------
    A : as for `select`.
    ks : the numbers of columns to try; one number, such as 10, means 1, 2, …, 10.
    center, scale, missing, numeric_only : as for `select`.
    criterion, include, exclude : as for `select`.

    Returns
    -------
    Curve
        `ks`, `relative` errors, `indices`, and `smallest(error)`, `knee()`, `table`, `plot()`.

    Examples
    --------
    >>> curve = lm.path(np.diag([3.0, 2.0, 1.0]), 3)
    >>> curve.relative.round(3).tolist(), curve.smallest(error=0.1)
    ([0.357, 0.071, 0.0], 2)
    """
    given = opened(A, center=center, scale=scale, missing=missing, numeric_only=numeric_only)
    operator = given.operator
    sizes = checked_sizes(ks, operator.n)
    objective = OBJECTIVES[_check.choice(criterion, tuple(OBJECTIVES), "criterion")]()
    problem = constrained(operator, objective, include, exclude)
    check_size(int(sizes[-1]), problem)
    warn(given, int(sizes[-1]))
    return sweep(problem, sizes)


def checked_sizes(ks: Any, n: int) -> np.ndarray:
    """The requested sizes, distinct and increasing; one number k means 1, 2, …, k."""
    if _check.is_whole(ks):
        ks = range(1, _check.subset_size(ks, n) + 1)
    elif not hasattr(ks, "__iter__") or isinstance(ks, str):
        raise TypeError(
            "ks must be a list of sizes such as [5, 10, 20], or one number k for 1, 2, …, k; "
            f"got {ks!r}"
        )
    listed = sorted({_check.subset_size(k, n) for k in ks})
    if not listed:
        raise ValueError("ks is empty; give at least one size, such as [5, 10, 20]")
    return np.array(listed, dtype=np.int64)


def sweep(problem: Problem, sizes: np.ndarray) -> Curve:
    """The greedy curve of a problem at increasing sizes; problem.k is ignored."""
    problem = replace(problem, k=int(sizes[-1]))
    residual, objective = Residual(problem.searched, problem.k), problem.objective
    gains = Watched(ErrorGains(residual, min(1, objective.depth)), objective.depth)
    indices = pursue(problem, residual, gains).indices
    everything = objective.total(problem.operator)
    errors = np.array([everything, *gains.errors])
    missing = problem.k + 1 - len(errors)  # beyond the rank nothing helps
    errors = np.concatenate([errors, np.full(missing, errors[-1])])
    relative = np.minimum.accumulate(np.clip(errors, 0.0, None)) / (everything or 1.0)
    return Curve(sizes, indices, relative[sizes], objective.criterion)


class Watched(Gains):
    """Gains that record the error after each pick: Σ ω_j C_jj, or that of CΩC for Frobenius."""

    def __init__(self, gains: ErrorGains, depth: int):
        self.gains, self.depth = gains, depth
        self.errors: list[float] = []

    def scores(self) -> Array:
        """The scores of the gains."""
        return self.gains.scores()

    def best(self, allowed: Array) -> int | None:
        """The column of the largest gain."""
        return self.gains.best(allowed)

    def update(self, v: Array) -> None:
        """Update the gains and note the error."""
        self.gains.update(v)
        diagonal = self.gains.residual.diagonal
        if self.depth == 2:
            diagonal = self.gains.powers.diagonals[1]
        self.errors.append(self.gains.residual.pair.total(diagonal))
