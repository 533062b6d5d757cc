"""Woodbury: when X has fewer rows than columns, solve in the dimension of the rows."""

from __future__ import annotations

from dataclasses import dataclass

from ..._array import Array, add_diagonal, norm, solve_cholesky
from .cholesky import factorise
from .solution import LinearSystem, Solution, Solve


@dataclass(frozen=True)
class Woodbury:
    """(BᵀB + R)⁻¹ = R⁻¹ − R⁻¹Bᵀ(I + BR⁻¹Bᵀ)⁻¹BR⁻¹ with B = XT (m × n) and R = δ(I − T²)."""

    def prepare(self, system: LinearSystem) -> Solve:
        B = system.factor()
        inverse = 1 / system.ridge
        L = factorise(add_diagonal((B * inverse[None, :]) @ B.T, 1.0))

        def apply(block: Array) -> Array:
            scaled = inverse[:, None] * block
            return scaled - inverse[:, None] * (B.T @ solve_cholesky(L, B @ scaled))

        def solve(block: Array) -> Solution:
            x = apply(block)
            x = x + apply(block - _product(x))  # one refinement: R⁻¹ is large where t is near 1
            left = block[:, :1] - _product(x[:, :1])
            return Solution(
                x, steps=0, residual=norm(left) / max(norm(block[:, :1]), 1e-300), converged=True
            )

        def _product(x: Array) -> Array:
            return B.T @ (B @ x) + system.ridge[:, None] * x

        return solve
