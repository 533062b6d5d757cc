"""A warm-started λ path: λ rises slowly, the weights go on from where they are, and every k is met on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..optimise.descent import Descent, State, Stop
from ..optimise.path import Path, Recorder
from ..rounding import largest
from .relaxed import Relaxed


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

    def choose_many(self, relaxed: Relaxed, descent: Descent, sizes: list[int]) -> tuple[dict[int, np.ndarray], Path]:
        """For each size, the largest weights at the moment when the active columns fall to it."""
        recorder: Recorder = Recorder(relaxed.operator.n)
        found: dict[int, np.ndarray] = {}
        descent = replace(descent, stop=Stop(max_steps=1))
        state, penalty = relaxed.start(), self.start * relaxed.penalty_unit(relaxed.uniform_weight(max(sizes)))
        missing = sorted(sizes, reverse=True)
        for _ in range(self.max_steps):
            before = self._weights(relaxed, state)
            state = descent.run(relaxed, state, penalty, at_least=1, recorder=recorder)
            left = int(np.sum(self._weights(relaxed, state) > descent.epsilon))
            while missing and left <= missing[0]:
                k = missing.pop(0)
                found[k] = largest(before, k)
            if not missing or relaxed.problem.time_left <= 0:
                break
            penalty *= self.growth
        last = self._weights(relaxed, state)
        return found | {k: largest(last, k) for k in missing}, recorder.path()

    def _weights(self, relaxed: Relaxed, state: State) -> np.ndarray:
        weights = state.weights(relaxed.operator.n)
        weights[list(relaxed.problem.include)] = 2.0
        return weights
