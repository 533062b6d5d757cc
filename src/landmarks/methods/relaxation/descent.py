"""Descent in w under a penalty on Σt: step, freeze what reached zero, stop (lines 2 to 5 of Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from ..._array import Array, host, like, namespace, take
from ...relaxation_path import Recorder
from ...runs.journal import Loop
from .box import chain, from_box, highest, to_box
from .steps import SGD, Step, narrow_state


class Evaluated(Protocol):
    """A value and a gradient over the active columns."""

    @property
    def value(self) -> float: ...
    @property
    def gradient(self) -> Array: ...
    @property
    def steps(self) -> int: ...


Evaluate = Callable[[np.ndarray, Array], Evaluated]


@dataclass(frozen=True, eq=False)
class State:
    """The active columns, their w, and which of them are held at their weight."""

    indices: np.ndarray
    w: Array
    held: Array

    @property
    def t(self) -> Array:
        """The weights of the active columns."""
        return to_box(self.w)

    def weights(self, n: int) -> np.ndarray:
        """All n weights on the host; frozen columns have zero."""
        weights = np.zeros(n)
        weights[self.indices] = host(self.t)
        return weights

    def moved(self, change: Array, clip: float) -> State:
        """After a change of w, clipped, and never past zero: w and −w are the same weight."""
        xp = namespace(self.w)
        w = xp.clip(self.w + xp.clip(change, min=-clip, max=clip), min=0.0)
        return State(self.indices, xp.where(self.held, self.w, w), self.held)


def start_at(t: float, indices: np.ndarray, held: np.ndarray, reference: Array) -> State:
    """The active columns at one weight, except those held, which stay at the highest."""
    xp = namespace(reference)
    weights = np.where(held, highest(reference), t)
    return State(indices, from_box(like(weights, reference)), like(held, reference, dtype=xp.bool))


@dataclass(frozen=True)
class Stop:
    """The termination condition of Algorithm 1.

    Stop after max_steps; or when no weight moved by more than the tolerance for `patience` steps in a row; or, since
    stochastic gradients never let the weights rest, when no column was frozen for `settled` steps.
    """

    max_steps: int = 500
    tolerance: float = 1e-3
    patience: int = 10
    settled: int = 100


@dataclass
class Walk:
    """Where a descent is: the state, the memory of the step rule, steps made, calm ones in a row, the last that froze a column."""

    state: State
    memory: tuple[Array, ...]
    step: int = 0
    calm: int = 0
    frozen: int = 0
    ended: bool = False
    kept: ClassVar = ("state", "memory", "step", "calm", "frozen", "ended")


@dataclass(frozen=True)
class Descent:
    """How to descend.

    step : the rule, in units of the penalty; clip : the largest change of a w in one step;
    epsilon : the weight below which a column is frozen at zero for good (Section 3.4); stop : when to stop.
    """

    step: Step = field(default_factory=lambda: SGD(0.1))
    clip: float = 0.1
    epsilon: float = 0.0
    stop: Stop = field(default_factory=Stop)

    def run(
        self,
        evaluate: Evaluate,
        start: State,
        penalty: float,
        *,
        at_least: int = 0,
        recorder: Recorder | None = None,
    ) -> State:
        """Descend from the start until the stopping rule holds, or fewer than `at_least` columns would stay active."""
        walk = Walk(start, self.step.start(start.w))
        with Loop("descent", walk, recorder, evaluate) as loop:
            while walk.step < self.stop.max_steps and not walk.ended:
                self._advance(walk, evaluate, penalty, at_least, recorder)
                if loop.turn(walk.step, self.stop.max_steps):
                    break
        return walk.state

    def _advance(
        self,
        walk: Walk,
        evaluate: Evaluate,
        penalty: float,
        at_least: int,
        recorder: Recorder | None,
    ) -> None:
        """One step, and whether it was the last."""
        state, i, t = walk.state, walk.step, walk.state.t
        result = evaluate(state.indices, t)
        if recorder is not None:
            recorder.add(t, state.indices, result.value, result.steps)
        change, memory = self.step.update(
            chain(result.gradient / penalty + 1, state.w), walk.memory, i
        )
        moved = state.moved(change, self.clip)
        alive = np.flatnonzero(host((moved.t > self.epsilon) | moved.held))
        walk.step = i + 1
        if len(alive) < at_least or len(alive) == 0:
            walk.state, walk.ended = moved, True
            return
        walk.calm = walk.calm + 1 if _largest(moved.t - t) <= self.stop.tolerance else 0
        walk.frozen = i if len(alive) < len(state.indices) else walk.frozen
        walk.state, walk.memory = _narrow(moved, memory, alive)
        walk.ended = walk.calm >= self.stop.patience or i - walk.frozen >= self.stop.settled


def _narrow(
    state: State, memory: tuple[Array, ...], alive: np.ndarray
) -> tuple[State, tuple[Array, ...]]:
    if len(alive) == len(state.indices):
        return state, memory
    return State(state.indices[alive], take(state.w, alive), take(state.held, alive)), narrow_state(
        memory, alive
    )


def _largest(change: Array) -> float:
    xp = namespace(change)
    return float(xp.max(xp.abs(change)))
