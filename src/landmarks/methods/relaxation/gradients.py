"""The objectives f and g with the gradients that Algorithm 1 follows, from a block of probes.

f(t) = −tr K̃(t) for the trace, which is −tr[XᵀP̃(t)X] for columns (Section 2.1), and
g(t) = ‖K − K̃(t)‖²_F for the Frobenius norm (Section 2.2). Both come without the penalty λ Σ t.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._array import Array, namespace
from ...linalg.solvers.solution import Solver
from .system import Active


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value and the gradient of an objective over the active columns.

    Both are exact with `Identity` probes, and unbiased estimates otherwise.
    solver_steps, converged : the iterations of the linear solver, and whether it converged.
    """

    value: float
    gradient: Array
    solver_steps: int
    converged: bool


def trace_gradient(
    active: Active, t: Array, delta: float, probes: Array, solver: Solver
) -> Evaluation:
    """f and ∇f (Lemma 2.4), the gradient as 2 E[φ], estimated from probes (Lemma 3.1).

    Lemma 3.1 has φ = b ⊙ Z(t ⊙ b) − a ⊙ b with Z = K − δI. Since L_t b = t ⊙ a means
    a − Z(t ⊙ b) = δ b/t, this is φ = −(δ/t) ⊙ b ⊙ b: one product less, and never positive.
    """
    xp = namespace(t)
    M = probes.shape[1]
    a = active.product_active_rows(probes)
    solution = solver.prepare(active.system(t, delta))(t[:, None] * a)
    b = solution.x
    phi = -(delta / t) * xp.sum(b * b, axis=1) / M  # mean over the M probes (Lemma 3.1)
    value = -float(xp.sum(t[:, None] * a * b)) / M
    gradient = 2 * phi  # ∇f = 2 E[φ]; algorithm_1 divides by λ and adds 1
    return Evaluation(value, gradient, solution.steps, solution.converged)


def frobenius_gradient(
    active: Active, t: Array, delta: float, probes: Array, solver: Solver
) -> Evaluation:
    """g and ∇g (Lemma 2.8), the gradient as 2 E[ψ], estimated from probes (Lemma 3.2).

    For a probe z the letters are a = Kz, L_t b = t ⊙ a, c = K(t ⊙ b) − a = (K̃ − K)z, d = Kc and
    L_t e = t ⊙ d. Lemma 3.2 has, with Z = K − δI,
    ψ = b ⊙ d + a ⊙ e − e ⊙ Z(t ⊙ b) − b ⊙ Z(t ⊙ e). Since L_t b = t ⊙ a means
    a − Z(t ⊙ b) = δ b/t, and L_t e = t ⊙ d means d − Z(t ⊙ e) = δ e/t, this is
    ψ = e ⊙ (δ b/t) + b ⊙ (δ e/t) = (2δ/t) ⊙ b ⊙ e: the product K(t ⊙ e) is not needed.
    a and c have all n rows, since d = Kc sums over all of c; t, b, d, e have the active rows.
    """
    xp = namespace(t)
    M = probes.shape[1]
    solve = solver.prepare(active.system(t, delta))
    a = active.operator.matmul(probes)  # all n rows, as c: d = Kc sums over all of c
    first = solve(t[:, None] * active.active_rows(a))  # active rows only (Lemma 3.3)
    b = first.x
    c = active.product_all_rows(t[:, None] * b) - a
    weighted = active.pair.weighed(c)
    d = active.product_active_rows(weighted)
    second = solve(t[:, None] * d)
    e = second.x
    psi = (2 * delta / t) * xp.sum(b * e, axis=1) / M  # mean over the M probes (Lemma 3.2)
    value = float(xp.sum(weighted * c)) / M
    converged = first.converged and second.converged
    gradient = 2 * psi  # ∇g = 2 E[ψ]; algorithm_1 divides by λ and adds 1
    return Evaluation(value, gradient, first.steps + second.steps, converged)
