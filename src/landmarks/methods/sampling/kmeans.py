"""The points nearest to the centres of k-means, as landmarks of a kernel.

Zhang, Tsang and Kwok, ICML (2008), with points of the set in place of the centres.
"""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._array import host, take
from ...errors import UnsupportedError
from ...operators.base import in_parts
from ...problem import DRAWN, Choice, Problem, complete
from ...residual.factors import independent
from ...residual.residual import residual_of

SAMPLE = 100_000  # points that the centres are of, drawn where there are more
AHEAD = 128  # centres whose nearest points are found at a time


@dataclass(frozen=True)
class KMeans:
    """The points nearest to the centres of k-means that are not represented yet; for kernels.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> sorted(lm.select(lm.kernel(points, lm.rbf()), 2, method=lm.KMeans()).indices.tolist())
    [1, 4]
    """

    honours: ClassVar[frozenset[str]] = DRAWN

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        operator: Any = problem.operator
        parts = in_parts(operator)
        if not hasattr(operator, "points" if parts is None else "rule"):
            raise UnsupportedError(
                f"KMeans needs the points of a kernel, got {operator!r}; use greedy or rpcholesky"
            )
        sample = np.arange(operator.n)
        if operator.n > SAMPLE:
            sample = np.unique(rng.integers(operator.n, size=SAMPLE))
        if parts is not None:
            points = parts.points_at(sample)
        else:
            points = host(take(operator.points, sample)).astype(np.float64)
        power = _check.exponent(float(np.max(np.abs(points))), points)
        count = problem.k - len(problem.include)
        found = centres(_check.scaled(points, power), count, rng)
        residual = residual_of(problem, problem.unscaled)
        for j in problem.include:
            residual.pick(j)
        if parts is not None:
            pick_in_parts(residual, found, power)
        else:
            pick_nearest(problem, residual, found, power)
        return Choice(complete(problem, residual.picks))


def pick_nearest(problem: Problem, residual: Any, found: np.ndarray, power: int) -> None:
    """For each centre the nearest point that is not represented yet."""
    operator: Any = problem.operator
    points = _check.scaled(host(operator.points).astype(np.float64), power)
    for centre in found:
        new = problem.free[host(residual.left)[problem.free]]
        if len(new) == 0:
            break
        residual.pick(int(new[np.argmin(np.sum((points[new] - centre) ** 2, axis=1))]))


def pick_in_parts(residual: Any, found: np.ndarray, power: int) -> None:
    """The same in parts: for many centres at a time, up to the first whose point is represented.

    Fewer points are left after every pick, so the nearest one stays it as long as it is left.
    """
    while len(found) > 0:
        indices = residual.nearest(found[:AHEAD], power)
        if len(indices) == 0:
            return
        kept, L = independent(residual.principal(indices), residual.floor_at(indices))
        count = int(np.sum(np.cumprod(kept == np.arange(len(kept)))))  # up to the first represented
        if count == 0:
            residual.clear(indices[:1])  # rounding alone said that something was left
            continue
        residual.pick_block(indices[:count], L[:count, :count])
        found = found[count:]


def centres(points: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The centres of k-means, one run from a k-means++ start."""
    from sklearn.cluster import KMeans as Lloyd
    from sklearn.exceptions import ConvergenceWarning

    if count == 0:
        return points[:0]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # fewer distinct points than centres: the rank says it
        return (
            Lloyd(count, n_init=1, random_state=int(rng.integers(2**31)))
            .fit(points)
            .cluster_centers_
        )
