"""A node of the search: the choices that extend some picks by r of the candidates.

No choice goes below the eigenvalue tail of the residual C (Arai, Maung and Schweitzer, AAAI 2015).
When only some columns T are candidates, the r directions lie in their span: what they gain is at
most the sum of the r largest eigenvalues of C_TT^{−½} (C²)_TT C_TT^{−½}.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg.lapack as lapack

from .conditioned import EPS, Conditioned
from .powers import Powers

WORSE = 1e-9  # relative error from which on the bound of the candidates' span is not used


@dataclass(frozen=True)
class Node:
    """Picks, the candidates after them, and how many of these are still to be picked."""

    state: Conditioned
    candidates: np.ndarray
    r: int
    frobenius: bool

    @property
    def rounding(self) -> float:
        """The relative error of sums, products and eigenvalues of order n in float64."""
        return 16 * (self.state.n + 8) * EPS

    @cached_property
    def error(self) -> float:
        """The error of the picks."""
        return self.state.error(self.frobenius)

    @cached_property
    def uncertainty(self) -> float:
        """What the error of a choice below this node may be off by, apart from its gains."""
        return self.state.uncertainty(self.frobenius) + self.rounding * self.error

    @cached_property
    def values(self) -> np.ndarray:
        """Upper bounds of the eigenvalues of C, squared for the Frobenius criterion, falling."""
        values = self.state.eigenvalues
        values = values + self.rounding * values[0]
        return values**2 if self.frobenius else values

    def tail(self, r: int) -> float:
        """What no r directions can go below."""
        return max(0.0, self.error - float(np.sum(self.values[:r])) - self.uncertainty)

    @cached_property
    def doubts(self) -> np.ndarray:
        """The relative error of the residual of each candidate."""
        state, T = self.state, self.candidates
        growth = np.sqrt(state.n) * state.spread[T] ** 2 / state.diagonal[T]
        return self.rounding + 8 * state.omega * growth

    @cached_property
    def powers(self) -> Powers:
        """What the gains of the candidates are computed from."""
        top = float(self.values[0])
        C, T = self.state.matrix, self.candidates
        return Powers.of(C, T, self.frobenius, self.doubts, top)

    def bound(self) -> float:
        """What no choice below this node can go below."""
        plain = self.tail(self.r)
        if len(self.candidates) >= self.state.n - len(self.state.picks):
            return plain
        return max(plain, self.span_tail())

    def span_tail(self) -> float:
        """What no r directions in the span of the candidates can go below; 0 when unknown."""
        C, T = self.state.matrix, self.candidates
        if len(T) == 0:
            return max(0.0, self.error - self.uncertainty)
        d = np.sqrt(C[T, T])
        W = C[T] / d[:, None]
        L, failed = lapack.dpotrf(W[:, T] / d, lower=1, clean=1)
        if failed:
            return 0.0
        inverse, _ = lapack.dtrtri(L, lower=1)
        doubt = 4 * float(np.max(self.doubts)) * len(T) * float(np.sum(inverse**2))
        if not doubt <= WORSE:
            return 0.0
        G = inverse @ W
        values = np.maximum(np.linalg.eigvalsh(G @ G.T)[::-1], 0.0)
        if not self.frobenius:
            most = (1 + doubt) * float(np.sum(values[: self.r]))
            return max(0.0, self.error - most - self.uncertainty)
        least = max(0.0, 1 - doubt) ** 2 * float(np.sum(values[self.r :] ** 2))
        return max(0.0, self._outside(G, doubt) + least - 2 * self.uncertainty)

    def _outside(self, G: np.ndarray, doubt: float) -> float:
        """‖C − GᵀG‖²_F: what the candidates' span leaves, less what rounding may add."""
        rest = np.sqrt(float(np.sum((self.state.matrix - G.T @ G) ** 2)))
        return max(0.0, rest - doubt * np.sqrt(self.error)) ** 2
