"""Frank–Wolfe over the weights that sum to k, while δ rises: exactly k in a few dozen gradients.

Frank and Wolfe, Naval Research Logistics Quarterly 3 (1956). As δ rises, weights between 0 and 1 are worth less and
less, so the iterates are driven to a corner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._array import host, is_single, like
from ...relaxation_path import Path, Recorder
from ...runs.journal import Loop, Variables
from .descent import Descent
from .relaxed import Relaxed
from .rounding import largest


@dataclass(frozen=True)
class FrankWolfe:
    """A constant step towards the best corner, n_steps times, while δ rises geometrically.

    deltas : the first and the last δ, in units of the δ at which n weights k/n are together worth k columns.
    rate : the part of the way to the corner; smallest : weights below it are left out of the systems.
    """

    n_steps: int = 40
    deltas: tuple[float, float] = (0.3, 30.0)
    rate: float = 0.2
    smallest: float = 1e-3

    def choose(self, relaxed: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Path]:
        """The k indices and the path of the weights."""
        v, recorder = Variables(weights=_start(relaxed, k), step=0), Recorder(relaxed.operator.n)
        unit = _delta_unit(relaxed, k)
        with Loop("frank_wolfe", v, recorder, relaxed) as loop:
            while v.step < self.n_steps:
                relaxed.delta = (
                    unit
                    * self.deltas[0]
                    * (self.deltas[1] / self.deltas[0]) ** (v.step / max(1, self.n_steps - 1))
                )
                gradient = self._gradient(relaxed, v.weights, recorder)
                v.weights = v.weights + self.rate * (_vertex(relaxed, gradient, k) - v.weights)
                v.step += 1
                if loop.turn(v.step, self.n_steps) or relaxed.problem.time_left <= 0:
                    break
        return largest(v.weights, k), recorder.path()

    def _gradient(self, relaxed: Relaxed, weights: np.ndarray, recorder: Recorder) -> np.ndarray:
        """The gradient on the host; columns of negligible weight are left out of the system and keep zero."""
        negligible = min(
            self.smallest, 0.5 * relaxed.problem.k / relaxed.operator.n
        )  # the weights begin at k/n
        active = np.flatnonzero(weights > negligible)
        highest = 1 - (1e-4 if is_single(relaxed.operator.like) else 1e-6)
        t = like(np.minimum(weights[active], highest), relaxed.operator.like)
        result = relaxed(active, t)
        recorder.add(t, active, result.value, result.steps)
        gradient = np.zeros(relaxed.operator.n)
        gradient[active] = host(result.gradient)
        return gradient


def _delta_unit(relaxed: Relaxed, k: int) -> float:
    """The δ at which every weight k/n, with its d = t²/(δ(1 − t²)), makes the candidates worth k columns."""
    t, q = relaxed.uniform_weight(k), min(k / len(relaxed.problem.candidates), 0.99)
    d = t**2 / (relaxed.delta * (1 - t**2))
    return q**2 / ((1 - q**2) * d)


def _start(relaxed: Relaxed, k: int) -> np.ndarray:
    """Included candidates at one, the free ones at the one weight that makes the sum k."""
    problem = relaxed.problem
    weights = np.zeros(problem.operator.n)
    weights[list(problem.include)] = 1.0
    weights[problem.free] = (k - len(problem.include)) / max(1, len(problem.free))
    return weights


def _vertex(relaxed: Relaxed, gradient: np.ndarray, k: int) -> np.ndarray:
    """The corner with k ones that is lowest along the gradient."""
    problem = relaxed.problem
    scores = np.full(problem.operator.n, -np.inf)
    scores[problem.free] = -gradient[problem.free]
    scores[list(problem.include)] = np.inf
    vertex = np.zeros(problem.operator.n)
    vertex[largest(scores, k)] = 1.0
    return vertex
