"""What one pick, two picks or any r directions can still gain from a residual C: the numbers behind the exact search.

The eigenvalue tail of the residual as a bound for a partial choice: Arai, Maung and Schweitzer, AAAI (2015).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy


class Powers(NamedTuple):
    """C, C² and, for the Frobenius criterion, C³ at the candidates."""

    C: np.ndarray
    C2: np.ndarray
    C3: np.ndarray | None = None

    @classmethod
    def of(cls, C: np.ndarray, candidates: np.ndarray, frobenius: bool) -> Powers:
        """The powers of the whole residual, then its candidates: the others must be represented too."""
        CT = C[:, candidates]
        square = CT.T @ CT
        return cls(CT[candidates], square, CT.T @ (C @ CT) if frobenius else None)

    def gains(self, tolerance: float) -> np.ndarray:
        """What each pick lowers the error by: A/c in the trace, 2B/c − (A/c)² in ‖C‖²_F; zero beyond the rank."""
        return gain(
            np.diag(self.C),
            np.diag(self.C2),
            None if self.C3 is None else np.diag(self.C3),
            tolerance,
        )

    def after(self, a: int) -> Powers:
        """The powers of C − v vᵀ, v = C_:a/√C_aa, at the candidates that follow a."""
        s = self.C[a, a]
        v, x = self.C[a + 1 :, a] / np.sqrt(s), self.C2[a + 1 :, a] / np.sqrt(s)
        vv = self.C2[a, a] / s
        half = x - 0.5 * vv * v
        C = self.C[a + 1 :, a + 1 :] - np.multiply.outer(v, v)
        cross = np.multiply.outer(v, half)
        C2 = self.C2[a + 1 :, a + 1 :] - cross - cross.T
        return Powers(C, C2, None if self.C3 is None else cube_after(self.C3, a, s, vv, v, x))

    def ordered(self, order: np.ndarray) -> Powers:
        """The same with the candidates in another order."""
        square = np.ix_(order, order)
        return Powers(self.C[square], self.C2[square], None if self.C3 is None else self.C3[square])

    def pair_gains(self, tolerance: float) -> np.ndarray:
        """What picking a and then b lowers the error by, for every ordered pair (a, b)."""
        c, A, first = np.diag(self.C), np.diag(self.C2), self.gains(tolerance)
        safe = np.where(c > tolerance, c, np.inf)[:, None]
        V2, VX, vv = self.C * self.C / safe, self.C * self.C2 / safe, A[:, None] / safe
        new_c, new_A = c - V2, A - 2 * VX + V2 * vv
        if self.C3 is None:
            return first[:, None] + gain(new_c, new_A, None, tolerance)
        B = np.diag(self.C3)
        vCv = B[:, None] / safe
        new_B = (
            B
            - (2 * self.C * self.C3 + self.C2 * self.C2) / safe
            + 2 * vv * VX
            + (vCv - vv * vv) * V2
        )
        return first[:, None] + gain(new_c, new_A, new_B, tolerance)


def cube_after(
    C3: np.ndarray, a: int, s: float, vv: float, v: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """(C − v vᵀ)³ = C³ − (v yᵀ + x xᵀ + y vᵀ) + ‖v‖²(v xᵀ + x vᵀ) + (vᵀCv − ‖v‖⁴) v vᵀ, with x = Cv, y = C²v."""
    y, vCv = C3[a + 1 :, a] / np.sqrt(s), C3[a, a] / s
    cross = np.multiply.outer(v, y - vv * x - 0.5 * (vCv - vv * vv) * v)
    return C3[a + 1 :, a + 1 :] - np.multiply.outer(x, x) - cross - cross.T


def gain(c: np.ndarray, A: np.ndarray, B: np.ndarray | None, tolerance: float) -> np.ndarray:
    """The gain of a pick from the diagonals of C, C² and C³."""
    useful = c > tolerance
    ratio = np.divide(A, c, out=np.zeros_like(A), where=useful)
    if B is None:
        return ratio
    return np.where(
        useful, 2 * np.divide(B, c, out=np.zeros_like(B), where=useful) - ratio * ratio, 0.0
    )


def spectrum(C: np.ndarray, frobenius: bool) -> np.ndarray:
    """The eigenvalues of C, squared for the Frobenius criterion, largest first."""
    values = np.maximum(scipy.linalg.eigvalsh(C, check_finite=False)[::-1], 0.0)
    return values**2 if frobenius else values
