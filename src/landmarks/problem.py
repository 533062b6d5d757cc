"""What a method gets and what it returns."""

import itertools
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from ._array import Indices, is_single
from .allowed import Allowed
from .errors import RankWarning, UnsupportedError, warn_user
from .objectives.objective import OBJECTIVES, Objective, Trace, as_objective
from .operators.base import Operator
from .operators.forms import is_promoted, search_seconds
from .operators.pair import Pair
from .placement import Constraint, packed

PROMOTED = "float64: rounding in float32 could hide gains"
IN_SINGLE = "float64, {in_single} of {products} products in float32, whose error is accounted for"


@dataclass(frozen=True)
class Problem:
    """Choose k columns of the operator for an objective, with some that must or must not be chosen.

    Parameters
    ----------
    operator : the matrix, as `landmarks.data`, `psd`, `kernel` and others give it.
    k : how many columns, or groups if there are any; 0 if the method finds k.
    objective : what is minimised, with its target and noise: "trace", "frobenius", or an object of
        `landmarks.objectives`.
    include, exclude : the indices that must, or must not, be chosen.
    groups : the number of the group of each column; a group is chosen completely or not at all, and
        include and exclude hold complete groups. None if there are no groups.
    costs, budget_cost : the cost of each column, and a limit on the cost of a choice; None for no
        limit.
    deadline : the time.monotonic() by which a method should return its best choice so far; None for
        no deadline.
    pace : how many seconds an estimated second takes, as far as the clock has shown.
    constraints : on the places of chosen columns: minimum distances and regions.
    warned : warnings that the user has already seen; problems derived from this one share it.

    Examples
    --------
    >>> problem = lm.Problem(lm.psd(np.eye(4)), k=2, include=(3,), exclude=(0,))
    >>> problem.candidates.tolist(), problem.free.tolist()
    ([1, 2, 3], [1, 2])
    """

    operator: Operator
    k: int
    objective: Objective = field(default_factory=Trace)
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    groups: np.ndarray | None = field(default=None, compare=False)
    costs: np.ndarray | None = field(default=None, compare=False)
    budget_cost: float | None = None
    deadline: float | None = None
    pace: float = field(default=1.0, compare=False)
    constraints: tuple[Constraint, ...] = field(default=(), compare=False)
    warned: set[str] = field(default_factory=set, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", as_objective(self.objective))

    @property
    def criterion(self) -> str:
        """The word for what is minimised: "trace", "frobenius"."""
        return self.objective.criterion

    @property
    def pair(self) -> Pair:
        """What a search works on: K, the weights of its columns and the noise."""
        return self.objective.on(self.operator)

    @property
    def unscaled(self) -> Pair:
        """The same with columns of the size that the data have: samplers and relaxations see it."""
        return Pair(self.operator, self.operator.n) if self.objective.plain else self.pair

    @property
    def searched(self) -> Pair:
        """The same with K in the form that a search for k columns works on."""
        return self.pair.searchable(self.k)

    @cached_property
    def allowed(self) -> Allowed:
        """Which choices may be made."""
        return Allowed(
            self.operator.n,
            self.k,
            self.include,
            self.exclude,
            self.groups,
            self.costs,
            np.inf if self.budget_cost is None else self.budget_cost,
            self.constraints,
            self.objective.repeats,
        )

    @property
    def choosable(self) -> np.ndarray:
        """The indices that may be added: included ones too if candidates may repeat."""
        return self.candidates if self.objective.repeats else self.free

    @property
    def candidates(self) -> np.ndarray:
        """The indices that may be chosen, in increasing order, with the included ones."""
        return np.flatnonzero(self.allowed.open[self.allowed.unit_of])

    @property
    def free(self) -> np.ndarray:
        """The indices that may be chosen, in increasing order, without the included ones."""
        open_ = self.allowed.open[self.allowed.unit_of]
        open_[list(self.include)] = False
        return np.flatnonzero(open_)

    def addable(self, chosen: Indices) -> np.ndarray:
        """Whether each candidate may be added to the chosen ones and what must be included.

        Parameters
        ----------
        chosen : the indices chosen so far.

        Returns
        -------
        array of n booleans
            False for excluded and chosen ones, and for those that a constraint rules out.

        Examples
        --------
        >>> problem = lm.Problem(lm.psd(np.eye(4)), k=2, exclude=(0,))
        >>> problem.addable([3]).tolist()
        [False, True, True, False]
        """
        units = self.allowed.unit_of[np.asarray(chosen, dtype=np.int64)]
        return self.allowed.addable(np.unique(units) if not self.allowed.single else units)[
            self.allowed.unit_of
        ]

    def count(self, columns: Indices) -> int:
        """The number of these columns, or of their groups if there are any.

        Parameters
        ----------
        columns : their indices.

        Returns
        -------
        int
            What a method compares with `k`.

        Examples
        --------
        >>> groups = np.array([0, 0, 1, 1])
        >>> lm.Problem(lm.psd(np.eye(4)), k=2, groups=groups).count([0, 1, 2])
        2
        """
        if self.groups is None:
            return len(columns)
        units = self.allowed.unit_of[np.asarray(columns, dtype=np.int64)]
        return len(units if self.allowed.single else np.unique(units))

    @property
    def time_left(self) -> float:
        """Seconds until the deadline."""
        return np.inf if self.deadline is None else self.deadline - time.monotonic()

    def affords(self, seconds: float) -> bool:
        """Whether a step that cannot be interrupted, estimated so, ends before the deadline.

        Parameters
        ----------
        seconds : the estimate, on a machine that does nothing else.

        Returns
        -------
        bool
            True without a deadline.

        Examples
        --------
        >>> lm.Problem(lm.psd(np.eye(3)), 2).affords(1e9)
        True
        """
        return self.deadline is None or seconds * self.pace <= self.time_left

    def affords_search(self, depth: int | None = None) -> bool:
        """Whether there is time for what comes before a search can make its first move.

        Parameters
        ----------
        depth : of the objective that is searched on; None is that of the problem.

        Returns
        -------
        bool
            True without a deadline.

        Examples
        --------
        >>> lm.Problem(lm.psd(np.eye(3)), 2).affords_search()
        True
        """
        depth = self.objective.depth if depth is None else depth
        return self.deadline is None or self.affords(
            search_seconds(self.pair.operator, self.k, depth)
        )


@dataclass(frozen=True)
class Trial:
    """One thing that a composed method tried: a label, the error reached, seconds and products.

    precision : the precision that it used, and why.
    """

    label: str
    error: float
    seconds: float
    products: int
    precision: str = ""


@dataclass(frozen=True)
class Choice:
    """What a method returns: indices in order of choice, and how it found them.

    Attributes
    ----------
    indices : the chosen columns, in order of choice.
    path : the weights step by step, of a relaxation.
    trials : what a composed method tried, with error and cost.
    bound : a lower bound of the criterion over all allowed subsets of that size, when the method
        has proved one.
    details : anything else worth knowing, by name.

    Examples
    --------
    >>> problem = lm.Problem(lm.psd(np.diag([1.0, 3.0, 2.0])), k=2)
    >>> lm.Greedy().choose(problem, np.random.default_rng(0)).indices
    array([1, 2])
    """

    indices: np.ndarray
    path: Any = None
    trials: tuple[Trial, ...] = ()
    bound: float | None = None
    details: dict[str, Any] = field(default_factory=dict)


class Method(Protocol):
    """A way to choose: a frozen dataclass of its settings with one function."""

    #: what the method can honour, among "include", "exclude", "groups", "costs", "constraints",
    #: "target", "noise" and "logdet"
    honours: ClassVar[frozenset[str]]

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        """Choose problem.k indices; random numbers come from rng alone."""


def brief(method: Any) -> str:
    """The name of a method and the settings that are not its defaults."""
    changed = []
    for setting in fields(method):
        default = (
            setting.default_factory() if callable(setting.default_factory) else setting.default
        )
        if (value := getattr(method, setting.name)) is not default and repr(value) != repr(default):
            changed.append(f"{setting.name}={value!r}")
    return f"{type(method).__name__}({', '.join(changed)})"


#: what most methods honour; searches honour more
INCLUDE_EXCLUDE = frozenset({"include", "exclude"})
AIMED = INCLUDE_EXCLUDE | {"target", "noise"}
PLACED = INCLUDE_EXCLUDE | {"constraints"}
SEARCHED = AIMED | {"logdet"}
#: what methods honour that draw independent columns, whatever the objective
DRAWN = INCLUDE_EXCLUDE | {"logdet"}


def check_criterion(criterion: str | None, name: str = "criterion") -> None:
    """Raise unless this is a criterion, or None for that of the problem."""
    if criterion is not None and criterion not in OBJECTIVES:
        names = ", ".join(f'"{known}"' for known in OBJECTIVES)
        raise ValueError(f"{name} must be {names} or None, got {criterion!r}")


def lowered(problem: Problem, criterion: str | None, name: str = "criterion") -> Objective:
    """What a search lowers: the objective of the problem, or another on the same pair.

    name : the setting that asks for another.
    """
    if criterion is None or criterion == problem.criterion:
        return problem.objective
    found = problem.objective.measured(OBJECTIVES[criterion])
    own, other = problem.pair, found.on(problem.operator)
    alike = own.operator is other.operator and all(
        np.array_equal(getattr(own, part), getattr(other, part)) for part in ("weights", "noise")
    )
    if not alike:
        raise UnsupportedError(
            f"{name}={criterion!r} weighs columns or noise in another way than the criterion "
            f"{problem.criterion!r}, so a search for one does not lower the other; leave {name} out"
        )
    return found


def check_indices(indices: Any, n: int, *, repeats: bool = False) -> np.ndarray:
    """The indices as host integers from 0 to n − 1, distinct unless they may repeat."""
    array = np.atleast_1d(np.asarray(indices))
    if array.size == 0:
        return array.astype(np.int64).reshape(0)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"indices must be a list of integers, got {array.dtype} of shape {array.shape}"
        )
    array = array.astype(np.int64)
    if array.min() < 0 or array.max() >= n:
        raise ValueError(f"indices must be from 0 to {n - 1}, got {array.min()} … {array.max()}")
    if not repeats and len(np.unique(array)) < len(array):
        raise ValueError("indices must be distinct; list each of them once")
    return array


def complete(problem: Problem, picks: Iterable[int] | Indices) -> np.ndarray:
    """The picks, filled up to k with the lowest indices beyond the rank, with a warning."""
    picks = [int(j) for j in picks]
    picks = [*(j for j in problem.include if j not in picks), *picks][: max(len(picks), problem.k)]
    if problem.constraints:
        allowed = np.isin(np.arange(problem.operator.n), problem.candidates)
        for j in problem.include:
            picks.remove(j)
        first, fixed = [*problem.include, *picks], len(problem.include)
        repeats = problem.objective.repeats
        return packed(problem.constraints, first, fixed, allowed, problem.k, repeats)
    if len(picks) < problem.k:
        if "rank" not in problem.warned:
            warn_user(_all_rebuilt(problem, len(picks)), RankWarning)
        problem.warned.add("rank")
        missing = problem.k - len(picks)
        if problem.objective.repeats:
            picks += [int(j) for j in np.resize(problem.candidates, missing)]
        else:
            closed = {*picks, *problem.exclude}
            lowest = (j for j in range(problem.operator.n) if j not in closed)
            picks += list(itertools.islice(lowest, missing))
    return np.asarray(picks, dtype=np.int64)


def _all_rebuilt(problem: Problem, count: int) -> str:
    """That fewer than k are enough."""
    if problem.objective.plain:
        return f"numerical rank {count} < k = {problem.k}; further columns add nothing"
    return (
        f"{count} candidates, fewer than k = {problem.k}, rebuild all of the target that can be "
        "rebuilt; further ones add nothing"
    )


def precision_used(operator: Operator, used: dict[str, int]) -> str:
    """The precision of a search and the reason, from the counts of the ledger."""
    if used.get("in_single", 0):
        return IN_SINGLE.format_map(used)
    if is_promoted(operator) or used.get("promoted", 0):
        return PROMOTED
    return "float32: as the data" if is_single(operator.like) else "float64"
