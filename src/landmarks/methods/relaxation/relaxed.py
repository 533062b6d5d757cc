"""A relaxation ready to be descended: operator, objective, δ, probes and solver in one callable."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..._array import Array, host, like
from ...errors import ConvergenceWarning
from ...linalg.probes import Probes, Rademacher
from ...linalg.solution import Solver
from ...operators.base import Operator
from ...problem import Problem
from .descent import State, start_at
from .dimension import effective_dimension
from .evaluation import Evaluation, Objective
from .system import Active


@dataclass(eq=False)
class Relaxed:
    """Evaluates the objective over the active candidates and counts.

    The probes are fresh each time: with fixed ones the descent fits their noise. unit is the mean diagonal of K,
    in which a relative δ is stated; delta is absolute.
    """

    problem: Problem
    objective: Objective
    unit: float
    delta: float
    probes: Probes
    solver: Solver
    rng: np.random.Generator
    evaluations: int = 0
    unconverged: int = 0
    _active: Active | None = field(default=None, repr=False)
    kept: ClassVar = ("evaluations", "unconverged", "active")

    @property
    def operator(self) -> Operator:
        """K."""
        return self.problem.operator

    def __call__(self, indices: np.ndarray, t: Array) -> Evaluation:
        """The value and the gradient at the weights t of the candidates at the indices."""
        result = self.objective.evaluate(
            self._active_at(indices), t, self.delta, self._draw(), self.solver
        )
        self.evaluations += 1
        self.unconverged += not result.converged
        return result

    @property
    def active(self) -> np.ndarray | None:
        """The candidates whose principal submatrix is at hand."""
        return None if self._active is None else self._active.indices

    @active.setter
    def active(self, indices: np.ndarray | None) -> None:
        self._active = None if indices is None else Active(self.operator, indices)
        if self._active is not None:
            self._active.principal  # noqa: B018  # made again now, so that the ledger, put back next, does not count it twice

    def start(self) -> State:
        """All candidates at t = 1/2, the included ones held near one (line 2 of Algorithm 1)."""
        candidates = self.problem.candidates
        return start_at(
            0.5, candidates, np.isin(candidates, self.problem.include), self.operator.like
        )

    def penalty_unit(self, t: float = 0.5) -> float:
        """The median |gradient| with every candidate at one weight: the unit of a relative penalty."""
        candidates = self.problem.candidates
        gradient = np.abs(
            host(self(candidates, like(np.full(len(candidates), t), self.operator.like)).gradient)
        )
        return float(np.median(gradient)) or float(np.max(gradient)) or 1.0

    def uniform_weight(self, k: int, steps: int = 8) -> float:
        """The one weight for every candidate at which they are together worth k columns, by bisection."""
        active = self._active_at(self.problem.candidates)
        low, high = -12.0, 12.0
        for _ in range(steps):
            middle = (low + high) / 2
            t = like(np.full(len(active), _logistic(middle)), self.operator.like)
            enough = effective_dimension(active, t, self.delta, self._draw(), self.solver) >= k
            self.evaluations += 1
            low, high = (low, middle) if enough else (middle, high)
        return min(_logistic((low + high) / 2), 0.99)

    def warn_if_unconverged(self) -> None:
        """One warning for all evaluations whose solver stopped at its limit."""
        if self.unconverged:
            warnings.warn(
                f"the solver stopped at its limit in {self.unconverged} of {self.evaluations} gradients; raise its max_steps, or delta",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _active_at(self, indices: np.ndarray) -> Active:
        if self._active is None or not np.array_equal(self._active.indices, indices):
            self._active = Active(self.operator, indices)
        return self._active

    def _draw(self) -> Array:
        return self.probes.draw(self.operator.n, self.rng, self.operator.like)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def mean_diagonal(operator: Operator, rng: np.random.Generator) -> float:
    """The mean diagonal entry of K, estimated from ten probes when reading it is not cheap."""
    if "diagonal" in operator.cheap:
        return float(np.mean(host(operator.diagonal()).astype(np.float64))) or 1.0
    Z = Rademacher(10).draw(operator.n, rng, operator.like)
    return float(np.mean(host(Z * operator.matmul(Z)).astype(np.float64))) or 1.0
