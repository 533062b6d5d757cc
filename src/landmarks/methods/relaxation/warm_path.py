"""A warm path: λ increases slowly, each step starts from the last weights, so every k is met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ...runs.runner import Step, run
from ...runs.state import State
from ..trajectory import Recorder, Trajectory
from .algorithm_1 import sgd, start
from .box import Weights, largest
from .descent import Descent
from .relaxed import Relaxed
from .stopping import Steps


@dataclass(frozen=True)
class WarmPath:
    """One sweep of increasing λ; `choose_many` gives the choices for many k from it.

    growth : the factor of λ after every gradient; slower is better and costs more.
    start : the first λ, in units of the median gradient where the effective dimension of all
        candidates is the largest k. Much below it weights saturate at one before λ has an effect;
        much above it columns drop out before their weights differ.
    """

    growth: float = 1.01
    start: float = 1.0
    max_steps: int = 3000

    def choose(self, objective: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Trajectory]:
        """The k indices and the record of the sweep down to k columns."""
        found, path = self.choose_many(objective, descent, [k])
        return found[k], path

    def choose_many(
        self, objective: Relaxed, descent: Descent, sizes: list[int]
    ) -> tuple[dict[int, np.ndarray], Trajectory]:
        """For each size, the largest weights just before the active columns fall to it."""
        problem = objective.problem
        recorder = Recorder(objective.problem.operator.n)
        penalty = self.start * objective.penalty_unit(objective.uniform_weight(max(sizes)))
        sweep = Sweep(start(problem), penalty, sorted(sizes, reverse=True))
        steps = self._steps(sweep, objective, descent, recorder)
        run("path", steps, sweep, recorder, objective, deadline=problem.deadline)
        last = sweep.weights.t(problem)
        return sweep.found | {k: largest(last, k) for k in sweep.missing}, recorder.trajectory()

    def _steps(
        self, sweep: Sweep, objective: Relaxed, descent: Descent, recorder: Recorder
    ) -> Iterator[Step]:
        problem = objective.problem
        one_step = replace(descent, stop=Steps(1), at_least=1)
        while sweep.missing and sweep.step < self.max_steps:
            before = sweep.weights.t(problem)
            sweep.weights = sgd(objective, sweep.weights, sweep.penalty, one_step, recorder)
            left = int(np.sum(sweep.weights.t(problem) > descent.epsilon))
            while sweep.missing and left <= sweep.missing[0]:
                k = sweep.missing.pop(0)
                sweep.found[k] = largest(before, k)
            sweep.penalty *= self.growth
            sweep.step += 1
            yield Step(sweep.step, self.max_steps)


@dataclass
class Sweep(State):
    """The weights, the λ of the next step, and the sizes not reached and reached so far."""

    weights: Weights
    penalty: float
    missing: list[int]
    found: dict[int, np.ndarray] = field(default_factory=dict)
    step: int = 0
