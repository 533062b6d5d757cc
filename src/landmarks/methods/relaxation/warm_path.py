"""A warm-started λ path: λ rises slowly, the weights go on from where they are, and every k is met on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...relaxation_path import Path, Recorder
from ...runs.journal import Loop, Variables
from .descent import Descent, State, Stop
from .relaxed import Relaxed
from .rounding import largest


@dataclass(frozen=True)
class WarmPath:
    """One sweep of rising λ; `choose_many` serves many k from it.

    growth : the factor of λ after every gradient; slower is better and dearer.
    start : the first λ, in units of the median gradient where all candidates together are worth the largest k. Much
        below it weights saturate at one before λ bites; much above it columns drop out before they differ.
    """

    growth: float = 1.01
    start: float = 1.0
    max_steps: int = 3000

    def choose(self, relaxed: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Path]:
        """The k indices and the path of the sweep down to k columns."""
        found, path = self.choose_many(relaxed, descent, [k])
        return found[k], path

    def choose_many(
        self, relaxed: Relaxed, descent: Descent, sizes: list[int]
    ) -> tuple[dict[int, np.ndarray], Path]:
        """For each size, the largest weights at the moment when the active columns fall to it."""
        recorder: Recorder = Recorder(relaxed.operator.n)
        descent = replace(descent, stop=Stop(max_steps=1))
        penalty = self.start * relaxed.penalty_unit(relaxed.uniform_weight(max(sizes)))
        v = Variables(
            state=relaxed.start(),
            penalty=penalty,
            step=0,
            found={},
            missing=sorted(sizes, reverse=True),
        )
        with Loop("path", v, recorder, relaxed) as loop:
            while v.missing and v.step < self.max_steps:
                self._advance(v, relaxed, descent, recorder)
                if loop.turn(v.step, self.max_steps) or relaxed.problem.time_left <= 0:
                    break
        last = self._weights(relaxed, v.state)
        return v.found | {k: largest(last, k) for k in v.missing}, recorder.path()

    def _advance(
        self, v: Variables, relaxed: Relaxed, descent: Descent, recorder: Recorder
    ) -> None:
        """One step of the descent, the sizes that it passed, and a larger λ."""
        before = self._weights(relaxed, v.state)
        v.state = descent.run(relaxed, v.state, v.penalty, at_least=1, recorder=recorder)
        left = int(np.sum(self._weights(relaxed, v.state) > descent.epsilon))
        while v.missing and left <= v.missing[0]:
            k = v.missing.pop(0)
            v.found[k] = largest(before, k)
        v.penalty *= self.growth
        v.step += 1

    def _weights(self, relaxed: Relaxed, state: State) -> np.ndarray:
        weights = state.weights(relaxed.operator.n)
        weights[list(relaxed.problem.include)] = 2.0
        return weights
