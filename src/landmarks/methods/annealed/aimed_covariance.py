"""The residual of a weighted choice for an aim: what each candidate would gain for the target.

Candidate j has weight d_j: it is measured with noise of variance σ_j² + 1/d_j, so that it counts by
e_j = d_j/(1 + d_j σ_j²). With N = I + X diag(e) Xᵀ let c_j = x_jᵀN⁻¹x_j and z_j = BᵀN⁻¹x_j. Without
its own weight candidate j has the variance v = c_j/(1 − e_j c_j) + σ_j², and choosing it gains
‖z_j‖²/(1 − e_j c_j)²/v. That is (C M C)_jj/C_jj for M = B Bᵀ in the space of the candidates.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...residual.aimed.explicit_aim import Rebuilding
from ...runs.state import State
from .covariance import Diagonals, shifted_factor, without_own


class AimedCovariance(State):
    """Explicit candidates X and target B, given what has been chosen."""

    def __init__(self, base: Rebuilding, k: int):
        self.X, self.B = base.A.copy(), base.B.copy()
        self.n = base.n
        self.noise = np.zeros(self.n) if base.sigma is None else base.sigma**2
        self.floor = base.floor(k)
        self.diagonal = self._measured()

    def _measured(self) -> np.ndarray:
        return np.sum(self.X * self.X, axis=0) + self.noise

    def diagonals(
        self, d: np.ndarray, at: np.ndarray | None = None, *, cubes: bool = False
    ) -> Diagonals:
        """c and a as `jump_gains` takes them, at some candidates or at all."""
        at = np.arange(self.n) if at is None else at
        e = d / (1 + d * self.noise)
        used = np.flatnonzero(e > 0)
        weighted = self.X[:, used] * np.sqrt(e[used])
        L = shifted_factor(weighted @ weighted.T)
        P = scipy.linalg.solve_triangular(L, self.X[:, at], lower=True, check_finite=False)
        T = scipy.linalg.solve_triangular(L, self.B, lower=True, check_finite=False)
        c, z = np.sum(P * P, axis=0), np.sum((T.T @ P) ** 2, axis=0)
        own = without_own(c, e[at])
        alone = c / own + self.noise[at]
        rho = 1 / (1 + d[at] * alone)
        return Diagonals(alone * rho, z * (rho / own) ** 2, error=float(np.sum(T * T)))

    def condition(self, j: int, cubes: bool) -> float:
        """Condition X and B on measuring candidate j; returns the decrease of the error."""
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        x, variance = self.X[:, j].copy(), self.diagonal[j]
        length = float(x @ x)
        # (I − β x xᵀ)² = I − x xᵀ/variance
        beta = (1 - np.sqrt(self.noise[j] / variance)) / length if length > 0 else 0.0
        reach = x @ self.B
        self.B = self.B - np.outer(beta * x, reach)
        self.X = self.X - np.outer(beta * x, x @ self.X)
        self.diagonal = self._measured()
        self.diagonal[j] = 0.0
        return float(reach @ reach) / variance
