"""The best choice for an aim by depth-first search, pruned by the largest eigenvalues.

What k′ more candidates can gain is at most the sum of the k′ largest eigenvalues of T Tᵀ (Ky Fan),
with T the residual of the target given the candidates chosen before. The last candidate is found by
comparing all at once.
"""

import math

import numpy as np
import scipy.linalg

from ...errors import UnsupportedError
from ...problem import Choice, Problem
from ...residual.aimed.cross import Cross
from ...runs.runner import stopped
from .search import Hunt, descend

MOST = 200_000  # most choices of k − 1 candidates that may have to be examined
MARGIN = 1e-9  # relative to the error: choices that are better by less are not searched for


def count(problem: Problem) -> int:
    """How many choices of all but the last candidate there are."""
    free, picks = len(problem.free), problem.k - len(problem.include) - 1
    if problem.aim is not None and problem.aim.repeats:
        return math.comb(len(problem.candidates) + picks - 1, picks) if picks > 0 else 1
    return math.comb(free, picks) if picks > 0 else 1


def exact(problem: Problem, start: Choice) -> Choice:
    """The best choice of all, with its proof; at the deadline the best one found."""
    if count(problem) > MOST:
        raise UnsupportedError(
            f"with a target or noise, exact searches at most {MOST} choices of k − 1 candidates, "
            f"but here there are {count(problem):.3g}; use auto or iterated"
        )
    hunt = Hunt(problem)
    state = hunt.state(start.indices)
    descend(hunt, state)
    walk = Enumeration(hunt, hunt.indices(state, start.indices))
    ended = walk.run()
    bound = walk.bound if ended else hunt.bound()
    details = {"proved": ended and walk.sure, "nodes": walk.nodes}
    return Choice(walk.best, bound=min(bound, walk.error), details=details)


class Enumeration:
    """The best choice so far, and the walk over the others."""

    def __init__(self, hunt: Hunt, first: np.ndarray):
        self.hunt, self.best = hunt, first
        self.error = hunt.base.error(first)
        self.rounding = hunt.base.least(hunt.problem.k)
        self.nodes = 0
        self.order = np.flatnonzero(hunt.free)

    @property
    def inner(self) -> float:
        """The error without what no choice can change."""
        return self.error - self.hunt.base.outside

    @property
    def sure(self) -> bool:
        """Whether the error is far above the rounding of the target, or there is none."""
        return self.error == 0 or self.error > self.rounding / MARGIN

    @property
    def bound(self) -> float:
        """What every choice leaves at least, once all have been looked at."""
        return max(0.0, self.error * (1 - MARGIN) - self.rounding)

    def run(self) -> bool:
        """Look at all choices; returns False when the time was up before."""
        include = np.asarray(self.hunt.problem.include, dtype=np.int64)
        state = Cross(self.hunt.base, self.hunt.problem.k, include)
        if len(state.vacant) > self.hunt.problem.k - len(include):
            return False  # what must be included is dependent: places are not picks
        return self._below(state, 0) if len(state.vacant) else True

    def _below(self, state: Cross, first: int) -> bool:
        """All choices that add candidates from a position on to the state."""
        self.nodes += 1
        if self.nodes % 64 == 0 and (self.hunt.problem.time_left <= 0 or stopped()):
            return False
        if len(state.vacant) == 1:
            self._last(state, first)
            return True
        if self._hopeless(state):
            return True
        for position in range(first, len(self.order)):
            j = int(self.order[position])
            if state.a[j] <= state.floor[j]:
                continue  # adds nothing: what is chosen with it is chosen with any other as well
            deeper = state.copy()
            deeper.add(j, int(state.vacant[0]))
            if not self._below(deeper, position if self.hunt.aim.repeats else position + 1):
                return False
        self._offer(state)
        return True

    def _last(self, state: Cross, first: int) -> None:
        allowed = np.zeros(self.hunt.base.n, dtype=bool)
        allowed[self.order[first:]] = True
        j = state.best_addition(allowed)
        if j is None or state.inner - state.gains()[j] >= self.inner * (1 - MARGIN):
            return
        better = state.copy()
        better.add(j, int(state.vacant[0]))
        self._offer(better)

    def _hopeless(self, state: Cross) -> bool:
        """Whether no choice below can be better than the best one by more than the margin."""
        values = scipy.linalg.svdvals(state.T, check_finite=False) ** 2
        least = float(np.sum(values[len(state.vacant) :]))
        return least - self.rounding >= self.inner * (1 - MARGIN)

    def _offer(self, state: Cross) -> None:
        if state.inner >= self.inner * (1 - MARGIN):
            return
        chosen = self.hunt.indices(state)
        error = self.hunt.base.error(chosen)
        if error < self.error:
            self.best, self.error = chosen, error
