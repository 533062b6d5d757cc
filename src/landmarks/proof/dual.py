"""A lower bound of the trace error of every choice of k columns, from any point of a dual problem.

Write K = D + L̂L̂ᵀ with D ≥ 0 diagonal, and let B hold the coefficients of a choice S, one column
of B for each column of K: rows outside S are zero and B_:j = e_j for j in S. The error is
tr K − 2⟨K, B⟩ + Σ D_j ‖B_j:‖² + ‖L̂ᵀB‖². For every μ, every R with zero diagonal, every angle θ_i
and every E, completing squares, rank L̂ᵀB ≤ k and B_:j = e_j give the bound of `value`. The steps
are in docs/proof.md. `Dual.evaluate` returns the bound with its gradient, `safe_value` the bound
evaluated so that rounding can only lower it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._array import (
    Array,
    add_diagonal,
    cholesky,
    diagonal,
    host,
    identity,
    like,
    namespace,
    solve_triangular,
)
from .conditioned import EPS


@dataclass(frozen=True)
class Dual:
    """The dual problem of choosing k of the first columns of K, the candidates.

    The block of K at the candidates must be positive definite. fixed : by candidate, 1 for those
    that must be chosen, −1 for those that must not, 0 for the others; None is 0 for all.
    """

    K: Array
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

    def restricted(self, fixed: np.ndarray) -> Dual:
        """The same problem with other candidates fixed; what is known of K is shared."""
        other = replace(self, fixed=fixed)
        other.__dict__.update(basis=self.basis, own=self.own, trace=self.trace)
        return other

    @cached_property
    def basis(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of K at the candidates, the largest first."""
        xp = namespace(self.K)
        values, U = xp.linalg.eigh(self.K[: self.candidates, : self.candidates])
        return xp.flip(values), xp.flip(U, axis=1) + 0.0

    @cached_property
    def own(self) -> Array:
        """1 where row and column are the same candidate, in the shape of R."""
        return identity(self.candidates, self.K.shape[0], self.K)

    @cached_property
    def trace(self) -> float:
        """tr K."""
        return float(np.sum(host(diagonal(self.K))))

    def factor(self, D: Array) -> Array | None:
        """L with LLᵀ = Uᵀ(K − D)U; None when K − D is not positive definite."""
        values, U = self.basis
        return cholesky(add_diagonal(-((U.T * D) @ U), values))

    def pieces(self, point: Point) -> Pieces | None:
        """The matrices of the bound; None outside its domain."""
        xp = namespace(self.K)
        D = xp.exp(point.logD)
        L = self.factor(D)
        if L is None:
            return None
        U = self.basis[1]
        N = (
            self.K[: self.candidates, :]
            - xp.sqrt(D)[:, None] * point.R
            - self.own * point.mu[:, None]
        )
        Q = solve_triangular(L, U.T)
        H = Q @ N
        s, c = xp.sin(point.theta)[:, None], xp.cos(point.theta)[:, None]
        J, T = c * H + s * point.E, s * H - c * point.E
        Lhat = U @ L
        return Pieces(L, Lhat, Q, H, J, T, weights(point, D, Lhat, T))

    def value(self, point: Point) -> float:
        """The bound."""
        xp, pieces = namespace(self.K), self.pieces(point)
        if pieces is None:
            return -np.inf
        J, T = pieces.J, pieces.T
        top = host(xp.linalg.eigvalsh(J @ J.T))[::-1][: self.k]
        rest = self.chosen(host(pieces.c))[0]
        return float(self.trace - float(xp.sum(T * T)) - np.sum(top) - rest)

    def evaluate(self, x: Array, tau: float) -> tuple[float, Array]:
        """The smoothed bound with its barrier at the vector x, negated, and the gradient."""
        point, xp = Point.of(x, self.candidates), namespace(self.K)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            pieces = self.pieces(point)
            if pieces is None or not bool(xp.all(xp.isfinite(pieces.J))):
                return np.inf, x
            values, V = xp.linalg.eigh(pieces.J @ pieces.J.T)
            top, w = fermi(host(values), self.k, tau)
            rest, wc = self.chosen(host(pieces.c), tau)
            barrier = 0.6 * tau * float(xp.sum(xp.log(diagonal(pieces.L))))
            bound = self.trace - float(xp.sum(pieces.T**2)) - top - rest + barrier
            gJ = -2 * ((V * like(w, self.K)) @ (V.T @ pieces.J))
            gradient = self.gradient(point, pieces, gJ, like(wc, self.K), tau).flat()
        if not bool(xp.all(xp.isfinite(gradient))):
            return np.inf, x
        return -float(bound), -gradient

    def gradient(self, point: Point, pieces: Pieces, gJ: Array, wc: Array, tau: float) -> Point:
        """The gradient of the smoothed bound, given that for J and the weights of c."""
        xp = namespace(self.K)
        L, Lhat, Q, H, J, T, _ = pieces
        D, own = xp.exp(point.logD), T[:, : self.candidates]
        s, c = xp.sin(point.theta)[:, None], xp.cos(point.theta)[:, None]
        W = Lhat.T * wc  # column j of L̂ᵀ, weighted
        sW = s * W
        gT = -2 * T
        gT[:, : self.candidates] += 2 * (own * wc - sW)
        turn = rows(gT, J) - rows(gJ, T) + 2 * c[:, 0] * (rows(sW, Lhat.T) - rows(W, own))
        gN = Q.T @ (c * gJ + s * gT)
        gE = s * gJ - c * gT
        gLhat = 2 * (s * (sW - own * wc)).T - gN @ H.T
        gR = (-xp.sqrt(D)[:, None] * gN - 2 * wc[:, None] * point.R) * (1 - self.own)
        gD = wc - rows(gN, point.R) / (2 * xp.sqrt(D))
        gD = gD - self._through_factor(L, Q, gLhat, 0.3 * tau)
        return Point(gD * D, turn, -rows(gN, self.own) - 2 * wc, gR, gE)

    def _through_factor(self, L: Array, Q: Array, gLhat: Array, barrier: float) -> Array:
        """The gradient for the diagonal of K − D: that of L̂ taken back, and of the barrier."""
        xp = namespace(L)
        P = xp.tril(L.T @ xp.tril(self.basis[1].T @ gLhat))
        P = (P + P.T) / 2
        P = add_diagonal(P, barrier - diagonal(P) / 2)
        return rows(Q.T, (P @ Q).T)


class Point(NamedTuple):
    """A point of the dual problem: log D, θ, μ (by candidate), R and E (candidates × n)."""

    logD: Array
    theta: Array
    mu: Array
    R: Array
    E: Array

    def flat(self) -> Array:
        """All numbers in one vector."""
        xp = namespace(self.E)
        return xp.concat([xp.reshape(part, (-1,)) for part in self])

    @classmethod
    def of(cls, x: Array, candidates: int) -> Point:
        """The point of a vector."""
        xp, c = namespace(x), candidates
        rest = xp.reshape(x[3 * c :], (2, c, -1))
        return cls(x[:c], x[c : 2 * c], x[2 * c : 3 * c], rest[0, ...], rest[1, ...])


class Pieces(NamedTuple):
    """What the bound is made of: L, L̂ = UL, Q = L⁻¹Uᵀ, H = Q(K − Diag μ − D^½R), and J, T, c."""

    L: Array
    Lhat: Array
    Q: Array
    H: Array
    J: Array
    T: Array
    c: Array


def rows(A: Array, B: Array) -> Array:
    """The inner products of the rows of A with those of B."""
    return namespace(A).sum(A * B, axis=1)


def weights(point: Point, D: Array, Lhat: Array, T: Array) -> Array:
    """c: what choosing each candidate costs the bound."""
    xp = namespace(D)
    s, T = xp.sin(point.theta), T[:, : D.shape[0]]
    c = 2 * point.mu - D + rows(point.R, point.R)
    c = c + 2 * rows(Lhat, (s[:, None] * T).T) - rows(Lhat * s, Lhat * s)
    return c - xp.sum(T * T, axis=0)


def fermi(values: np.ndarray, k: int, tau: float) -> tuple[float, np.ndarray]:
    """An upper bound of the sum of the k largest values, at most n·τ·log 2 above it, and weights.

    It is the largest Σ w·values + τ·entropy(w) over 0 ≤ w ≤ 1, Σ w = k; w is its gradient.
    """
    if k >= len(values):
        return float(np.sum(values)), np.ones(len(values))
    if k <= 0:
        return 0.0, np.zeros(len(values))
    low, high = float(np.min(values)) - 40 * tau, float(np.max(values)) + 40 * tau
    for _ in range(60):
        level = (low + high) / 2
        low, high = (level, high) if np.sum(occupied(values, level, tau)) > k else (low, level)
    w = occupied(values, high, tau)
    excess = np.logaddexp(0.0, (values - high) / tau)
    return float(k * high + tau * np.sum(excess)), w


def largest(values: np.ndarray, k: int, tau: float = 0.0) -> tuple[float, np.ndarray]:
    """The sum of the k largest values, and 1 where they are."""
    w = np.zeros(len(values))
    w[np.argsort(-values, kind="stable")[:k]] = 1.0
    return float(np.sum(values[w > 0])), w


def occupied(values: np.ndarray, level: float, tau: float) -> np.ndarray:
    """1/(1 + exp((level − value)/τ))."""
    return 0.5 * (1 + np.tanh((values - level) / (2 * tau)))


def water_filling(costs: np.ndarray, k: int) -> np.ndarray:
    """0 ≤ z ≤ 1 with Σ z = k that minimises Σ costs²/z: z = min(1, costs/ν)."""
    order = np.sort(np.maximum(costs, 0.0))[::-1]
    left = np.cumsum(order[::-1])[::-1]
    full = next((i for i in range(k) if order[i] * (k - i) <= left[i]), k)
    level = left[full] / (k - full) if full < k and left[full] > 0 else 1.0
    return np.minimum(1.0, np.maximum(costs, 0.0) / level)


# The bound evaluated so that rounding can only lower it.
#
# The point is taken as given: D, L̂, J, T and the angles are floats, and nothing about them need be
# exact. Conditions that must hold exactly are enforced: D is lowered until K − D − L̂L̂ᵀ is positive
# semidefinite whatever the rounding errors, cos² + sin² is brought below 1, and μ and R are the
# entries of K − L̂(cos θ J + sin θ T). A bound on its rounding error is then subtracted from each
# sum. All of this is done on the host, wherever the point was found.


def safe_value(dual: Dual, point: Point, doubt: np.ndarray) -> float:
    """A bound that holds for every matrix within `doubt` of K, entry by entry; −∞ without one."""
    pieces = dual.pieces(point)
    if pieces is None:
        return -np.inf
    J, T, Lhat = host(pieces.J), host(pieces.T), host(pieces.Lhat)
    dual, theta = replace(dual, K=host(dual.K)), host(point.theta)
    rounding = 4 * (len(dual.K) + 8) * EPS
    D = lowered(dual, np.exp(host(point.logD)), Lhat, doubt, rounding)
    if np.any(D <= 0):
        return -np.inf
    shrink = 1 - 2.0**-50
    s, c = np.sin(theta) * shrink, np.cos(theta) * shrink
    M, error = remainder(dual, Lhat, s[:, None] * T, c[:, None] * J, doubt, rounding)
    costs = upper_costs(D, Lhat, s, T, M, error, rounding)
    whole = np.diagonal(dual.K)
    start = float(np.sum(whole) * (1 - rounding) - np.sum(np.diagonal(doubt)))
    bound = start - float(np.sum(T * T)) * (1 + rounding) - top_sum(J, dual.k, rounding)
    dearest, weights = dual.chosen(costs)
    size = abs(start) + float(np.sum(weights * np.abs(costs)))
    return bound - dearest - rounding * size


def lowered(
    dual: Dual, D: np.ndarray, Lhat: np.ndarray, doubt: np.ndarray, rounding: float
) -> np.ndarray:
    """D less what makes sure that K − D − L̂L̂ᵀ is positive semidefinite."""
    n = dual.candidates
    K, size = dual.K[:n, :n], np.abs(Lhat)
    scale = np.sqrt(np.diagonal(K))
    left = np.abs(K - np.diag(D) - Lhat @ Lhat.T) + doubt[:n, :n]
    left += rounding * (np.abs(K) + np.diag(D) + size @ size.T)
    shift = float(np.linalg.norm(left / scale[:, None] / scale[None, :])) * (1 + rounding)
    return D - shift * scale**2 * (1 + rounding)


def remainder(
    dual: Dual,
    Lhat: np.ndarray,
    sT: np.ndarray,
    cJ: np.ndarray,
    doubt: np.ndarray,
    rounding: float,
) -> tuple[np.ndarray, np.ndarray]:
    """K − L̂H at the candidates' rows, H = cos θ J + sin θ T, and how far off it may be."""
    K = dual.K[: dual.candidates]
    size = np.abs(Lhat) @ (np.abs(sT) + np.abs(cJ))
    error = doubt[: dual.candidates] + rounding * (np.abs(K) + size)
    return K - Lhat @ (cJ + sT), error


def upper_costs(
    D: np.ndarray,
    Lhat: np.ndarray,
    s: np.ndarray,
    T: np.ndarray,
    M: np.ndarray,
    error: np.ndarray,
    rounding: float,
) -> np.ndarray:
    """Upper bounds of c: 2μ + ‖R_j:‖² − D + 2(L̂ s T)_jj − (L̂ s² L̂ᵀ)_jj − ‖T_:j‖²."""
    own = np.diag_indices(len(D))
    mu, slack = M[own], error[own]
    squares = (np.abs(M) + error) ** 2
    squares[own] = 0.0
    R2 = np.sum(squares, axis=1) / D
    T = T[:, : len(D)]
    cross = Lhat * (s[:, None] * T).T
    known = np.sum((Lhat * s) ** 2, axis=1) + np.sum(T * T, axis=0)
    size = 2 * np.abs(mu) + R2 + D + 2 * np.sum(np.abs(cross), axis=1) + known
    return 2 * (mu + slack) + R2 - D + 2 * np.sum(cross, axis=1) - known + rounding * size


def top_sum(J: np.ndarray, k: int, rounding: float) -> float:
    """An upper bound of the sum of the k largest eigenvalues of JJᵀ."""
    values = np.maximum(np.linalg.eigvalsh(J @ J.T)[::-1], 0.0)
    product = np.sqrt(len(J)) * float(np.sum(J * J))
    return float(np.sum(values[:k])) + rounding * (4 * k * float(values[0]) + product)
