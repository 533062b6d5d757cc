"""Groups of columns, or columns with costs, within limits on their number and total cost.

Two greedy choices, by gain and by gain per cost: for monotone submodular gains the better of the
two is within (1 − 1/e)/2 of the best (Leskovec et al., KDD 2007, after Khuller, Moss and Naor, Inf.
Process. Lett. 70, 1999). The trace is only nearly submodular (Das and Kempe, ICML 2011), so
exchanges follow, which never increase the error.
"""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from ..._array import first_argmax, is_single
from ...allowed import Allowed
from ...errors import RankWarning
from ...operators.forms import Factored
from ...problem import SEARCHED, Choice, Problem, Trial, brief, complete
from ...residual.base import error_rounding
from ...runs.runner import Step, cut_short, run, saved_result, stopped
from ...runs.state import State
from .state import Units, UnitState

SMALL = 3000  # up to this many columns, many greedy choices are affordable
FIRSTS = 30  # number of units tried as the first of a greedy choice
PAIRS = 2000  # up to this many pairs of chosen units, one unit is tried in place of two
REFILLED = 100  # up to this many pairs of chosen units, refilling greedily is tried


class Found(NamedTuple):
    """Chosen units, and the error of them."""

    chosen: tuple[int, ...]
    error: float


@dataclass(frozen=True)
class Knapsack:
    """Greedy by gain and by gain per cost, each improved by exchanges; the better is chosen.

    An exchange replaces one unit by the best one that fits. If costs differ, it may also replace
    two units, or fill up greedily. A unit is a group, or a column if there are no `groups`; without
    `costs` each unit costs one. Both criteria are supported, and columns of a group may be linearly
    dependent.

    Parameters
    ----------
    max_exchanges : exchanges after which to stop; None continues until none lowers the error.

    Examples
    --------
    >>> X = np.diag([3.0, 2.0, 2.0, 1.0])
    >>> lm.select(X, 1, groups=["a", "b", "b", "a"]).indices.tolist()
    [0, 3]
    >>> lm.select(X, costs=[5, 2, 2, 1], budget_cost=4).indices.tolist()
    [1, 2]
    """

    max_exchanges: int | None = None
    honours: ClassVar[frozenset[str]] = SEARCHED | {"groups", "costs"}
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.max_exchanges is not None and self.max_exchanges < 0:
            raise ValueError(
                f"max_exchanges must be at least 0 or None, got {self.max_exchanges!r}"
            )

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        pair = problem.pair.searchable(problem.allowed.most_columns(1))
        units = Units(pair, problem.allowed, problem.objective.depth)
        exchanged = partial(self._run, problem, units)
        runs = [exchanged(*greedy_choice) for greedy_choice in _starts(problem, units)]
        if problem.allowed.uneven and _goes_on(problem):
            runs.append(exchanged("the best", _best(units, runs), several=True))
        columns = _columns(problem, list(_best(units, runs)))
        return Choice(columns, trials=tuple(trial for _, trial in runs))

    def _run(
        self,
        problem: Problem,
        units: Units,
        label: str,
        chosen: tuple[int, ...],
        several: bool = False,
    ) -> tuple[Found, Trial]:
        clock = time.perf_counter()
        ledger = units.operator.ledger
        before, most = ledger.products, self.max_exchanges
        found = _kept(lambda: exchange(problem, UnitState.of(units, chosen), several, most))
        error = found.error
        if not problem.objective.shares:
            columns = problem.allowed.columns(list(found.chosen))
            error = problem.objective.error(problem.operator, columns)
        return found, Trial(
            f"{label} > exchange",
            error,
            time.perf_counter() - clock,
            ledger.products - before,
        )


def _kept(work: Callable[[], Found]) -> Found:
    """What the work finds; a resumed run does not look for it again."""
    return saved_result("choice", work, tuple, lambda plain: Found(*plain))


def _goes_on(problem: Problem) -> bool:
    """Whether there is time for another start; if not, it is missed."""
    if problem.time_left <= 0:
        cut_short()
    return problem.time_left > 0 and not stopped()


def _best(units: Units, runs: list[tuple[Found, Trial]]) -> tuple[int, ...]:
    """The first of the lowest error; errors that differ by rounding alone are tied."""
    lowest = min(found.error for found, _ in runs)
    good = (found for found, _ in runs if found.error <= lowest + least_gain(units, found.error))
    return next(good).chosen


def _starts(problem: Problem, units: Units) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Greedy choices by gain, by gain per cost, and the two best ones after various first units."""
    start = UnitState.of(units, sorted(problem.allowed.fixed))
    yield "gain", _kept(lambda: greedy(start, False)).chosen
    if problem.allowed.uneven and _goes_on(problem):
        yield "gain per cost", _kept(lambda: greedy(start, True)).chosen
    gains = _gains(start)
    firsts = np.argsort(-gains, kind="stable")[: FIRSTS if units.operator.n <= SMALL else 0]
    seeded: dict[frozenset[int], Found] = {}
    for unit in firsts[gains[firsts] > 0].tolist():
        if _goes_on(problem):
            found = _kept(lambda unit=unit: greedy(start.added(unit), True))  # type: ignore[misc]
            seeded.setdefault(frozenset(found.chosen), found)
    for found in sorted(seeded.values(), key=lambda found: found.error)[:2]:
        yield "first unit, then gain per cost", found.chosen


def _columns(problem: Problem, chosen: list[int]) -> np.ndarray:
    """The columns of the choice; where fewer than k help, the first others too, with a warning."""
    if problem.costs is not None or problem.groups is None:
        columns = problem.allowed.columns(chosen)
        return columns if problem.costs is not None else complete(problem, columns)
    if missing := problem.k - len(chosen):
        warnings.warn(
            f"{len(chosen)} groups reach the numerical rank, fewer than k = {problem.k}; further "
            "groups add nothing",
            RankWarning,
            stacklevel=2,
        )
        chosen += [int(u) for u in np.flatnonzero(problem.allowed.addable(chosen))[:missing]]
    return problem.allowed.columns(chosen)


# Greedy choices of units: the one of the largest gain, or gain per cost, again and again.


def fill(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> UnitState:
    """Add the unit of the largest gain, or gain per cost, while one helps, fits and is allowed."""
    while (unit := _next(state, per_cost, barred)) is not None:
        state = state.added(unit)
    return state


def _next(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> int | None:
    costs: np.ndarray | float = 1.0
    if per_cost and not state.units.allowed.sized:  # what costs nothing comes first
        costs = state.units.allowed.costs
        costs = np.maximum(costs, 1e-12 * (float(np.max(costs)) or 1e12))
    gains = _gains(state, barred)
    unit = first_argmax(gains / costs)
    return unit if gains[unit] > 0 else None


def _gains(state: UnitState, barred: Sequence[int] = ()) -> np.ndarray:
    """The gain of every unit that may be added; zero for others."""
    fits = state.units.allowed.addable(list(state.chosen))
    fits[list(barred)] = False
    return np.where(fits, state.units.gains(state.stacks), 0.0)


class Growing(State):
    """A choice while units are added: all that a `UnitState` computes of it."""

    def __init__(self, state: UnitState):
        self.keep(state)

    def keep(self, state: UnitState) -> None:
        """Take over the numbers of a state."""
        self.chosen, self.F = list(state.chosen), state.F
        self.stacks, self.error = state.stacks, state.error

    def state(self, units: Units) -> UnitState:
        """The state of these numbers."""
        return UnitState(units, tuple(self.chosen), self.F, self.stacks, self.error)


def greedy(state: UnitState, per_cost: bool) -> Found:
    """What `fill` finds; a resumed run goes on with the units that were added."""
    growing, units = Growing(state), state.units

    def steps() -> Iterator[Step]:
        grown = growing.state(units)
        while (unit := _next(grown, per_cost)) is not None:
            grown = grown.added(unit)
            growing.keep(grown)
            yield Step(len(grown.chosen), None, share(units, grown.error))

    run("greedy", steps(), growing)
    filled = fill(growing.state(units), per_cost)
    return Found(filled.chosen, filled.error)


# Exchanges of units that lower the error of a choice within its limits.


@dataclass
class Exchanging(State):
    """A choice while units are exchanged, its error, and how many exchanges were made.

    tried : the moves that did not lower the error since the last exchange.
    """

    chosen: tuple[int, ...]
    error: float
    made: int = 0
    tried: int = 0


def exchange(problem: Problem, start: UnitState, several: bool, limit: int | None) -> Found:
    """Make the first move that lowers the error, until none does or the limit is reached.

    several : whether one unit may replace two, and others one or two.
    """
    now = Exchanging(start.chosen, start.error)
    steps = _exchanges(start, now, several, limit)
    if not run("exchange", steps, now, deadline=problem.deadline):
        cut_short()  # the next look for a move is missed
    return Found(now.chosen, now.error)


def _exchanges(
    start: UnitState, now: Exchanging, several: bool, limit: int | None
) -> Iterator[Step]:
    """One move at a step; what is kept of the choice is enough to go on from there."""
    units = start.units
    refilled = _removals(units.allowed, now.chosen, REFILLED) if several else []
    while now.tried <= len(refilled) and (limit is None or now.made < limit):
        yield Step(now.made, limit, share(units, now.error))
        if now.tried == 0:
            state = UnitState.of(units, now.chosen) if now.made else start
            singles = _removals(units.allowed, state.chosen, 0)
            better = _exchanged(state, singles)
            if better is None and several:  # one unit in place of two, where pairs are few
                pairs = _removals(units.allowed, state.chosen, PAIRS)[len(singles) :]
                better = _exchanged(state, pairs)
        else:
            better = _refilled(units, now, refilled[now.tried - 1])
        now.tried += 1
        if better is not None:
            now.chosen, now.error = better
            now.made, now.tried = now.made + 1, 0
            refilled = _removals(units.allowed, now.chosen, REFILLED) if several else []


def _removals(allowed: Allowed, chosen: Sequence[int], pairs: int) -> list[tuple[int, ...]]:
    """The units that may leave a choice, one by one; then two at a time, if at most so many."""
    loose = [u for u in chosen if u not in allowed.fixed]
    few = math.comb(len(loose), 2) <= pairs
    return [(u,) for u in loose] + (list(itertools.combinations(loose, 2)) if few else [])


def _exchanged(state: UnitState, removals: Sequence[tuple[int, ...]]) -> Found | None:
    """The choice after replacing a removal by the best unit, filled up; None if none helps."""
    best = 0.0
    chosen: list[int] | None = None
    for out in removals:
        without = state.without(out)
        gains = _gains(without, out)
        unit = first_argmax(gains)
        net = gains[unit] - (without.error - state.error)
        if net > max(best, least_gain(state.units, state.error, without.error)):
            best = net
            chosen = [*without.chosen, unit]
    return None if chosen is None else _if_better(state.units, state.error, chosen)


def _refilled(units: Units, now: Exchanging, out: tuple[int, ...]) -> Found | None:
    """The choice after taking out some units and filling up without them, if that helps."""
    remaining = UnitState.of(units, [u for u in now.chosen if u not in out])
    for per_cost in (False, True):
        filled = fill(remaining, per_cost, barred=out)
        better = _if_better(units, now.error, filled.chosen) if filled.error < now.error else None
        if better is not None:
            return better
    return None


def _if_better(units: Units, error: float, chosen: Sequence[int]) -> Found | None:
    """The chosen units from scratch, filled up; None unless they are better beyond rounding."""
    other = fill(UnitState.of(units, chosen), True)
    if other.error >= error - least_gain(units, error):
        return None
    return Found(other.chosen, other.error)


def share(units: Units, error: float) -> float | None:
    """An error over that of choosing nothing; None for a log determinant."""
    return error / (units.error or 1.0) if units.depth else None


def least_gain(units: Units, error: float, scale: float = 0.0) -> float:
    """What an exchange must gain at least: a share of the errors on the way, and no rounding."""
    tolerance = 1e-6 if is_single(units.operator.like) else 1e-9
    certain = 1e-12 if isinstance(units.operator, Factored) else tolerance
    rounding = error_rounding(units.operator, units.depth, error, units.error)
    return max(tolerance * abs(error) + certain * abs(scale), rounding)
