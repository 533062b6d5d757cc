"""The error of a choice in whole numbers, without rounding: the reference for computed errors.

Floats are whole numbers times a power of two, so K = XᵀX is one of whole numbers too. Elimination
without fractions (Bareiss, Math. Comp. 22, 1968) gives the residual K − K̂ exactly, at any rank and
any scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Exact:
    """The relative errors of a choice, and its independent members, largest residual first."""

    trace: float
    frobenius: float
    independent: list[int]


def whole(A: np.ndarray) -> np.ndarray:
    """The matrix times a power of two that makes all its entries whole."""
    ratios = [[float(a).as_integer_ratio() for a in row] for row in A]
    common = max(denominator for row in ratios for _, denominator in row)  # all are powers of two
    return np.array(
        [[numerator * (common // denominator) for numerator, denominator in row] for row in ratios],
        dtype=object,
    )


def gram(X: np.ndarray) -> np.ndarray:
    """XᵀX in whole numbers, up to a power of two."""
    X = whole(X)
    return X.T @ X


def errors(K: np.ndarray, S: np.ndarray) -> Exact:
    """The errors of the columns S of a matrix of whole numbers."""
    M, last, left, independent = K, 1, [int(j) for j in S], []
    while left:
        j = max(left, key=lambda i: M[i, i])
        if M[j, j] <= 0:
            break
        M, last = (M[j, j] * M - np.outer(M[:, j], M[j])) // last, M[j, j]
        left.remove(j)
        independent.append(j)
    return Exact(
        _ratio(np.trace(M), last * np.trace(K)),
        _ratio((M * M).sum(), last**2 * (K * K).sum()),
        independent,
    )


def _ratio(part: int, total: int) -> float:
    return float(Fraction(part, total)) if total else 0.0
