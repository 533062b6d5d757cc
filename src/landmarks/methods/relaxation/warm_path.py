"""A warm path of λ: λ rises slowly, the weights go on from where they are, every k is passed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...relaxation_path import Path, Recorder
from ...runs.journal import Loop, Variables
from .algorithm_1 import Descent, sgd, start
from .box import largest
from .objective import Objective
from .stopping import Steps


@dataclass(frozen=True)
class WarmPath:
    """One sweep of rising λ; `choose_many` serves many k from it.

    growth : the factor of λ after every gradient; slower is better and costs more.
    start : the first λ, in units of the median gradient where the effective dimension of all
        candidates is the largest k. Much below it weights saturate at one before λ has an effect;
        much above it columns drop out before their weights differ.
    """

    growth: float = 1.01
    start: float = 1.0
    max_steps: int = 3000

    def choose(self, objective: Objective, descent: Descent, k: int) -> tuple[np.ndarray, Path]:
        """The k indices and the record of the sweep down to k columns."""
        found, path = self.choose_many(objective, descent, [k])
        return found[k], path

    def choose_many(
        self, objective: Objective, descent: Descent, sizes: list[int]
    ) -> tuple[dict[int, np.ndarray], Path]:
        """For each size, the largest weights just before the active columns fall to it."""
        problem, recorder = objective.problem, Recorder(objective.operator.n)
        one_step = replace(descent, stop=Steps(1), at_least=1)
        penalty = self.start * objective.penalty_unit(objective.uniform_weight(max(sizes)))
        missing = sorted(sizes, reverse=True)
        v = Variables(weights=start(problem), penalty=penalty, step=0, found={}, missing=missing)
        with Loop("path", v, recorder, objective) as loop:
            while v.missing and v.step < self.max_steps:
                before = v.weights.t(problem)
                v.weights = sgd(objective, v.weights, v.penalty, one_step, recorder)
                left = int(np.sum(v.weights.t(problem) > descent.epsilon))
                while v.missing and left <= v.missing[0]:
                    k = v.missing.pop(0)
                    v.found[k] = largest(before, k)
                v.penalty *= self.growth
                v.step += 1
                if loop.turn(v.step, self.max_steps) or problem.time_left <= 0:
                    break
        last = v.weights.t(problem)
        return v.found | {k: largest(last, k) for k in v.missing}, recorder.path()
