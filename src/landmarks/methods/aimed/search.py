"""Greedy picks and swaps for an aim, on explicit residuals of the candidates and of the target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...problem import Choice, Problem
from ...residual.aimed.cross import Cross
from ...runs.runner import Step, run
from .hunt import Hunt

TOLERANCE = 1e-9  # of the error that a swap must gain at least
CERTAIN = 1e-12  # of the cost of a drop: how well the gain of a swap is known
LIMIT = 50  # swaps per member


def refill(hunt: Hunt, state: Cross, forbidden: list[int] | None = None) -> bool:
    """Fill the free places greedily; returns whether all could be filled."""
    for place in state.vacant:
        allowed = hunt.open_to(state)
        allowed[forbidden or []] = False
        j = state.best_addition(allowed)
        if j is None:
            return False
        state.add(j, int(place))
    return True


def greedy(problem: Problem) -> Choice:
    """Pick by pick, the candidate that lowers the error most."""
    hunt = Hunt(problem)
    state = hunt.state(np.zeros(0, dtype=np.int64))
    if run("greedy", picked(hunt, state), deadline=problem.deadline):
        return Choice(hunt.indices(state, np.zeros(0, dtype=np.int64)))
    gains = np.where(hunt.open_to(state), state.gains(), -1.0)
    spare = np.argsort(-gains, kind="stable")[: problem.k]
    return Choice(hunt.indices(state, spare[hunt.free[spare]]))


def picked(hunt: Hunt, state: Cross) -> Iterator[Step]:
    """The picks, one at a step."""
    for place in state.vacant:
        j = state.best_addition(hunt.open_to(state))
        if j is None:
            return
        state.add(j, int(place))
        yield Step(len(state.chosen), hunt.problem.k, hunt.relative(state))


def swap(problem: Problem, start: Choice, max_swaps: int | None = None) -> Choice:
    """Improve a start by the best swap until none pays; never worse than its start."""
    hunt = Hunt(problem)
    state = hunt.state(start.indices)
    swaps = descend(hunt, state, max_swaps)
    return Choice(
        hunt.indices(state, start.indices),
        path=start.path,
        trials=start.trials,
        details={"swaps": swaps},
    )


def descend(hunt: Hunt, state: Cross, max_swaps: int | None = None) -> int:
    """Fill what is free, then swap while it pays; returns the number of swaps."""
    descent = Descent(hunt, state, LIMIT * hunt.problem.k if max_swaps is None else max_swaps)
    run("swap", descent.steps(), deadline=hunt.problem.deadline)
    return descent.swaps


class Descent:
    """The swaps from a choice to a local optimum, and how many were made."""

    def __init__(self, hunt: Hunt, state: Cross, limit: int):
        self.hunt, self.state, self.limit = hunt, state, limit
        self.swaps = 0

    def steps(self) -> Iterator[Step]:
        """One swap at a step."""
        while refill(self.hunt, self.state) and self.swaps < self.limit:
            if self.hunt.problem.time_left <= 0 or not swap_best(self.hunt, self.state):
                return
            self.swaps += 1
            yield Step(self.swaps, self.limit, self.hunt.relative(self.state))


def swap_best(hunt: Hunt, state: Cross) -> bool:
    """Make the best swap, once its gain is seen; returns False when none pays beyond rounding."""
    places = hunt.unlocked(state)
    if state.age >= state.oldest:
        state.load(state.chosen)
    while len(places):
        before, members, age = state.inner, state.members.copy(), state.age
        best = state.best_swap(hunt.pairs_open_to(state, places), places)
        if best.gain <= TOLERANCE * before + CERTAIN * best.cost + state.least:
            return False
        state.drop(best.place)
        state.add(best.j, best.place)
        if state.inner < before - best.gain / 2:
            return True
        state.load(state.chosen)  # rounding hides the gain: compute it again
        if not len(state.vacant) and state.inner < before * (1 - TOLERANCE):
            return True
        state.load(members)
        if age == 0:
            return False
        places = hunt.unlocked(state)
    return False
