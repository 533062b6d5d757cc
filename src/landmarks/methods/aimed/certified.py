"""A lower bound for an aim, raised while there is time: eigenvalues, a lookahead, a search.

The lookahead bounds every choice that contains a given candidate. A candidate whose bound is above
the error of a known choice is in no better choice, so the search needs only the others.

Let T be the residual of the target given the included candidates, and G = (P_A T)ᵀ(P_A T) with P_A
the projection on all candidates. Once candidate j is chosen, with t_j = Tᵀr_j/‖r_j‖, the k′ − 1
others capture at most the k′ − 1 largest eigenvalues of G − t_j t_jᵀ (Ky Fan). A choice satisfies
the bounds of all its members, so the k′-th smallest bound holds for every choice of k′ more.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import scipy.linalg

from ...errors import UnsupportedError
from ...problem import Choice, Problem
from ...proof.certificate import Bound
from ...residual.aimed.cross import Cross
from ...residual.aimed.explicit_aim import Rebuilding
from ...residual.aimed.tails import reached
from ...runs.runner import stopped
from .exact import MARGIN, exact
from .search import Hunt


def certified(problem: Problem, indices: np.ndarray, error: float) -> Bound:
    """The best bound that can be found by the deadline of the problem."""
    best, steps = Bound(0.0, "tail"), 0
    for bound in _bounds(problem, indices, error):
        steps += bound.iterations
        best = max(best, bound, key=lambda found: found.value)
        if best.value >= error * (1 - MARGIN) or problem.time_left <= 0 or stopped():
            break
    return replace(best, iterations=steps)


def _bounds(problem: Problem, indices: np.ndarray, error: float) -> Iterator[Bound]:
    """The bounds, the cheap ones first."""
    hunt = Hunt(problem)
    yield Bound(hunt.bound(), "tail")
    more = problem.k - len(problem.include)
    if more < 1:
        return
    ruled_out: tuple[int, ...] = ()
    if not hunt.aim.repeats and len(problem.free) > more:
        found = bounds_of_members(hunt.base, problem, lambda: problem.time_left <= 0)
        if found is None:
            return
        yield Bound(float(np.sort(found)[more - 1]), "lookahead", len(found))
        ruled_out = tuple(int(j) for j in problem.free[found > error * (1 + MARGIN)])
    bound = _searched(problem, indices, error, ruled_out)
    if bound is not None:
        yield bound


def _searched(
    problem: Problem, indices: np.ndarray, error: float, ruled_out: tuple[int, ...]
) -> Bound | None:
    """What a search over the candidates that are left proves; None where they are too many."""
    kept = tuple(j for j in ruled_out if j not in indices)
    left = replace(problem, exclude=(*problem.exclude, *kept), constraints=())
    if len(left.candidates) < problem.k:
        return None
    try:
        choice = exact(left, Choice(indices))
    except UnsupportedError:
        return None
    if not choice.details["proved"]:
        return None
    return Bound(min(float(choice.bound or 0.0), error), "search", choice.details["nodes"])


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
