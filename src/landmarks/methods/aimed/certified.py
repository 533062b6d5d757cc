"""A lower bound for an aim, raised while there is time: eigenvalues, a look ahead, a search.

The look ahead bounds every choice that holds a given candidate. Candidates whose bound is above the
error of a known choice are in no better one, so that the search walks over the others alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...errors import UnsupportedError
from ...problem import Choice, Problem
from ...proof.certificate import Bound
from ...residual.aimed.lookahead import bounds_of_members
from ...runs.runner import stopped
from .exact import MARGIN, exact
from .hunt import Hunt


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
