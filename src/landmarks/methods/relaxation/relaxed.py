"""The objective of one problem as a function of the weights: K, f or g, δ, probes and solver."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..._array import Array, host, like, namespace
from ...errors import ConvergenceWarning
from ...linalg.probes import Probes, Rademacher
from ...linalg.solvers.solution import Solver
from ...operators.base import Operator
from ...operators.pair import Pair
from ...problem import Problem
from ...runs.state import State
from .gradients import Evaluation
from .system import Active

Gradient = Callable[[Active, Array, float, Array, Solver], Evaluation]


@dataclass(eq=False)
class Relaxed(State):
    """Evaluates f or g and its gradient over the active columns, and counts the evaluations.

    The probes are fresh each time: with fixed ones the descent fits their noise.
    With a target the probes stand on the columns that count, and with noise L_t has it on its
    diagonal: the derivations use nothing else of either.

    mean_diagonal : of K, the unit of a relative δ; delta : δ itself, absolute.
    columns : the active columns, whose principal submatrix is available.
    """

    problem: Problem
    gradient: Gradient
    mean_diagonal: float
    delta: float
    probes: Probes
    solver: Solver
    rng: np.random.Generator
    evaluations: int = 0
    unconverged: int = 0
    columns: np.ndarray | None = field(default=None, repr=False)
    _active: Active | None = field(default=None, repr=False)

    @property
    def operator(self) -> Operator:
        """K, with the columns of a target after the candidates."""
        return self.problem.unscaled.operator

    def __call__(self, columns: np.ndarray, t: Array) -> Evaluation:
        """The value and the gradient at the weights t of the active columns."""
        active = self._active_at(columns)
        probes = active.half_weighed(self._draw())
        result = self.gradient(active, t, self.delta, probes, self.solver)
        self.evaluations += 1
        self.unconverged += not result.converged
        return result

    def restored(self) -> None:
        """Form the principal submatrix now: the ledger is restored next, so it counts once."""
        self._active = None
        if self.columns is not None:
            self._active = Active(self.problem.unscaled, self.columns)
            self._active.principal  # noqa: B018

    def penalty_unit(self, t: float = 0.5) -> float:
        """The unit of a relative penalty: the median |gradient| with all candidates at weight t."""
        candidates = self.problem.candidates
        weights = like(np.full(len(candidates), t), self.operator.like)
        gradient = np.abs(host(self(candidates, weights).gradient))
        return float(np.median(gradient)) or float(np.max(gradient)) or 1.0

    def uniform_weight(self, k: int, steps: int = 8) -> float:
        """The one weight t for all candidates at which their effective dimension is k.

        Bisection of the logit of t; the effective dimension rises with t.
        """
        low = -12.0
        high = 12.0
        for _ in range(steps):
            middle = (low + high) / 2
            if self._effective_dimension(_logistic(middle)) >= k:
                high = middle
            else:
                low = middle
        return min(_logistic((low + high) / 2), 0.99)

    def _effective_dimension(self, weight: float) -> float:
        """tr(TKT L_t⁻¹) with all candidates at one weight, estimated from probes.

        At a corner with k independent columns it is k.
        """
        active = self._active_at(self.problem.candidates)
        t = like(np.full(len(active), weight), self.operator.like)
        probes = self._draw()
        solve = self.solver.prepare(active.system(t, self.delta))
        solution = solve(t[:, None] * active.product_active_rows(probes))
        self.evaluations += 1
        total = namespace(t).sum(active.active_rows(probes) * t[:, None] * solution.x)
        return float(total) / probes.shape[1]

    def warn_if_unconverged(self) -> None:
        """One warning for all evaluations whose solver stopped at its limit."""
        if self.unconverged:
            warnings.warn(
                f"the solver stopped at its limit in {self.unconverged} of {self.evaluations} "
                "gradients; raise its max_steps, or delta",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _active_at(self, columns: np.ndarray) -> Active:
        if self._active is None or not np.array_equal(self._active.indices, columns):
            self._active = Active(self.problem.unscaled, columns)
            self.columns = self._active.indices
        return self._active

    def _draw(self) -> Array:
        return self.probes.draw(self.operator.n, self.rng, self.operator.like)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def mean_diagonal(pair: Pair, rng: np.random.Generator) -> float:
    """The mean diagonal entry of K at the candidates.

    It is estimated from ten probes when reading it is not cheap.
    """
    operator = pair.operator
    if "diagonal" in operator.cheap:
        return float(np.mean(host(operator.diagonal())[: pair.n].astype(np.float64))) or 1.0
    probes = Rademacher(10).draw(operator.n, rng, operator.like)
    return float(np.mean(host(probes * operator.matmul(probes)).astype(np.float64))) or 1.0
