"""A deterministic choice whose trace error is at most k + 1 times the best rank-k error.

Osinsky, "Close to optimal column approximations with a single SVD", arXiv:2308.09068 (2023),
proves √(k + 1) in the Frobenius norm of X − P_S X, which is k + 1 for the trace error.

Let V hold the k leading right singular vectors of X and E = X − X V Vᵀ, so that E V = 0. To rebuild
X from the columns S by matching the rows of V there leaves E after the steps below. A step picks j,
takes v_j out of the rows of V and adds ‖e_j‖²/‖v_j‖² to ‖E‖²: nothing else, since E V = 0 stays
true.
With t picks made Σ ‖v_j‖² = k − t, so some j adds at most ‖E‖²/(k − t), and the k factors
1 + 1/(k − t) multiply to k + 1. The least-squares error of the columns is no larger.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._array import host
from ...linalg.error import spectrum
from ...operators.base import Operator
from ...operators.dense import Data, Dense
from ...operators.forms import densify, in_double
from ...problem import INCLUDE_EXCLUDE, Choice, Problem, brief, complete

AFFORDABLE = 2e9  # most multiplications of a decomposition for checking the promise


@dataclass(frozen=True)
class Osinsky:
    """A choice with a guarantee: trace error ≤ (k + 1) × the best rank-k error.

    It takes one singular value decomposition, so it suits n up to a few thousand. K is first
    conditioned on included columns, and the guarantee then holds for the residual. With excluded
    columns there is no guarantee, since none exists. The criterion is always the trace.

    Examples
    --------
    >>> from landmarks.methods.greedy.osinsky import Osinsky
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> s = lm.select(X, 3, method=Osinsky())
    >>> s.error() <= 4 * s.best_rank_error()
    True
    """

    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE
    __repr__ = brief

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        picks = matched(left(problem), problem.k - len(problem.include), problem.free)
        return Choice(complete(problem, [*problem.include, *picks]))


def promised(problem: Problem) -> float:
    """A bound on the trace error of this choice; ∞ where there is none, or it costs too much."""
    operator, r = problem.operator, problem.k - len(problem.include)
    if (
        not problem.objective.additive
        or not problem.objective.plain
        or problem.exclude
        or problem.constraints
        or not isinstance(operator, Data | Dense)
    ):
        return np.inf
    m, n = operator.m or operator.n, operator.n
    work = n * m * min(n, m)
    if work > AFFORDABLE or not problem.affords(1e-9 * work):
        return np.inf
    values = spectrum(operator)
    if problem.include:
        values = np.linalg.svd(left(problem), compute_uv=False) ** 2
    return (r + 1) * float(np.sum(values[r:]))


def left(problem: Problem) -> np.ndarray:
    """F with K = FᵀF, less its projection on the included columns."""
    F = factor(problem.operator)
    if not problem.include:
        return F
    Q = np.linalg.qr(F[:, list(problem.include)])[0]
    return F - Q @ (Q.T @ F)


def factor(operator: Operator) -> np.ndarray:
    """F with K = FᵀF in float64: X itself, or the root of K from its eigenvalues."""
    operator = in_double(operator)
    if operator.m is not None:
        return np.asarray(host(operator.factor()), dtype=np.float64)
    values, vectors = np.linalg.eigh(np.asarray(host(densify(operator)), dtype=np.float64))
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def matched(F: np.ndarray, k: int, allowed: np.ndarray) -> list[int]:
    """Up to k of the allowed columns; fewer when the rank of F is reached."""
    _, sigma, Vt = np.linalg.svd(F, full_matrices=False)
    k = min(k, int(np.sum(sigma > sigma[0] * max(F.shape) * 2.0**-52))) if len(sigma) else 0
    V, E = Vt[:k].T.copy(), sigma[k:, None] * Vt[k:]
    closed, picks = np.ones(F.shape[1], dtype=bool), []
    closed[allowed] = False
    for _ in range(k):
        leverage = np.sum(V * V, axis=1)
        open_to = ~closed & (leverage > 2.0**-40)
        if not np.any(open_to):
            break
        ratio = np.where(open_to, np.sum(E * E, axis=0) / np.where(open_to, leverage, 1.0), np.inf)
        j = int(np.argmin(ratio))
        alpha = V @ V[j] / leverage[j]
        V, E = V - np.multiply.outer(alpha, V[j]), E - np.multiply.outer(E[:, j], alpha)
        closed[j] = True
        picks.append(j)
    return picks
