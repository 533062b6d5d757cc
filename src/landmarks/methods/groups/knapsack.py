"""Whole groups of columns, or columns of different costs, within limits on their number and cost.

Two greedy choices, by gain and by gain per cost: for monotone submodular gains the better of the
two is within (1 − 1/e)/2 of the best (Leskovec et al., KDD 2007, after Khuller, Moss and Naor, Inf.
Process. Lett. 70, 1999). The trace is only nearly submodular (Das and Kempe, ICML 2011), so
exchanges follow: they never make it worse.
"""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import RankWarning
from ...problem import INCLUDE_EXCLUDE, Choice, Problem, Trial, brief, complete
from .moves import SEVERAL, SINGLE, Move, exchange, fill, first_units, least_gain
from .state import UnitState
from .units import Units, most_columns

SMALL = 3000  # columns up to which many greedy choices are affordable
FIRSTS = 30  # units that are tried as the first one of a greedy choice


@dataclass(frozen=True)
class Knapsack:
    """Greedy by gain and by gain per cost, each improved by exchanges; the better is chosen.

    An exchange takes out one unit and puts in the best one that fits. Where costs differ it may
    also take out two, or fill up greedily. Without `groups` a unit is a column, without `costs` it
    costs one. Serves both criteria; a group may hold columns that depend on one another.

    Parameters
    ----------
    max_exchanges : exchanges after which to stop; None goes on until none pays.

    Examples
    --------
    >>> X = np.diag([3.0, 2.0, 2.0, 1.0])
    >>> lm.select(X, 1, groups=["a", "b", "b", "a"]).indices.tolist()
    [0, 3]
    >>> lm.select(X, costs=[5, 2, 2, 1], budget_cost=4).indices.tolist()
    [1, 2]
    """

    max_exchanges: int | None = None
    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE | {"groups", "costs"}
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.max_exchanges is not None and self.max_exchanges < 0:
            raise ValueError(
                f"max_exchanges must be at least 0 or None, got {self.max_exchanges!r}"
            )

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        operator = problem.operator.searchable(most_columns(problem, 1))
        empty = UnitState.empty(operator, Units.of(problem), problem.criterion)
        start = empty.loaded([int(u) for u in np.flatnonzero(empty.units.fixed)])
        runs = [
            self._run(problem, label, state, SINGLE) for label, state in _starts(problem, start)
        ]
        if start.units.uneven and problem.time_left > 0:
            runs.append(self._run(problem, "the best", _best(runs), SINGLE + SEVERAL))
        return Choice(_columns(problem, _best(runs)), trials=tuple(trial for _, trial in runs))

    def _run(
        self, problem: Problem, label: str, state: UnitState, moves: tuple[Move, ...]
    ) -> tuple[UnitState, Trial]:
        clock = time.perf_counter()
        before = state.operator.ledger.products
        state = exchange(problem, state.loaded(state.chosen), moves, self.max_exchanges)
        return state, Trial(
            f"{label} > exchange",
            state.error,
            time.perf_counter() - clock,
            state.operator.ledger.products - before,
        )


def _best(runs: list[tuple[UnitState, Trial]]) -> UnitState:
    """The first of the lowest error; errors that differ by rounding alone are tied."""
    lowest = min(state.error for state, _ in runs)
    return next(state for state, _ in runs if state.error <= lowest + least_gain(state, 0.0))


def _starts(problem: Problem, start: UnitState) -> Iterator[tuple[str, UnitState]]:
    """Greedy choices by gain, by gain per cost, and the two best ones after various first units."""
    yield "gain", fill(start, False)
    if start.units.uneven and problem.time_left > 0:
        yield "gain per cost", fill(start, True)
    firsts = first_units(start, FIRSTS) if start.operator.n <= SMALL else []
    seeded: dict[frozenset[int], UnitState] = {}
    for state in (fill(start.added(u), True) for u in firsts if problem.time_left > 0):
        seeded.setdefault(frozenset(state.chosen), state)
    for state in sorted(seeded.values(), key=lambda state: state.error)[:2]:
        yield "first unit, then gain per cost", state


def _columns(problem: Problem, state: UnitState) -> np.ndarray:
    """The columns of the choice; where fewer than k help, the first others too, with a warning."""
    chosen = list(state.chosen)
    if problem.costs is not None or problem.groups is None:
        columns = state.units.columns(chosen)
        return columns if problem.costs is not None else complete(problem, columns)
    if missing := problem.k - len(chosen):
        warnings.warn(
            f"numerical rank reached by {len(chosen)} groups, fewer than k = {problem.k}; the rest "
            "adds nothing",
            RankWarning,
            stacklevel=2,
        )
        chosen += [int(u) for u in np.flatnonzero(state.units.fitting(chosen))[:missing]]
    return state.units.columns(chosen)
