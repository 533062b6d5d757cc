"""Greedy choices of units: the one of the largest gain, or gain per cost, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._array import Array, first_argmax
from ...runs.runner import Step, run
from ...runs.state import State
from .blocks import Blocks
from .state import UnitState
from .units import Units


class Found(NamedTuple):
    """Chosen units, and the error of them."""

    chosen: tuple[int, ...]
    error: float


def fill(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> UnitState:
    """Add the unit of the largest gain, or gain per cost, while one helps, fits and is allowed."""
    while (unit := _next(state, per_cost, barred)) is not None:
        state = state.added(unit)
    return state


def _next(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> int | None:
    # what costs nothing comes first
    floor = 1e-12 * max(float(np.max(state.units.costs)), np.finfo(float).tiny)
    worth = np.maximum(state.units.costs, floor) if per_cost else 1.0
    gains, unit = best_unit(state.blocks, state.units, list(state.chosen), barred, worth)
    return unit if gains[unit] > 0 else None


@dataclass
class Growing(State):
    """A choice while units are added: all that a `UnitState` computes of it."""

    chosen: list[int]
    F: Array
    stacks: list[list[Array]]
    error: float = 0.0

    def keep(self, state: UnitState) -> None:
        """Take over the numbers of a state."""
        self.chosen, self.F, self.stacks = list(state.chosen), state.F, state.blocks.stacks
        self.error = state.error

    def state(self, like: UnitState) -> UnitState:
        """The state of these numbers."""
        of_K = like.of_K
        blocks = Blocks(of_K.pair, of_K.buckets, self.stacks, of_K.floor, self.error)
        return replace(like, chosen=tuple(self.chosen), F=self.F, blocks=blocks, basis=None)


def greedy(state: UnitState, per_cost: bool) -> Found:
    """What `fill` finds; a resumed run goes on with the units that were added."""
    growing = Growing(list(state.chosen), state.F, state.blocks.stacks, state.error)

    def steps() -> Iterator[Step]:
        grown = growing.state(state)
        while (unit := _next(grown, per_cost)) is not None:
            grown = grown.added(unit)
            growing.keep(grown)
            yield Step(len(grown.chosen), None, relative(state, grown.error))

    run("greedy", steps(), growing)
    filled = fill(growing.state(state), per_cost)
    return Found(filled.chosen, filled.error)


def relative(state: UnitState, error: float) -> float:
    return error / (state.of_K.error or 1.0)


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
