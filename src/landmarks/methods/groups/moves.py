"""Exchanges of units that lower the error of a choice within its limits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..._array import is_single
from ...operators.forms import Factored
from ...problem import Problem
from ...residual.base import error_rounding
from ...runs.runner import Step, run
from ...runs.state import State
from .filling import Found, best_unit, fill, relative
from .state import UnitState
from .units import Units

PAIRS = 2000  # up to this many pairs of chosen units, one unit is tried in place of two
REFILLED = 100  # up to this many pairs of chosen units, refilling greedily is tried


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
    run("exchange", _exchanges(start, now, several, limit), now, deadline=problem.deadline)
    return Found(now.chosen, now.error)


def _exchanges(
    start: UnitState, now: Exchanging, several: bool, limit: int | None
) -> Iterator[Step]:
    """One move at a step; what is kept of the choice is enough to go on from there."""
    removals = _removals(start.units, now.chosen) if several else []
    while now.tried <= len(removals) and (limit is None or now.made < limit):
        yield Step(now.made, limit, relative(start, now.error))
        if now.tried == 0:
            state = start.loaded(now.chosen) if now.made else start
            better = one_for_one(state) or (one_for_two(state) if several else None)
        else:
            better = refilled(start, Found(now.chosen, now.error), removals[now.tried - 1])
        now.tried += 1
        if better is not None:
            now.chosen, now.error = better
            now.made, now.tried = now.made + 1, 0
            removals = _removals(start.units, now.chosen) if several else []


def one_for_one(state: UnitState) -> Found | None:
    """The choice after the best swap of a unit, if one lowers the error."""
    return _exchanged(state, [(u,) for u in _loose(state.units, state.chosen)])


def one_for_two(state: UnitState) -> Found | None:
    """The choice after one unit replaced two, if that lowers the error and pairs are few."""
    pairs = list(itertools.combinations(_loose(state.units, state.chosen), 2))
    return _exchanged(state, pairs) if len(pairs) <= PAIRS else None


def refilled(start: UnitState, now: Found, out: tuple[int, ...]) -> Found | None:
    """The choice after taking out some units and filling up without them, if that helps."""
    remaining = start.loaded([u for u in now.chosen if u not in out])
    for per_cost in (False, True):
        filled = fill(remaining, per_cost, barred=out)
        better = _if_better(start, now.error, filled.chosen) if filled.error < now.error else None
        if better is not None:
            return better
    return None


def _removals(units: Units, chosen: Sequence[int]) -> list[tuple[int, ...]]:
    """The units that a greedy filling may replace: one of them, or two where there are few."""
    loose = _loose(units, chosen)
    pairs: list[tuple[int, ...]] = list(itertools.combinations(loose, 2))
    single: list[tuple[int, ...]] = [(u,) for u in loose]
    return single + pairs if len(pairs) <= REFILLED else single


def _exchanged(state: UnitState, removals: Sequence[tuple[int, ...]]) -> Found | None:
    """The choice after replacing a removal by the best unit, filled up; None if none helps."""
    best = 0.0
    chosen: list[int] | None = None
    for out in removals:
        blocks = state.without(out)
        remaining = [u for u in state.chosen if u not in out]
        gains, unit = best_unit(blocks, state.units, remaining, out)
        net = gains[unit] - (blocks.error - state.error)
        if net > max(best, least_gain(state, state.error, blocks.error)):
            best = net
            chosen = [*remaining, unit]
    return None if chosen is None else _if_better(state, state.error, chosen)


def _loose(units: Units, chosen: Sequence[int]) -> list[int]:
    return [u for u in chosen if not units.fixed[u]]


def _if_better(state: UnitState, error: float, chosen: Sequence[int]) -> Found | None:
    """The chosen units from scratch, filled up; None unless they are better beyond rounding."""
    other = fill(state.loaded(chosen), True)
    if other.error >= error - least_gain(state, error):
        return None
    return Found(other.chosen, other.error)


def least_gain(state: UnitState, error: float, scale: float = 0.0) -> float:
    """What an exchange must gain at least: a share of the errors on the way, and no rounding."""
    tolerance = 1e-6 if is_single(state.operator.like) else 1e-9
    certain = 1e-12 if isinstance(state.operator, Factored) else tolerance
    rounding = error_rounding(state.operator, state.depth, error, state.of_K.error)
    return max(tolerance * error + certain * scale, rounding)
