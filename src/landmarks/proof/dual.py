"""A lower bound of the trace error of every choice of k columns, from any point of a dual problem.

Write K = D + L̂L̂ᵀ with D ≥ 0 diagonal, and let B hold the coefficients of a choice S, one column
of B for each column of K: rows outside S are zero and B_:j = e_j for j in S. The error is
tr K − 2⟨K, B⟩ + Σ D_j ‖B_j:‖² + ‖L̂ᵀB‖². For every μ, every R with zero diagonal, every angle θ_i
and every E, completing squares, rank L̂ᵀB ≤ k and B_:j = e_j give the bound of `value`. The steps
are in docs/proof.md. `Dual.evaluate` returns the bound with its gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg

from .fermi import fermi, largest


class Point(NamedTuple):
    """A point of the dual problem: log D, θ, μ (by candidate), R and E (candidates × n)."""

    logD: np.ndarray
    theta: np.ndarray
    mu: np.ndarray
    R: np.ndarray
    E: np.ndarray

    def flat(self) -> np.ndarray:
        """All numbers in one vector."""
        return np.concatenate([part.ravel() for part in self])

    @classmethod
    def of(cls, x: np.ndarray, candidates: int) -> Point:
        """The point of a vector."""
        a, b, c = x[: 3 * candidates].reshape(3, candidates)
        rest = x[3 * candidates :].reshape(2, candidates, -1)
        return cls(a, b, c, rest[0], rest[1])


class Pieces(NamedTuple):
    """What the bound is made of: L, L̂ = UL, Q = L⁻¹Uᵀ, H = Q(K − Diag μ − D^½R), and J, T, c."""

    L: np.ndarray
    Lhat: np.ndarray
    Q: np.ndarray
    H: np.ndarray
    J: np.ndarray
    T: np.ndarray
    c: np.ndarray


@dataclass(frozen=True)
class Dual:
    """The dual problem of choosing k of the first columns of K, the candidates.

    The block of K at the candidates must be positive definite. fixed : by candidate, 1 for those
    that must be chosen, −1 for those that must not, 0 for the others; None is 0 for all.
    """

    K: np.ndarray
    k: int
    candidates: int
    fixed: np.ndarray | None = None

    def chosen(self, c: np.ndarray, tau: float = 0.0) -> tuple[float, np.ndarray]:
        """The most that a choice can cost, smoothed by τ if that is positive, and the weights."""
        fixed = np.zeros(len(c), dtype=np.int64) if self.fixed is None else self.fixed
        weights, open_to = (fixed > 0).astype(np.float64), fixed == 0
        r = self.k - int(np.sum(fixed > 0))
        total, weights[open_to] = (fermi if tau > 0 else largest)(c[open_to], r, tau)
        return total + float(np.sum(c[fixed > 0])), weights

    @cached_property
    def basis(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of K, the largest first."""
        values, vectors = np.linalg.eigh(self.K[: self.candidates, : self.candidates])
        return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])

    def factor(self, D: np.ndarray) -> np.ndarray | None:
        """L with LLᵀ = Uᵀ(K − D)U; None when K − D is not positive definite."""
        values, U = self.basis
        A = np.diag(values) - (U.T * D) @ U
        L, failed = scipy.linalg.lapack.dpotrf(A, lower=1, clean=1, overwrite_a=1)
        return None if failed else L

    def pieces(self, point: Point) -> Pieces | None:
        """The matrices of the bound; None outside its domain."""
        D = np.exp(point.logD)
        L = self.factor(D)
        if L is None:
            return None
        U = self.basis[1]
        N = self.K[: self.candidates] - np.sqrt(D)[:, None] * point.R
        N[np.diag_indices(self.candidates)] -= point.mu
        Q = scipy.linalg.solve_triangular(L, U.T, lower=True, check_finite=False)
        H = Q @ N
        s, c = np.sin(point.theta)[:, None], np.cos(point.theta)[:, None]
        J, T = c * H + s * point.E, s * H - c * point.E
        Lhat = U @ L
        return Pieces(L, Lhat, Q, H, J, T, weights(point, D, Lhat, T))

    def value(self, point: Point) -> float:
        """The bound."""
        pieces = self.pieces(point)
        if pieces is None:
            return -np.inf
        J, T, c = pieces.J, pieces.T, pieces.c
        top = np.linalg.eigvalsh(J @ J.T)[::-1][: self.k]
        rest = self.chosen(c)[0]
        return float(np.trace(self.K) - np.sum(T * T) - np.sum(top) - rest)

    def evaluate(self, x: np.ndarray, tau: float) -> tuple[float, np.ndarray]:
        """The smoothed bound with its barrier at the vector x, negated, and the gradient."""
        point = Point.of(x, self.candidates)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            pieces = self.pieces(point)
            if pieces is None or not np.all(np.isfinite(pieces.J)):
                return np.inf, x
            values, V = np.linalg.eigh(pieces.J @ pieces.J.T)
            top, w = fermi(values, self.k, tau)
            rest, wc = self.chosen(pieces.c, tau)
            barrier = 0.3 * tau * 2 * float(np.sum(np.log(np.diagonal(pieces.L))))
            bound = np.trace(self.K) - np.sum(pieces.T**2) - top - rest + barrier
            gJ = -2 * ((V * w) @ (V.T @ pieces.J))
            gradient = self.gradient(point, pieces, gJ, wc, tau).flat()
        if not np.all(np.isfinite(gradient)):
            return np.inf, x
        return -float(bound), -gradient

    def gradient(
        self, point: Point, pieces: Pieces, gJ: np.ndarray, wc: np.ndarray, tau: float
    ) -> Point:
        """The gradient of the smoothed bound, given that for J and the weights of c."""
        L, Lhat, Q, H, J, T, _ = pieces
        D, own = np.exp(point.logD), T[:, : self.candidates]
        s, c = np.sin(point.theta)[:, None], np.cos(point.theta)[:, None]
        W = Lhat.T * wc  # column j of L̂ᵀ, weighted
        sW = s * W
        gT = -2 * T
        gT[:, : self.candidates] += 2 * (own * wc - sW)
        turn = rows(gT, J) - rows(gJ, T) + 2 * c[:, 0] * (rows(sW, Lhat.T) - rows(W, own))
        gN = Q.T @ (c * gJ + s * gT)
        gE = s * gJ - c * gT
        gLhat = 2 * (s * (sW - own * wc)).T - gN @ H.T
        gR = -np.sqrt(D)[:, None] * gN - 2 * wc[:, None] * point.R
        gR[np.diag_indices(self.candidates)] = 0.0
        gD = wc - rows(gN, point.R) / (2 * np.sqrt(D))
        gD -= self._through_factor(L, Q, gLhat, 0.3 * tau)
        return Point(gD * D, turn, -np.diagonal(gN) - 2 * wc, gR, gE)

    def _through_factor(
        self, L: np.ndarray, Q: np.ndarray, gLhat: np.ndarray, barrier: float
    ) -> np.ndarray:
        """The gradient for the diagonal of K − D: that of L̂ taken back, and of the barrier."""
        P = np.tril(L.T @ np.tril(self.basis[1].T @ gLhat))
        P[np.diag_indices_from(P)] *= 0.5
        P = (P + P.T) / 2
        P[np.diag_indices_from(P)] += barrier
        return np.einsum("ij,ij->j", Q, P @ Q)


def rows(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The inner products of the rows of A with those of B."""
    return np.einsum("ij,ij->i", A, B)


def weights(point: Point, D: np.ndarray, Lhat: np.ndarray, T: np.ndarray) -> np.ndarray:
    """c: what choosing each candidate costs the bound."""
    s, T = np.sin(point.theta), T[:, : len(D)]
    c = 2 * point.mu - D + rows(point.R, point.R)
    c += 2 * rows(Lhat, (s[:, None] * T).T) - rows(Lhat * s, Lhat * s)
    return c - np.sum(T * T, axis=0)
