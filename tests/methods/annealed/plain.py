"""Leverage mean-field annealing as in docs/annealed.md, with all of K and without regard to cost.

C is computed from its definition, and what a column would gain from C without its own weight.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import landmarks as lm
from landmarks.methods.annealed import entropic


@dataclass
class Plain:
    """The state of one run; `rows` holds √p of the columns and the objective, by step.

    M, outside : the error for a target is tr MC + outside; None is the trace of C or of C².
    """

    K: np.ndarray
    k: int
    settings: lm.Annealed
    frobenius: bool
    offsets: np.ndarray
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    M: np.ndarray | None = None
    outside: float = 0.0
    rows: list[tuple[np.ndarray, float]] = field(default_factory=list)

    def run(self) -> list[int]:
        """The chosen columns."""
        self.start()
        for spread in np.geomspace(self.settings.phi0, self.settings.phi1, self.settings.n_steps):
            self.move(spread)
        while self.places and len(self.free):
            self.decimate()
            for _ in range(self.settings.between if self.places else 0):
                self.move(self.settings.phi1)
        return self.fixed

    def start(self) -> None:
        n = len(self.K)
        self.K = self.K.copy()
        self.first, self.own = np.diag(self.K).copy(), np.diag(self.K).copy()
        self.floor, self.terms = 1e-12 * self.first, np.zeros(n)
        self.open = np.ones(n, dtype=bool)
        self.open[list(self.exclude)] = False
        self.fixed, self.p, self.narrowed = list[int](), np.zeros(n), False
        for j in sorted(self.include):
            self.fix(j)
        self.p[self.free] = self.places / len(self.free)

    @property
    def places(self) -> int:
        return self.k - len(self.fixed)

    @property
    def free(self) -> np.ndarray:
        left = self.open & (np.diag(self.K) > self.floor)
        left[self.fixed] = False
        return np.flatnonzero(left)

    @property
    def cut(self) -> float:
        return min(0.01, self.places / (2 * len(self.free)))

    def fix(self, j: int) -> None:
        self.K -= np.outer(self.K[:, j], self.K[j]) / self.K[j, j]
        self.K[j], self.K[:, j], self.p[j] = 0.0, 0.0, 0.0
        self.fixed.append(j)

    def move(self, spread: float) -> None:
        free = self.free
        if len(free) <= self.places:
            self.p[free] = 1.0
            return
        gamma = self.settings.gamma or (1.5 if self.frobenius else 1.0)
        delta = gamma * np.maximum(self.own, 1e-8 * np.mean(np.diag(self.K)))
        q = np.minimum(self.p, 0.95)
        d = np.where(q > self.cut, q / ((1 - q) * delta), 0.0)
        A = np.flatnonzero(d)
        C = self.K - self.K[:, A] @ np.linalg.solve(
            np.diag(1 / d[A]) + self.K[np.ix_(A, A)], self.K[A]
        )
        at = free if self.narrowed else np.arange(len(self.K))
        gains = np.array([self.gain(C, d, j) for j in at])
        self.own[at] = np.diag(C)[at] / (1 - d * np.diag(C))[at]
        scores = (np.log(np.maximum(gains, 1e-12 * gains.max())) + self.offsets[at])[
            np.isin(at, free)
        ]
        self.p[free] += self.settings.damping * (
            entropic(scores, self.places, spread) - self.p[free]
        )
        self.terms[at] = np.diag(C @ C if self.frobenius else C)[at]
        value = self.terms.sum() if self.M is None else np.sum(self.M * C) + self.outside
        self.rows.append((np.where(d > 0, np.sqrt(self.p), 0.0), float(value)))

    def gain(self, C: np.ndarray, d: np.ndarray, j: int) -> float:
        """What column j gains when it goes from out to in, the others as they are."""
        out = C + d[j] / (1 - d[j] * C[j, j]) * np.outer(C[:, j], C[j])
        if out[j, j] <= 0:
            return 0.0
        inside = out - np.outer(out[:, j], out[j]) / out[j, j]
        if self.M is not None:
            return float(np.sum(self.M * (out - inside)))
        if self.frobenius:
            return float(np.sum(out**2) - np.sum(inside**2))
        return float(np.trace(out) - np.trace(inside))

    def ranked(self) -> np.ndarray:
        return self.free[np.argsort(-np.round(self.p[self.free], 9), kind="stable")]

    def decimate(self) -> None:
        """Fix a share of the places, drop what is represented and weighs nothing, rescale."""
        wanted = len(self.fixed) + max(1, round(self.settings.fixed * self.places))
        before = np.diag(self.K).copy()
        for j in self.ranked():
            if len(self.fixed) < wanted and self.K[j, j] > before[j] / 2:
                self.fix(int(j))
        rest = self.ranked()[3 * self.places :]
        light = (np.diag(self.K)[rest] < self.first[rest] / 2) & (self.p[rest] <= self.cut)
        self.open[rest[light]] = False
        self.narrowed = True
        leverages = self.p[self.free]
        self.p[:] = 0.0
        self.p[self.free] = np.minimum(leverages * self.places / leverages.sum(), 1.0)
