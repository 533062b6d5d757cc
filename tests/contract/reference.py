"""What a choice is worth, without rounding: the reference for errors, bounds and proofs.

One rule serves every objective. P is the Gram matrix of the candidates and of what is to be
rebuilt. Measuring candidate j with noise of variance ν_j changes it to P − p pᵀ / (P_jj + ν_j),
where p is column j; ν_j = 0 is a projection, and measuring j twice is a repeat. The error of a
choice is read from the block of P that belongs to what is to be rebuilt: its trace, or the sum of
its squares.

Floats are whole numbers times a power of two, and the rule is carried out on whole numbers by
elimination without fractions (Bareiss, Math. Comp. 22, 1968), so every error here is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Choice = tuple[int, ...]


def whole(A: Any) -> tuple[np.ndarray, int]:
    """Whole numbers M and a power e with A = M / 2^e."""
    A = np.asarray(A, dtype=np.float64)
    ratios = [value.as_integer_ratio() for value in A.ravel().tolist()]
    e = max((den.bit_length() - 1 for _, den in ratios), default=0)
    numbers = np.empty(A.size, dtype=object)
    numbers[:] = [num << (e - den.bit_length() + 1) for num, den in ratios]
    return numbers.reshape(A.shape), e


class Reference:
    """The errors of all choices for one objective.

    Parameters
    ----------
    X or K : the data, or the stored matrix, as floats that are taken exactly.
    target : B with the rows of X, which is rebuilt instead of the candidates.
    vectors : V with one row for each candidate, for the error tr((K − K̂) V Vᵀ).
    noise : one variance, or one for each candidate.
    criterion : "trace", "frobenius" or "logdet".
    """

    def __init__(
        self,
        X: Any = None,
        K: Any = None,
        target: Any = None,
        vectors: Any = None,
        noise: Any = None,
        criterion: str = "trace",
    ):
        P, e = self._gram(X, K, target, vectors)
        self.n = np.shape(K if X is None else X)[1]
        variances, f = whole(np.broadcast_to(0.0 if noise is None else noise, (self.n,)))
        self.power = max(e, f)  # P and the variances are whole numbers over 2^power
        self.criterion = criterion
        self.variances = [v << (self.power - f) for v in variances]
        self.noisy = any(self.variances)
        first = 0 if target is None and vectors is None else self.n
        self.rest = slice(first, len(P))  # what is rebuilt
        P = P * (1 << (self.power - e))
        self._states: dict[Choice, tuple[np.ndarray, int, int]] = {(): (P, 1, 0)}
        self._errors: dict[Choice, Fraction | float] = {}

    @staticmethod
    def _gram(X: Any, K: Any, target: Any, vectors: Any) -> tuple[np.ndarray, int]:
        """The Gram matrix of the candidates and what is rebuilt, times a power of two."""
        if target is not None:
            X = np.hstack([X, target])
        inner, e = whole(K if X is None else X)
        if X is not None:
            inner, e = inner.T.dot(inner), 2 * e
        if vectors is None:
            return inner, e
        V, f = whole(vectors)
        cross, unit = inner.dot(V), 1 << f
        blocks = [[inner * unit * unit, cross * unit], [cross.T * unit, V.T.dot(cross)]]
        return np.block(blocks), e + 2 * f

    def _state(self, S: Choice) -> tuple[np.ndarray, int, int]:
        """P after measuring S, as whole numbers over a divisor, and how many measured nothing."""
        if S not in self._states:
            M, d, idle = self._state(S[:-1])
            j = S[-1]
            p = M[j, j] + d * self.variances[j]
            if p <= 0:
                self._states[S] = M, d, idle + 1
            else:
                self._states[S] = (p * M - np.multiply.outer(M[:, j], M[j])) // d, p, idle
        return self._states[S]

    def error(self, indices: Iterable[int]) -> Fraction | float:
        """The error of a choice: a fraction, or a float in nats for log det."""
        S = tuple(sorted(int(j) for j in indices))
        if S not in self._errors:
            self._errors[S] = self._logdet(S) if self.criterion == "logdet" else self._error(S)
        return self._errors[S]

    def _error(self, S: Choice) -> Fraction:
        """The error by the last member's gain, which needs no further matrix."""
        M, d, _ = self._state(S[:-1])
        left, unit = M[self.rest, self.rest], 1 << self.power
        p = M[S[-1], S[-1]] + d * self.variances[S[-1]] if S else 0
        m = M[self.rest, S[-1]] if p > 0 else np.zeros(len(left), dtype=object)
        if self.criterion == "trace":
            gain = Fraction(int(m.dot(m)), p) if p > 0 else 0
            return (int(np.trace(left)) - gain) / Fraction(d * unit)
        value = Fraction(int((left * left).sum()))
        if p > 0:
            value += Fraction(int(m.dot(m)), p) ** 2 - 2 * Fraction(int(m.dot(left).dot(m)), p)
        return value / (d * unit) ** 2

    def _logdet(self, S: Choice) -> float:
        """−log det K_SS, or −log det(I + K_SS/σ²) with noise above 0, in nats."""
        _, d, idle = self._state(S)
        if idle:
            return math.inf
        size = math.log(d) - len(S) * self.power * math.log(2)
        for j in S if self.noisy else ():
            size -= math.log(self.variances[j]) - self.power * math.log(2)
        return -size

    def total(self) -> Fraction | float:
        """The error of choosing nothing."""
        return self.error(())

    def best(self, choices: Iterable[Sequence[int]]) -> Fraction | float:
        """The lowest error of these choices."""
        return min(map(self.error, choices))

    def independent(self, indices: Iterable[int]) -> list[int]:
        """The members that measure something, in increasing order."""
        S = sorted({int(j) for j in indices})
        pairs = [(S[: i + 1], S[:i]) for i in range(len(S))]
        return [
            longer[-1]
            for longer, shorter in pairs
            if self._state(tuple(longer))[2] == self._state(tuple(shorter))[2]
        ]
