"""How the error falls with k: the curve of one greedy pass, its knee, the smallest k for an error.

`with_rule` is how `select` applies a rule for k. A rule looks at the curve, or bisects from a bound
to a greedy choice.
"""

import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Never, Protocol

import numpy as np

from .. import _check
from .._array import Array, eps
from .._check import is_number
from .._shown import Shown, Table
from ..constraints import check_size, constrained
from ..errors import RankWarning, UnsupportedError
from ..linalg.error import spectrum, spectrum_is_cheap
from ..methods.greedy.greedy import ErrorGains, pursue
from ..methods.inner import saved
from ..objectives.objective import by_name
from ..operators.data import READING, opened, warn
from ..operators.forms import in_double
from ..problem import Choice, Method, Problem
from ..residual.residual import Residual
from ..runs.runner import report
from .cross_validated import CrossValidated

ROUNDING = 1000  # tolerance of a relative error, in units in the last place


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
        from ..plots.curves import plot_curve

        return plot_curve(self, ax)

    @property
    def table(self) -> Table:
        """A row for each size: what is kept, and the relative error."""
        columns = {"k": self.ks, "kept": 1 - self.relative, "relative error": self.relative}
        listed = {name: values.tolist() for name, values in columns.items()}
        return Table(listed, {"kept": ".2%"})

    @property
    def sentence(self) -> str:
        """The sizes, the errors and the knee."""
        if len(self.ks) == 1:
            return f"relative error {self.relative[0]:.3g} at k = {self.ks[0]}"
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
    **unknown: Never,
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
    _check.known(unknown, path, READING)
    reading = dict(center=center, scale=scale, missing=missing, numeric_only=numeric_only)
    return sweep(*asked(A, ks, reading, criterion, include, exclude))


def asked(
    A: Any, ks: Any, reading: dict[str, Any], criterion: str, include: Any, exclude: Any
) -> tuple[Problem, np.ndarray]:
    """The problem of some data, and the sizes that it is asked for."""
    given = opened(A, **reading)
    sizes, objective = checked_sizes(ks, given.operator.n), by_name(criterion)
    problem = constrained(given.operator, objective, include, exclude)
    check_size(int(sizes[-1]), problem)
    warn(given, objective.by_length, int(sizes[-1]))
    return problem, sizes


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
    gains = Watched(residual, objective.depth)
    indices = pursue(problem, residual, gains).indices
    everything = objective.total(problem.operator)
    errors = np.array([everything, *gains.errors])
    missing = problem.k + 1 - len(errors)  # beyond the rank nothing helps
    errors = np.concatenate([errors, np.full(missing, errors[-1])])
    relative = np.minimum.accumulate(np.clip(errors, 0.0, None)) / (everything or 1.0)
    return Curve(sizes, indices, relative[sizes], objective.criterion)


def _informed(problem: Problem, sizes: np.ndarray) -> Curve:
    """The same in nats: one at no column, zero at the last size of the greedy choice."""
    residual = Residual(problem.searched, problem.k)
    indices = pursue(problem, residual, ErrorGains(residual, 0)).indices
    errors = [problem.objective.error(problem.operator, indices[:size]) for size in sizes]
    return Curve(sizes, indices, 1 - np.array(errors) / errors[-1], problem.criterion)


class Watched(ErrorGains):
    """Gains that record the error after each pick: Σ ω_j C_jj, or that of CΩC for Frobenius."""

    def __init__(self, residual: Residual, depth: int):
        super().__init__(residual, min(1, depth))
        self.of_columns = depth == 2
        self.errors: list[float] = []

    def update(self, v: Array) -> None:
        """Update the gains and note the error."""
        super().update(v)
        diagonal = self.powers.diagonals[1] if self.of_columns else self.residual.diagonal
        self.errors.append(self.residual.pair.total(diagonal))


@dataclass(frozen=True)
class MaxError:
    """The smallest k at which the method reaches a relative error, found by bisection.

    The selection has a relative error of at most `error`, up to rounding, and equals the one that
    `select` makes with that k. With one column fewer the method missed that error, or even the best
    rank-(k − 1) approximation does.

    Parameters
    ----------
    error : the largest relative error that is allowed, from 0 to below 1.

    Examples
    --------
    >>> s = lm.select(np.diag([3.0, 2.0, 1.0]), lm.MaxError(error=0.1))
    >>> s.k, round(s.relative_error(), 3)
    (2, 0.071)
    """

    error: float = 0.05

    def __post_init__(self) -> None:
        if not is_number(self.error) or not 0 <= self.error < 1:
            raise ValueError(
                "error must be a number from 0 to below 1, the largest relative error allowed, "
                f"got {self.error!r}"
            )

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        problem = replace(problem, operator=in_double(problem.operator))
        error = self.error + ROUNDING * eps(problem.operator.like)
        total = problem.objective.total(problem.operator)
        first, found = rng.bit_generator.state, dict[int, Choice]()

        def reaches(k: int, runs: float = 1.0) -> bool:
            """Whether the method reaches the error with k, in its share of the time left."""
            seconds = problem.time_left / (1 + runs)
            deadline = None if problem.deadline is None else time.monotonic() + seconds
            tried = replace(problem, k=k, deadline=deadline)
            rng.bit_generator.state = first
            found[k] = saved(f"k = {k}", method).choose(tried, rng)
            left = problem.objective.error(problem.operator, found[k].indices)
            report("how many", k, None, left / (total or 1.0))
            return left <= error * total

        missed, high = impossible(problem, error * total), promising(problem, error)
        while not reaches(high):
            missed = high
            high = min(problem.count(problem.candidates), high + max(1, high // 8))
        while high - missed > 1:
            middle = (missed + high) // 2
            if reaches(middle, runs=math.log2(high - missed)):
                high = middle
            else:
                missed = middle
        return found[high]


def impossible(problem: Problem, error: float) -> int:
    """A k too small for any choice: fewer than included, or a best rank-k error too large."""
    operator = problem.operator
    needed = max(1, problem.count(problem.include))
    if not spectrum_is_cheap(operator) or problem.groups is not None or not problem.objective.plain:
        return needed - 1
    values = spectrum(operator) ** problem.objective.depth
    tails = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])  # of rank 0, 1, …
    return max(needed - 1, int(np.argmax(tails <= error)) - 1)


def promising(problem: Problem, error: float) -> int:
    """The k at which a greedy choice reaches the relative error; for groups, all of them."""
    most = len(problem.candidates)
    k = min(most, max(8, 2 * len(problem.include)))
    curve = greedy_curve(replace(problem, k=k))
    while curve.relative[-1] > error and k < most:
        k = min(most, 2 * k)
        curve = greedy_curve(replace(problem, k=k))
    if curve.relative[-1] > error:
        raise ValueError(
            f"a relative error of {error:.4g} cannot be reached: all {k} candidates together leave "
            f"{curve.relative[-1]:.4g}"
        )
    if problem.groups is not None:
        return problem.count(problem.candidates)
    return curve.smallest(error)


def greedy_curve(problem: Problem) -> Curve:
    """The greedy errors for every k from the number included to problem.k; no rank warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        sizes = np.arange(max(1, len(problem.include)), problem.k + 1)
        return sweep(problem, sizes) if problem.objective.shares else _informed(problem, sizes)


@dataclass(frozen=True)
class Knee:
    """The k after which the greedy curve of error against k flattens; you need not name an error.

    For `criterion="logdet"` with noise the curve is that of the information of the measurements.

    Parameters
    ----------
    most : the largest k of the curve. The knee depends on it: it is the point farthest below the
        line from k = 0 to there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 30))
    >>> X += 0.1 * rng.standard_normal((50, 30))
    >>> lm.select(X, lm.Knee()).k
    4
    """

    most: int = 100
    in_nats: ClassVar[bool] = True  # the knee stays where it is in whatever units

    def __post_init__(self) -> None:
        _check.count(self.most, "most", least=2)

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        if problem.groups is not None:
            raise UnsupportedError(
                "Knee looks at single columns; with groups give k as a number or as a MaxError"
            )
        most = max(len(problem.include), min(self.most, len(problem.candidates)))
        knee = greedy_curve(replace(problem, k=most)).knee()
        return method.choose(replace(problem, k=knee), rng)


def with_rule(method: Method, k: Any, error: float | None) -> tuple[Any, Any]:
    """The method and k; if k is a rule, "auto" or "held-out", the method finds it and k is None."""
    automatic = isinstance(k, str) and k == "auto"
    if error is not None and not automatic:
        raise ValueError(
            f'error={error!r} asks for the k that reaches it: give k="auto" with it, got k={k!r}'
        )
    if isinstance(k, str) and k == "held-out":
        return RuledMethod(method, CrossValidated()), None
    if automatic:
        return RuledMethod(method, Knee() if error is None else MaxError(error)), None
    if isinstance(k, type) or not hasattr(k, "apply"):
        return method, k
    return RuledMethod(method, k), None


class Rule(Protocol):
    """A way to find k: a frozen dataclass of its settings with one function."""

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        """Find k, which the problem leaves open, and choose k columns by the method."""


@dataclass(frozen=True)
class RuledMethod:
    """A method whose k is found by a rule."""

    method: Any
    rule: Any
    finds_k: ClassVar[bool] = True

    @property
    def honours(self) -> frozenset[str]:
        """The constraints that the method honours."""
        return self.method.honours

    @property
    def in_nats(self) -> bool:
        """Whether the rule has a meaning for a log determinant."""
        return getattr(self.rule, "in_nats", False)

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        return self.rule.apply(problem, self.method, rng)
