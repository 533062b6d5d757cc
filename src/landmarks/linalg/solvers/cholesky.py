"""Direct solvers: Cholesky of L_t, or Woodbury in the dimension of the rows of X."""

from dataclasses import dataclass

import numpy as np

from ..._array import Array, add_diagonal, cholesky, eps, host, namespace, norm, solve_cholesky
from ...errors import NotPSDError
from .solution import LinearSystem, Solution, Solve


@dataclass(frozen=True)
class Cholesky:
    """Solve by the Cholesky factor of the stored system."""

    def prepare(self, system: LinearSystem) -> Solve:
        A = system.dense()
        L = factorise(A)

        def solve(block: Array) -> Solution:
            x = solve_cholesky(L, block)
            return Solution(x, steps=0, residual=_residual(A, x, block), converged=True)

        return solve


def factorise(A: Array) -> Array:
    """The Cholesky factor; if rounding makes the matrix singular, it is shifted a little."""
    xp = namespace(A)
    largest = float(xp.max(xp.linalg.diagonal(A)))
    for lift in (0.0, 10.0, 1e3, 1e5):
        shift = lift * A.shape[0] * eps(A) * largest
        L = cholesky(A if lift == 0 else add_diagonal(A, shift))
        if L is not None:
            return L
    least = float(np.linalg.eigvalsh(host(A).astype(np.float64))[0])
    raise NotPSDError(
        "K is not positive semidefinite: L_t, definite for such a K, has the eigenvalue "
        f"{least:.3g}; check that K is a Gram or kernel matrix"
    )


def _residual(A: Array, x: Array, block: Array) -> float:
    """A cheap check on one right-hand side."""
    left = A @ x[:, :1] - block[:, :1]
    return norm(left) / max(norm(block[:, :1]), 1e-300)


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
