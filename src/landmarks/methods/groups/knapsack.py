"""Groups of columns, or columns with costs, within limits on their number and total cost.

Two greedy choices, by gain and by gain per cost: for monotone submodular gains the better of the
two is within (1 − 1/e)/2 of the best (Leskovec et al., KDD 2007, after Khuller, Moss and Naor, Inf.
Process. Lett. 70, 1999). The trace is only nearly submodular (Das and Kempe, ICML 2011), so
exchanges follow, which never increase the error.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ...errors import RankWarning
from ...problem import AIMED, Choice, Problem, Trial, brief, complete
from ...runs.runner import saved_result, stopped
from .filling import Found, first_units, greedy
from .moves import exchange, least_gain
from .state import UnitState
from .units import Units

SMALL = 3000  # up to this many columns, many greedy choices are affordable
FIRSTS = 30  # number of units tried as the first of a greedy choice


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
    honours: ClassVar[frozenset[str]] = AIMED | {"groups", "costs"}
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.max_exchanges is not None and self.max_exchanges < 0:
            raise ValueError(
                f"max_exchanges must be at least 0 or None, got {self.max_exchanges!r}"
            )

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        pair = problem.pair.searchable(problem.allowed.most_columns(1))
        empty = UnitState.empty(pair, Units.of(problem), problem.objective.depth)
        start = empty.loaded([int(u) for u in np.flatnonzero(empty.units.fixed)])
        exchanged = partial(self._run, problem, start)
        runs = [exchanged(*greedy_choice) for greedy_choice in _starts(problem, start)]
        if start.units.uneven and _goes_on(problem):
            runs.append(exchanged("the best", _best(start, runs), several=True))
        columns = _columns(problem, start.units, list(_best(start, runs)))
        return Choice(columns, trials=tuple(trial for _, trial in runs))

    def _run(
        self,
        problem: Problem,
        start: UnitState,
        label: str,
        chosen: tuple[int, ...],
        several: bool = False,
    ) -> tuple[Found, Trial]:
        clock = time.perf_counter()
        before = start.operator.ledger.products
        most = self.max_exchanges
        found = _kept(lambda: exchange(problem, start.loaded(chosen), several, most))
        return found, Trial(
            f"{label} > exchange",
            found.error,
            time.perf_counter() - clock,
            start.operator.ledger.products - before,
        )


def _kept(work: Callable[[], Found]) -> Found:
    """What the work finds; a resumed run does not look for it again."""
    return saved_result("choice", work, tuple, lambda plain: Found(*plain))


def _goes_on(problem: Problem) -> bool:
    """Whether there is time for another start."""
    return problem.time_left > 0 and not stopped()


def _best(start: UnitState, runs: list[tuple[Found, Trial]]) -> tuple[int, ...]:
    """The first of the lowest error; errors that differ by rounding alone are tied."""
    lowest = min(found.error for found, _ in runs)
    good = (found for found, _ in runs if found.error <= lowest + least_gain(start, found.error))
    return next(good).chosen


def _starts(problem: Problem, start: UnitState) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Greedy choices by gain, by gain per cost, and the two best ones after various first units."""
    yield "gain", _kept(lambda: greedy(start, False)).chosen
    if start.units.uneven and _goes_on(problem):
        yield "gain per cost", _kept(lambda: greedy(start, True)).chosen
    firsts = first_units(start, FIRSTS) if start.operator.n <= SMALL else []
    seeded: dict[frozenset[int], Found] = {}
    for unit in firsts:
        if _goes_on(problem):
            found = _kept(partial(_after, start, unit))
            seeded.setdefault(frozenset(found.chosen), found)
    for found in sorted(seeded.values(), key=lambda found: found.error)[:2]:
        yield "first unit, then gain per cost", found.chosen


def _after(start: UnitState, unit: int) -> Found:
    """The greedy choice by gain per cost after one unit."""
    return greedy(start.added(unit), True)


def _columns(problem: Problem, units: Units, chosen: list[int]) -> np.ndarray:
    """The columns of the choice; where fewer than k help, the first others too, with a warning."""
    if problem.costs is not None or problem.groups is None:
        columns = units.columns(chosen)
        return columns if problem.costs is not None else complete(problem, columns)
    if missing := problem.k - len(chosen):
        warnings.warn(
            f"{len(chosen)} groups reach the numerical rank, fewer than k = {problem.k}; further "
            "groups add nothing",
            RankWarning,
            stacklevel=2,
        )
        chosen += [int(u) for u in np.flatnonzero(units.fitting(chosen))[:missing]]
    return units.columns(chosen)
