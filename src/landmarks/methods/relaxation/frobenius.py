"""The objective for the Frobenius norm: g(t) = ‖K − K̃(t)‖²_F (Section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from ..._array import Array, namespace
from ...linalg.solution import Solver
from .evaluation import Evaluation
from .system import Active


@dataclass(frozen=True)
class Frobenius:
    """g and ∇g (Lemma 2.8), estimated from probes (Lemma 3.2).

    With a = Kz, b = L_t⁻¹(t ⊙ a), c = K(t ⊙ b) − a, d = Kc and e = L_t⁻¹(t ⊙ d), the ψ of Lemma 3.2 equals
    (2δ/t) ⊙ b ⊙ e: three products per probe besides the two solves.
    """

    def evaluate(
        self, active: Active, t: Array, delta: float, probes: Array, solver: Solver
    ) -> Evaluation:
        xp = namespace(t)
        solve = solver.prepare(active.system(t, delta))
        a = active.operator.matmul(probes)
        first = solve(t[:, None] * active.rows(a))
        b = first.x
        c = active.spread(t[:, None] * b) - a
        d = active.product(c)
        second = solve(t[:, None] * d)
        e = second.x
        M = probes.shape[1]
        psi = (2 * delta / t) * xp.sum(b * e, axis=1) / M
        value = float(xp.sum(c * c)) / M
        return Evaluation(
            value, 2 * psi, first.steps + second.steps, first.converged and second.converged
        )
