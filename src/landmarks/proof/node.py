"""A node of the search: the choices that extend some picks by r of the candidates.

No choice goes below the eigenvalue tail of the residual C (Arai, Maung and Schweitzer, AAAI 2015).
When only some columns T are candidates, the r directions lie in their span: what they gain is at
most the sum of the r largest eigenvalues of C_TT^{−½} (C²)_TT C_TT^{−½}.

Gains of one pick or two are bounded relative to the residual they began with: entries of C by
√(c_i c_j), of C² by λ₁ times that, of C³ by λ₁² times that, λ₁ the largest eigenvalue of C. A pick
whose own residual has fallen to the part 1/ρ since then is uncertain by ρ times as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack as lapack

from .conditioned import DOUBT, EPS, Conditioned

WORSE = 1e-9  # with a larger relative error, the bound of the candidates' span is not used
CERTAIN = 40.0  # bound on the rounding errors in the formulas of two gains


@dataclass(frozen=True)
class Node:
    """Picks, the candidates after them, and how many of these are still to be picked."""

    state: Conditioned
    candidates: np.ndarray
    r: int
    depth: int

    @property
    def rounding(self) -> float:
        """The relative error of sums, products and eigenvalues of order n in float64."""
        return 16 * (self.state.n + 8) * EPS

    @cached_property
    def error(self) -> float:
        """The error of the picks."""
        return self.state.error(self.depth)

    @cached_property
    def uncertainty(self) -> float:
        """What the error of a choice below this node may be off by, apart from its gains."""
        return self.state.uncertainty(self.depth) + self.rounding * abs(self.error)

    @cached_property
    def values(self) -> np.ndarray:
        """Upper bounds of what so many directions gain, falling.

        They are the eigenvalues of C, squared for the Frobenius criterion, and for log determinants
        the logarithms of those of P = C + N at the candidates.
        """
        if self.depth == 0:
            return self._log_values()
        values = self.state.eigenvalues
        values = values + self.rounding * values[0]
        if self.state.missed is not None:
            values = values + self.state.missed[1]
        return values**2 if self.depth == 2 else values

    def _log_values(self) -> np.ndarray:
        """log λ_i of P at the candidates; if they repeat, the largest log pivot for each pick.

        Without candidates the picks may be any columns, and none has a larger pivot than all have.
        """
        T, pair, state = self.candidates, self.state.pair, self.state
        if len(T) == 0:
            highest = state.pivots + DOUBT * state.omega * state.spread**2
            with np.errstate(divide="ignore"):
                return np.full(self.r, np.log(np.max(highest[: pair.n])))
        pivots = state.pivots[T]
        if pair.repeats:
            with np.errstate(divide="ignore"):
                return np.full(max(self.r, 1), np.log(np.max(pivots)) + self.rounding)
        P = state.matrix[np.ix_(T, T)]
        P = P if pair.noise is None else P + np.diag(pair.noise[T])
        doubt = state.omega * float(np.sum(state.spread[T] ** 2))
        values = np.maximum(np.linalg.eigvalsh(P)[::-1], 0.0)
        with np.errstate(divide="ignore"):
            return np.log(values + self.rounding * max(values[0], pivots.max()) + doubt)

    def tail(self, r: int) -> float:
        """What no r directions can go below."""
        left = self.error - float(np.sum(self.values[:r])) - self.uncertainty
        return left if self.depth == 0 else max(0.0, left)

    @cached_property
    def doubts(self) -> np.ndarray:
        """The relative error of the residual of each candidate."""
        state, T = self.state, self.candidates
        growth = np.sqrt(state.n) * state.spread[T] ** 2 / state.pivots[T]
        return self.rounding + 8 * state.omega * growth

    @cached_property
    def powers(self) -> Powers:
        """What the gains of the candidates are computed from."""
        top = float(self.values[0]) if self.depth else 1.0
        return Powers.of(self.state, self.candidates, self.depth, self.doubts, top)

    def bound(self) -> float:
        """What no choice below this node can go below."""
        plain = self.tail(self.r)
        if self.depth == 0 or len(self.candidates) >= self.state.n - len(self.state.picks):
            return plain
        return max(plain, self.span_tail())

    def span_tail(self) -> float:
        """What no r directions in the span of the candidates can go below; 0 when unknown."""
        C, T, pair = self.state.matrix, self.candidates, self.state.pair
        if len(T) == 0:
            return max(0.0, self.error - self.uncertainty)
        if pair.repeats or self.depth == 0 or (self.depth == 2 and not pair.standard):
            return 0.0
        if not np.all(self.state.pivots[T] > 0):
            return 0.0
        d = np.sqrt(self.state.pivots[T])
        W = C[T] / d[:, None]
        own = W[:, T] / d
        if pair.noise is not None:
            own = own + np.diag(pair.noise[T] / d**2)
        L, failed = lapack.dpotrf(own, lower=1, clean=1)
        if failed:
            return 0.0
        inverse, _ = lapack.dtrtri(L, lower=1)
        doubt = 4 * float(np.max(self.doubts)) * len(T) * float(np.sum(inverse**2))
        if not doubt <= WORSE:
            return 0.0
        G = inverse @ W if pair.weights is None else inverse @ (W * np.sqrt(pair.weights))
        values = np.maximum(np.linalg.eigvalsh(G @ G.T)[::-1], 0.0)
        if self.depth == 1:
            most = (1 + doubt) * float(np.sum(values[: self.r]))
            return max(0.0, self.error - most - self.uncertainty)
        least = max(0.0, 1 - doubt) ** 2 * float(np.sum(values[self.r :] ** 2))
        rest = np.sqrt(float(np.sum((C - G.T @ G) ** 2)))  # what the span leaves: ‖C − GᵀG‖_F
        outside = max(0.0, rest - doubt * np.sqrt(self.error)) ** 2
        return max(0.0, outside + least - 2 * self.uncertainty)


class Powers(NamedTuple):
    """C, CΩC and CΩCΩC at the candidates, as many as the depth of the objective asks for.

    first : the pivots of the candidates when the powers were computed. noise : their variances.
    rounding : the relative error of each of them then. top : λ₁, or λ₁² for the Frobenius
    criterion: no pick gains more.
    """

    C: np.ndarray
    C2: np.ndarray | None
    C3: np.ndarray | None
    first: np.ndarray
    rounding: np.ndarray
    top: float
    noise: np.ndarray
    repeats: bool = False

    @classmethod
    def of(
        cls,
        state: Conditioned,
        candidates: np.ndarray,
        depth: int,
        rounding: np.ndarray,
        top: float,
    ) -> Powers:
        """The powers of all of C, at the candidates: the other columns must be rebuilt too."""
        C, pair = state.matrix, state.pair
        noise = np.zeros(len(candidates)) if pair.noise is None else pair.noise[candidates]
        if depth == 0:
            part = C[np.ix_(candidates, candidates)]
            first = np.diagonal(part) + noise
            return cls(part, None, None, first, rounding, top, noise, pair.repeats)
        CT = C[:, candidates]
        weighted = CT if pair.weights is None else CT * pair.weights[:, None]
        cube = weighted.T @ (C @ weighted) if depth == 2 else None
        part = CT[candidates]
        first = np.diagonal(part) + noise
        return cls(part, weighted.T @ CT, cube, first, rounding, top, noise, pair.repeats)

    @property
    def pivots(self) -> np.ndarray:
        """diag C + ν."""
        return np.diagonal(self.C) + self.noise

    def gains(self) -> np.ndarray:
        """What each pick lowers the error by, at the most."""
        A = None if self.C2 is None else np.diagonal(self.C2)
        B = None if self.C3 is None else np.diagonal(self.C3)
        return self._above(self.pivots, A, B, self.first, self.rounding)

    def pair_gains(self) -> np.ndarray:
        """What each pair of picks lowers the error by, at the most.

        −∞ on the diagonal, unless a candidate may be picked twice.
        """
        c, first = self.pivots, self.gains()
        safe = np.where(c > 0, c, np.inf)[:, None]
        V2, new_A, new_B = self.C * self.C / safe, None, None
        new_c = c - V2
        if self.C2 is not None:
            A = np.diagonal(self.C2)
            VX, vv = self.C * self.C2 / safe, A[:, None] / safe
            new_A = A - 2 * VX + V2 * vv
            if self.C3 is not None:
                B, third = np.diagonal(self.C3), self.C * self.C3
                new_B = B - (2 * third + self.C2 * self.C2) / safe
                new_B += 2 * vv * VX + (B[:, None] / safe - vv * vv) * V2
        doubt = (self.rounding[:, None] + self.rounding) * (self.first / safe[:, 0])[:, None]
        second = self._above(new_c, new_A, new_B, self.first, doubt)
        both = first[:, None] + second
        both = np.minimum(both, both.T)
        if not self.repeats:
            np.fill_diagonal(both, -np.inf)
        return both

    def _above(
        self,
        c: np.ndarray,
        A: np.ndarray | None,
        B: np.ndarray | None,
        first: np.ndarray,
        rounding: np.ndarray,
    ) -> np.ndarray:
        """The gain A/c, 2B/c − (A/c)² or log c, and what rounding may hide; at most the top."""
        if A is None:
            return np.log(np.maximum(c, 0.0) + CERTAIN * rounding * first)
        positive = c > 0
        safe = np.where(positive, c, 1.0)
        ratio = A / safe
        gain = ratio if B is None else 2 * B / safe - ratio * ratio
        gain = gain + CERTAIN * self.top * rounding * (first / safe)
        return np.where(positive, np.minimum(gain, self.top), self.top)

    def after(self, a: int) -> Powers:
        """The powers of C − v vᵀ, v = C_:a/√(C_aa + ν_a), at the candidates that follow a.

        Where candidates may repeat, a is one of them.
        """
        s, left = self.C[a, a] + self.noise[a], slice(a if self.repeats else a + 1, None)
        v, C2, cube = self.C[left, a] / np.sqrt(s), None, None
        C = self.C[left, left] - np.multiply.outer(v, v)
        if self.C2 is not None:
            x, vv = self.C2[left, a] / np.sqrt(s), self.C2[a, a] / s
            cross = np.multiply.outer(v, x - 0.5 * vv * v)
            C2 = self.C2[left, left] - cross - cross.T
        if self.C3 is not None:
            # C³ − (v yᵀ + x xᵀ + y vᵀ) + ‖v‖²(v xᵀ + x vᵀ) + (vᵀCv − ‖v‖⁴) v vᵀ, x = Cv, y = C²v
            y, vCv = self.C3[left, a] / np.sqrt(s), self.C3[a, a] / s
            cross = np.multiply.outer(v, y - vv * x - 0.5 * (vCv - vv * vv) * v)
            cube = self.C3[left, left] - np.multiply.outer(x, x) - cross - cross.T
        rounding = (self.rounding[left] + self.rounding[a]) * (self.first[a] / s)
        return self._replace(
            C=C, C2=C2, C3=cube, first=self.first[left], rounding=rounding, noise=self.noise[left]
        )

    def ordered(self, order: np.ndarray) -> Powers:
        """The same with the candidates in another order."""
        square = np.ix_(order, order)
        cube = None if self.C3 is None else self.C3[square]
        first, rounding, noise = self.first[order], self.rounding[order], self.noise[order]
        C2 = None if self.C2 is None else self.C2[square]
        found = self._replace(C=self.C[square], C2=C2, C3=cube)
        return found._replace(first=first, rounding=rounding, noise=noise)
