"""Greedy filling of a choice of units, and exchanges that lower its error within the limits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ..._array import first_argmax, is_single
from ...problem import Problem
from ...residual.base import error_rounding
from ...residual.explicit import Factored
from ...runs.progress import report
from .blocks import Blocks
from .state import UnitState
from .units import Units

PAIRS, REFILLED = (
    2000,
    100,
)  # pairs of chosen units up to which one unit, or a greedy filling, is tried in the place of two


def fill(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> UnitState:
    """Add the unit of the largest gain, or gain per cost, while one fits, helps and is not barred."""
    floor = 1e-12 * max(
        float(np.max(state.units.costs)), np.finfo(float).tiny
    )  # what costs nothing comes first
    worth = np.maximum(state.units.costs, floor) if per_cost else 1.0
    while True:
        gains, unit = best_unit(state.blocks, state.units, list(state.chosen), barred, worth)
        if gains[unit] <= 0:
            return state
        state = state.added(unit)


def exchange(
    problem: Problem, state: UnitState, moves: tuple[Move, ...], limit: int | None
) -> UnitState:
    """Make the first of the moves that pays, again and again until none does, the time is up or the limit is reached."""
    done = 0
    while (
        (limit is None or done < limit)
        and problem.time_left > 0
        and not report("exchange", done, limit, state.error / (state.of_K.error or 1.0))
    ):
        better = next(
            (found for move in moves if (found := move(problem, state)) is not None), None
        )
        if better is None:
            return state
        state, done = better, done + 1
    return state


def one_for_one(problem: Problem, state: UnitState) -> UnitState | None:
    """The state after the best swap of a unit, if one pays."""
    return _exchanged(state, [(u,) for u in _loose(state)])


def one_for_two(problem: Problem, state: UnitState) -> UnitState | None:
    """The state after one unit took the place of two, if that pays and the pairs are not too many."""
    pairs = list(itertools.combinations(_loose(state), 2))
    return _exchanged(state, pairs) if len(pairs) <= PAIRS else None


def refilled(problem: Problem, state: UnitState) -> UnitState | None:
    """The first state that is better after taking out one unit, or two, and filling up without them by either greedy rule."""
    loose = _loose(state)
    pairs = list(itertools.combinations(loose, 2))
    for out in [(u,) for u in loose] + (pairs if len(pairs) <= REFILLED else []):
        if problem.time_left <= 0:
            return None
        remaining = state.loaded([u for u in state.chosen if u not in out])
        for per_cost in (False, True):
            if (
                better := _if_better(state, fill(remaining, per_cost, barred=out).chosen)
            ) is not None:
                return better
    return None


Move = Callable[[Problem, UnitState], UnitState | None]
SINGLE: tuple[Move, ...] = (one_for_one,)
SEVERAL: tuple[Move, ...] = (one_for_two, refilled)


def _exchanged(state: UnitState, removals: Sequence[tuple[int, ...]]) -> UnitState | None:
    """The state after the best exchange of some removal for one unit, filled up where something still fits; None when none pays."""
    best, chosen = 0.0, None
    for out in removals:
        blocks, remaining = state.without(out), [u for u in state.chosen if u not in out]
        gains, unit = best_unit(blocks, state.units, remaining, out)
        net = gains[unit] - (blocks.error - state.error)
        if net > max(best, least_gain(state, blocks.error)):
            best, chosen = net, [*remaining, unit]
    return None if chosen is None else _if_better(state, chosen)


def _loose(state: UnitState) -> list[int]:
    return [u for u in state.chosen if not state.units.fixed[u]]


def _if_better(state: UnitState, chosen: Sequence[int]) -> UnitState | None:
    """The chosen units from scratch, filled up, when that is better beyond rounding than the state; else None."""
    other = fill(state.loaded(chosen), True)
    return other if other.error < state.error - least_gain(state, 0.0) else None


def least_gain(state: UnitState, scale: float) -> float:
    """What an exchange must gain at least: a part of the errors on the way, and more than the rounding of the whole."""
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
    """The gain of every unit that fits, zero for the others, and the first of the largest gain for what it is worth."""
    fits = units.fitting(chosen)
    fits[list(barred)] = False
    gains = np.where(fits, blocks.gains(), 0.0)
    return gains, first_argmax(gains / worth)


def first_units(state: UnitState, most: int) -> list[int]:
    """The units of the largest gains."""
    gains, _ = best_unit(state.blocks, state.units, list(state.chosen), ())
    return [int(u) for u in np.argsort(-gains, kind="stable")[:most] if gains[u] > 0]
