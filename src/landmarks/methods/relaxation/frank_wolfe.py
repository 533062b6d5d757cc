"""Frank–Wolfe over weights that sum to k, while δ increases: exactly k in a few dozen gradients.

Frank and Wolfe, Naval Research Logistics Quarterly 3 (1956). As δ increases, weights between 0 and
1 are worth less and less, which drives the iterates to a corner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._array import host, like
from ...runs.runner import Step, run
from ...runs.state import State
from ..trajectory import Recorder, Trajectory
from .box import highest, largest
from .descent import Descent
from .relaxed import Relaxed


@dataclass(frozen=True)
class FrankWolfe:
    """A constant step towards the best corner, n_steps times, while δ rises geometrically.

    deltas : the first and the last δ, in units of the δ at which n weights k/n have the effective
        dimension k.
    rate : the part of the way to the corner; smallest : weights up to it are left out of the
        systems.
    """

    n_steps: int = 40
    deltas: tuple[float, float] = (0.3, 30.0)
    rate: float = 0.2
    smallest: float = 1e-3

    def choose(self, objective: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Trajectory]:
        """The k indices and the record of the weights; Frank–Wolfe does not use the descent."""
        at = Iterate(_start(objective, k))
        recorder = Recorder(objective.problem.operator.n)
        first = _delta_unit(objective, k) * self.deltas[0]
        steps = self._steps(at, objective, first, recorder)
        run("frank_wolfe", steps, at, recorder, objective, deadline=objective.problem.deadline)
        return largest(at.weights, k), recorder.trajectory()

    def _steps(
        self, at: Iterate, objective: Relaxed, first: float, recorder: Recorder
    ) -> Iterator[Step]:
        rise = self.deltas[1] / self.deltas[0]
        while at.step < self.n_steps:
            objective.delta = first * rise ** (at.step / max(1, self.n_steps - 1))
            gradient = self._gradient(objective, at.weights, recorder)
            corner = _vertex(objective, gradient, objective.problem.k)
            at.weights = at.weights + self.rate * (corner - at.weights)
            at.step += 1
            yield Step(at.step, self.n_steps)

    def _gradient(self, objective: Relaxed, weights: np.ndarray, recorder: Recorder) -> np.ndarray:
        """The gradient on the host; zero for columns of negligible weight, which are left out."""
        n = objective.problem.operator.n
        reference = objective.operator.like
        negligible = min(self.smallest, 0.5 * objective.problem.k / n)  # the weights begin at k/n
        active = np.flatnonzero(weights > negligible)
        t = like(np.minimum(weights[active], highest(reference)), reference)
        result = objective(active, t)
        recorder.add(t, active, result.value, result.solver_steps)
        gradient = np.zeros(n)
        gradient[active] = host(result.gradient)
        return gradient


@dataclass
class Iterate(State):
    """The n weights, which sum to k, and the number of steps."""

    weights: np.ndarray
    step: int = 0


def _delta_unit(objective: Relaxed, k: int) -> float:
    """The δ at which n weights k/n have the effective dimension k, through r = t²/(δ(1 − t²))."""
    t = objective.uniform_weight(k)
    q = min(k / len(objective.problem.candidates), 0.99)
    r = t**2 / (objective.delta * (1 - t**2))
    return q**2 / ((1 - q**2) * r)


def _start(objective: Relaxed, k: int) -> np.ndarray:
    """Included candidates at one, the free ones at the one weight that makes the sum k."""
    problem = objective.problem
    weights = np.zeros(problem.operator.n)
    weights[list(problem.include)] = 1.0
    weights[problem.free] = (k - len(problem.include)) / max(1, len(problem.free))
    return weights


def _vertex(objective: Relaxed, gradient: np.ndarray, k: int) -> np.ndarray:
    """The corner with k ones that is lowest along the gradient."""
    problem = objective.problem
    scores = np.full(problem.operator.n, -np.inf)
    scores[problem.free] = -gradient[problem.free]
    scores[list(problem.include)] = np.inf
    vertex = np.zeros(problem.operator.n)
    vertex[largest(scores, k)] = 1.0
    return vertex
