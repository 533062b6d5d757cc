"""The objective for the trace: f(t) = −tr K̃(t), which is −tr[XᵀP̃(t)X] for columns (Section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..._array import Array, namespace
from ...linalg.solution import Solver
from .evaluation import Evaluation
from .system import Active


@dataclass(frozen=True)
class Trace:
    """f and ∇f (Lemma 2.4), estimated from probes (Lemma 3.1).

    With a = Kz and b = L_t⁻¹(t ⊙ a), the φ of Lemma 3.1 equals −(δ/t) ⊙ b ⊙ b, because L_t b = t ⊙ a gives
    Z(t ⊙ b) − a = −δb/t: one product per probe besides the solve, and never positive.
    """

    def evaluate(
        self, active: Active, t: Array, delta: float, probes: Array, solver: Solver
    ) -> Evaluation:
        xp = namespace(t)
        a = active.product(probes)
        solution = solver.prepare(active.system(t, delta))(t[:, None] * a)
        b = solution.x
        M = probes.shape[1]
        phi = -(delta / t) * xp.sum(b * b, axis=1) / M
        value = -float(xp.sum(t[:, None] * a * b)) / M
        return Evaluation(value, 2 * phi, solution.steps, solution.converged)
