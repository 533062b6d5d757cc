"""The k-DPP: exact draws of subsets of size k with probability proportional to det K_SS.

Kulesza and Taskar, ICML (2011); as a sampler for Nyström approximation, Li, Jegelka and Sra, ICML
(2016).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from ..._array import eps, host
from ...operators.forms import densify
from ...operators.parts import draw
from ...problem import DRAWN, Choice, Problem, complete
from ...residual.residual import Residual


@dataclass(frozen=True)
class KDPP:
    """Draw a subset with probability proportional to det K_SS, from the eigenvectors of K: O(n³).

    With included or excluded columns it draws exactly from the conditional distribution.

    Examples
    --------
    >>> sorted(lm.select(np.diag([1.0, 0.0, 2.0]), 2, method=lm.KDPP()).indices.tolist())
    [0, 2]
    """

    honours: ClassVar[frozenset[str]] = DRAWN

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = Residual(problem.unscaled, len(problem.include))
        for j in problem.include:
            residual.pick(j)
        free = problem.free
        # given that the picks are chosen, the kernel is the Schur complement K − F Fᵀ
        F = host(residual.panel.rows(np.arange(problem.operator.n))).astype(np.float64)
        C = host(densify(problem.operator)).astype(np.float64) - F @ F.T
        values, vectors = positive_part(C[np.ix_(free, free)], eps(problem.operator.like))
        size = min(problem.k - len(problem.include), len(values))
        V = vectors[:, draw_eigenvalues(values, size, rng)]
        return Choice(complete(problem, [*problem.include, *free[draw_projection(V, rng)]]))


def positive_part(C: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues above rounding and their eigenvectors."""
    if len(C) == 0:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = scipy.linalg.eigh(C, check_finite=False)
    positive = values > 10 * len(C) * rounding * values[-1]
    return values[positive], vectors[:, positive]


def draw_eigenvalues(values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of eigenvalues; a set has a probability in proportion to its product."""
    E = log_elementary(values, size)
    chosen: list[int] = []
    for i in range(len(values), 0, -1):
        left = size - len(chosen)
        if (
            left > 0
            and np.log(rng.random()) < np.log(values[i - 1]) + E[i - 1, left - 1] - E[i, left]
        ):
            chosen.append(i - 1)
    return np.asarray(chosen, dtype=np.int64)


def log_elementary(values: np.ndarray, size: int) -> np.ndarray:
    """log e_l(values[:i]) at [i, l], with e_l the elementary symmetric polynomials.

    Logarithms cannot overflow.
    """
    E = np.full((len(values) + 1, size + 1), -np.inf)
    E[:, 0] = 0.0
    for i, value in enumerate(np.log(values), start=1):
        E[i, 1:] = np.logaddexp(E[i - 1, 1:], value + E[i - 1, :-1])
    return E


def draw_projection(V: np.ndarray, rng: np.random.Generator) -> list[int]:
    """As many indices as V has columns, from the determinantal process of the projection V Vᵀ."""
    n, size = V.shape
    left = np.sum(V * V, axis=1)
    F = np.zeros((n, size))
    picks: list[int] = []
    for i in range(size):
        j = int(draw(np.where(left > 1e-12, left, 0.0), 1, rng)[0])
        column = V @ V[j] - F @ F[j]
        F[:, i] = column / np.sqrt(column[j])
        left = left - F[:, i] ** 2
        left[j] = 0.0
        picks.append(j)
    return picks
