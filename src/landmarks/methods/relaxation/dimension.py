"""The effective dimension: how many columns the weights are worth together."""

from __future__ import annotations

from ..._array import Array, namespace
from ...linalg.solution import Solver
from .system import Active


def effective_dimension(
    active: Active, t: Array, delta: float, probes: Array, solver: Solver
) -> float:
    """tr(TKT L_t⁻¹), estimated from probes: k at a corner with k independent columns."""
    solution = solver.prepare(active.system(t, delta))(t[:, None] * active.product(probes))
    return float(namespace(t).sum(active.rows(probes) * t[:, None] * solution.x)) / probes.shape[1]
