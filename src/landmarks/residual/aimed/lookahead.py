"""What a choice can rebuild at best once it holds a given candidate: a bound for each candidate.

Let T be what the included candidates leave of the target, and G = (P_A T)ᵀ(P_A T) with P_A the
projection on all candidates. Once candidate j is chosen, with t_j = Tᵀr_j/‖r_j‖, the k′ − 1 others
take at most the k′ − 1 largest eigenvalues of G − t_j t_jᵀ (Ky Fan). The bounds of all its members
hold for a choice, so that the k′-th smallest of the bounds holds for every choice of k′ more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ...problem import Problem
from .cross import Cross
from .explicit_aim import Rebuilding
from .tails import reached


def bounds_of_members(
    base: Rebuilding, problem: Problem, ended: Callable[[], bool]
) -> np.ndarray | None:
    """What every choice with each of the free candidates leaves; None when the time is up."""
    k, free, include = problem.k, problem.free, np.asarray(problem.include, dtype=np.int64)
    inside, missed = reached(base.without(problem.exclude), k, False)
    state = Cross(base, k, include)
    more = k - len(include)
    G = inside.T @ inside - base.B.T @ base.B + state.T.T @ state.T
    left, gains = float(np.trace(G)), state.gains()
    doubt = 64 * (sum(base.A.shape) + k) * 2.0**-53 * base.total
    found = np.zeros(len(free))
    for place, j in enumerate(free):
        if ended():
            return None
        rest = left - gains[j] - _largest(_without(G, state, int(j)), more - 1)
        found[place] = base.outside + missed + rest - doubt
    return np.maximum(found, 0.0)


def _without(G: np.ndarray, state: Cross, j: int) -> np.ndarray:
    if state.a[j] <= state.floor[j]:
        return G
    return G - np.outer(state.Z[j], state.Z[j]) / state.a[j]


def _largest(G: np.ndarray, count: int) -> float:
    """The sum of the largest eigenvalues."""
    if count <= 0:
        return 0.0
    if count >= len(G):
        return max(0.0, float(np.trace(G)))
    values = scipy.linalg.eigvalsh(
        G, subset_by_index=(len(G) - count, len(G) - 1), check_finite=False
    )
    return float(np.sum(np.maximum(values, 0.0)))
