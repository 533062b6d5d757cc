"""Sampling by ridge leverage scores, estimated by recursion from samples of halves of the columns.

Musco and Musco, Advances in Neural Information Processing Systems 30 (2017); the ridge for k
columns is that of Cohen, Musco and Musco, SODA (2017).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
import scipy

from ..._array import Array, host, namespace, rank_tolerance, take
from ...linalg.nystrom import pivoted_cholesky, whitened
from ...operators.base import Operator
from ...problem import DRAWN, Choice, Problem, brief, complete
from ...residual.residual import Residual, filled
from ...runs.runner import Step, run
from .uniform import draw_order


@dataclass(frozen=True)
class RidgeLeverage:
    """Draw columns without replacement by their ridge leverage scores.

    Columns that earlier ones already represent are skipped. The ridge is the best rank-k error
    divided by k. Reads O(k) columns at each of log₂(n/k) levels.

    Parameters
    ----------
    oversampling : scores are estimated from samples of about this many times k columns.

    Examples
    --------
    >>> sorted(lm.select(np.diag([1.0, 0.0, 2.0]), 2, method=lm.RidgeLeverage()).indices.tolist())
    [0, 2]
    """

    oversampling: float = 2.0
    honours: ClassVar[frozenset[str]] = DRAWN
    __repr__ = brief

    def __post_init__(self) -> None:
        if not self.oversampling >= 1:
            raise ValueError(f"oversampling must be at least 1, got {self.oversampling!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = Residual(problem.unscaled, problem.k)
        scores = recursive_scores(
            problem.operator, residual.diagonal, problem.k, ceil(self.oversampling * problem.k), rng
        )
        order = problem.free[draw_order(scores[problem.free], rng)]
        if run("leverage", picked(problem, residual, order), residual):
            return Choice(complete(problem, residual.picks))
        return Choice(filled(problem, residual.picks, scores))


def picked(problem: Problem, residual: Residual, order: np.ndarray) -> Iterator[Step]:
    """What must be included, then in order what the picks before it do not represent."""
    for j in problem.include[len(residual.picks) :]:
        residual.pick(j)
    while len(residual.picks) < problem.k:
        order = order[host(residual.left)[order]]
        if len(order) == 0:
            return
        residual.pick(int(order[0]))
        yield Step(len(residual.picks), problem.k, residual.share_of(problem))


def recursive_scores(
    operator: Operator, c: Array, k: int, size: int, rng: np.random.Generator
) -> np.ndarray:
    """The n scores for the diagonal c, from about `size` columns; exact when there are no more."""
    order = rng.permutation(operator.n)
    lowest = operator.n  # halved until it is at most the size, rounded up
    while lowest > size:
        lowest = (lowest + 1) // 2
    part = order[:lowest]
    sample = part
    chance = np.ones(len(part))
    while True:
        scores = sampled_scores(operator, c, part, sample, chance, k)
        if len(part) == operator.n:
            return scores[np.argsort(part)]
        # about `size` positions, each drawn independently; at least the largest
        chance = np.minimum(1.0, size * scores / max(np.sum(scores), np.finfo(float).tiny))
        keep = np.flatnonzero(rng.random(len(scores)) < chance)
        keep = keep if len(keep) > 0 else np.asarray([np.argmax(scores)])
        sample, chance = part[keep], np.maximum(chance[keep], np.finfo(float).eps)
        part = order[: min(operator.n, 2 * len(part))]


def sampled_scores(
    operator: Operator, c: Array, part: np.ndarray, sample: np.ndarray, chance: np.ndarray, k: int
) -> np.ndarray:
    """Scores of the columns in part, from a sample of them and the chance of each to be in it."""
    columns = operator.columns(sample)
    floor = rank_tolerance(c) * (float(namespace(c).max(c)) or 1.0)
    K = host(take(columns, sample)).astype(np.float64)
    B = take(columns, part)
    c = take(c, part)
    ridge = max(tail(K, B, c, k) / k, floor)
    G = whitened(
        scipy.linalg.cholesky(K + np.diag(np.maximum(ridge * chance, floor)), lower=True), B
    )
    left = host(c - namespace(c).sum(G * G, axis=1)).astype(np.float64)
    return np.clip(left / ridge, 0.0, 1.0)


def tail(K: np.ndarray, B: Array, c: Array, k: int) -> float:
    """The trace less the k largest eigenvalues of B K⁻¹ Bᵀ: at least the best rank-k error."""
    pivots = pivoted_cholesky(K)
    F = whitened(pivots.L, take(B, pivots.order, axis=1))
    values = np.linalg.eigvalsh(host(F.T @ F).astype(np.float64))
    return float(np.sum(host(c).astype(np.float64)) - np.sum(values[::-1][:k]))
