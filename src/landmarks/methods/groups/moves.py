"""Greedy filling of a choice of units, and exchanges that lower its error within the limits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..._array import first_argmax, is_single
from ...operators.dense import Factored
from ...problem import Problem
from ...residual.base import error_rounding
from ...runs.runner import Step, run
from .blocks import Blocks
from .state import UnitState
from .units import Units

PAIRS = 2000  # of chosen units, up to which one unit is tried in the place of two
REFILLED = 100  # pairs of chosen units, up to which a greedy filling is tried in their place


def fill(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> UnitState:
    """Add the unit of the largest gain, or gain per cost, while one helps, fits and is allowed."""
    # what costs nothing comes first
    floor = 1e-12 * max(float(np.max(state.units.costs)), np.finfo(float).tiny)
    worth = np.maximum(state.units.costs, floor) if per_cost else 1.0
    while True:
        gains, unit = best_unit(state.blocks, state.units, list(state.chosen), barred, worth)
        if gains[unit] <= 0:
            return state
        state = state.added(unit)


def exchange(
    problem: Problem, state: UnitState, moves: tuple[Move, ...], limit: int | None
) -> UnitState:
    """Make the first of the moves that pays, until none does or the limit is reached."""
    best, made = state, 0

    def steps() -> Iterator[Step]:
        nonlocal best, made
        while limit is None or made < limit:
            yield Step(made, limit, best.error / (best.of_K.error or 1.0))
            tried = (move(problem, best) for move in moves)
            better = next((found for found in tried if found is not None), None)
            if better is None:
                return
            best, made = better, made + 1

    run("exchange", steps(), deadline=problem.deadline)
    return best


def one_for_one(problem: Problem, state: UnitState) -> UnitState | None:
    """The state after the best swap of a unit, if one pays."""
    return _exchanged(state, [(u,) for u in _loose(state)])


def one_for_two(problem: Problem, state: UnitState) -> UnitState | None:
    """The state after one unit took the place of two, if that pays and there are few pairs."""
    pairs = list(itertools.combinations(_loose(state), 2))
    return _exchanged(state, pairs) if len(pairs) <= PAIRS else None


def refilled(problem: Problem, state: UnitState) -> UnitState | None:
    """The first better state after taking out one or two units and filling up without them."""
    loose = _loose(state)
    pairs = list(itertools.combinations(loose, 2))
    for out in [(u,) for u in loose] + (pairs if len(pairs) <= REFILLED else []):
        if problem.time_left <= 0:
            return None
        remaining = state.loaded([u for u in state.chosen if u not in out])
        for per_cost in (False, True):
            filled = fill(remaining, per_cost, barred=out)
            if filled.error >= state.error:
                continue
            if (better := _if_better(state, filled.chosen)) is not None:
                return better
    return None


Move = Callable[[Problem, UnitState], UnitState | None]
SINGLE: tuple[Move, ...] = (one_for_one,)
SEVERAL: tuple[Move, ...] = (one_for_two, refilled)


def _exchanged(state: UnitState, removals: Sequence[tuple[int, ...]]) -> UnitState | None:
    """The state after the best exchange of a removal for one unit, filled up; None if none pays."""
    best = 0.0
    chosen: list[int] | None = None
    for out in removals:
        blocks = state.without(out)
        remaining = [u for u in state.chosen if u not in out]
        gains, unit = best_unit(blocks, state.units, remaining, out)
        net = gains[unit] - (blocks.error - state.error)
        if net > max(best, least_gain(state, blocks.error)):
            best = net
            chosen = [*remaining, unit]
    return None if chosen is None else _if_better(state, chosen)


def _loose(state: UnitState) -> list[int]:
    return [u for u in state.chosen if not state.units.fixed[u]]


def _if_better(state: UnitState, chosen: Sequence[int]) -> UnitState | None:
    """The chosen units from scratch, filled up; None unless better beyond rounding."""
    other = fill(state.loaded(chosen), True)
    return other if other.error < state.error - least_gain(state, 0.0) else None


def least_gain(state: UnitState, scale: float) -> float:
    """What an exchange must gain at least: a share of the errors on the way, and no rounding."""
    tolerance = 1e-6 if is_single(state.operator.like) else 1e-9
    certain = 1e-12 if isinstance(state.operator, Factored) else tolerance
    rounding = error_rounding(state.operator, state.powers, state.error, state.of_K.error)
    return max(tolerance * state.error + certain * scale, rounding)


def best_unit(
    blocks: Blocks,
    units: Units,
    chosen: list[int],
    barred: tuple[int, ...],
    worth: np.ndarray | float = 1.0,
) -> tuple[np.ndarray, int]:
    """The gain of every unit that fits, zero for others; the unit of the largest gain per worth."""
    fits = units.fitting(chosen)
    fits[list(barred)] = False
    gains = np.where(fits, blocks.gains(), 0.0)
    return gains, first_argmax(gains / worth)


def first_units(state: UnitState, most: int) -> list[int]:
    """The units of the largest gains."""
    gains, _ = best_unit(state.blocks, state.units, list(state.chosen), ())
    return [int(u) for u in np.argsort(-gains, kind="stable")[:most] if gains[u] > 0]
