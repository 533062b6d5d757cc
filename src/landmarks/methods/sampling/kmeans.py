"""The points nearest to the centres of k-means, as landmarks of a kernel.

Zhang, Tsang and Kwok, ICML (2008), with points of the set in place of the centres.
"""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import _check
from ..._array import host
from ...errors import UnsupportedError
from ...problem import DRAWN, Choice, Problem, complete
from ...residual.residual import Residual


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
        if not hasattr(problem.operator, "points"):
            raise UnsupportedError(
                f"KMeans needs the points of a kernel, got {problem.operator!r}; "
                "use greedy or rpcholesky"
            )
        points = host(problem.operator.points).astype(np.float64)
        free = problem.free
        points = _check.scaled(points, _check.exponent(float(np.max(np.abs(points))), points))
        residual = Residual(problem.unscaled, problem.k)
        for j in problem.include:
            residual.pick(j)
        for centre in centres(points, problem.k - len(problem.include), rng):
            new = free[host(residual.left)[free]]
            if len(new) == 0:
                break
            distances = np.sum((points[new] - centre) ** 2, axis=1)
            residual.pick(int(new[np.argmin(distances)]))
        return Choice(complete(problem, residual.picks))


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
