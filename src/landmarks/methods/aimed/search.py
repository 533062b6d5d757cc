"""Greedy picks and swaps for an aim, on explicit residuals of the candidates and of the target."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import RankWarning
from ...linalg.aim import Aim
from ...placement.packing import exchangeable
from ...problem import Choice, Problem, complete
from ...residual.aimed.cross import Cross
from ...residual.aimed.explicit_aim import Rebuilding
from ...residual.aimed.rebuilding import rebuilding
from ...residual.aimed.tails import safe_bound
from ...runs.runner import Step, run
from ...runs.state import State

TOLERANCE = 1e-9  # relative to the error: the least gain of a swap
CERTAIN = 1e-12  # relative to the cost of a drop: how accurate the gain of a swap is
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
    """Add, one at a time, the candidate that lowers the error most."""
    hunt = Hunt(problem)
    state = hunt.state(np.zeros(0, dtype=np.int64))
    if run("greedy", picked(hunt, state), state, deadline=problem.deadline):
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
    """Improve a start by the best swap until none lowers the error; never worse than its start."""
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
    """Fill free places, then swap while the error decreases; returns the number of swaps."""
    limit = LIMIT * hunt.problem.k if max_swaps is None else max_swaps
    made = Made()

    def steps() -> Iterator[Step]:
        while refill(hunt, state) and made.swaps < limit:
            if hunt.problem.time_left <= 0 or not swap_best(hunt, state):
                return
            made.swaps += 1
            yield Step(made.swaps, limit, hunt.relative(state))

    run("swap", steps(), made, state, deadline=hunt.problem.deadline)
    return made.swaps


@dataclass
class Made(State):
    """How many swaps were made."""

    swaps: int = 0


def swap_best(hunt: Hunt, state: Cross) -> bool:
    """Make the best swap if its gain is confirmed; returns False if none gains beyond rounding."""
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


class Hunt:
    """What stays the same while the choice changes: the problem, the columns, who may be chosen."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.aim = aim_of(problem)
        self.base = rebuilding(problem.operator, self.aim)
        self.free = np.zeros(self.base.n, dtype=bool)
        self.free[problem.candidates if self.aim.repeats else problem.free] = True

    def state(self, indices: np.ndarray) -> Cross:
        """The state of what must be included and then of the indices, as far as they are new."""
        include = np.asarray(self.problem.include, dtype=np.int64)
        rest = [int(j) for j in indices]
        for j in include:
            if j in rest:
                rest.remove(int(j))
        rest = [j for j in rest if self.free[j]]
        wanted = np.concatenate([include, np.asarray(rest, dtype=np.int64)])
        return Cross(self.base, self.problem.k, wanted[: self.problem.k])

    def open_to(self, state: Cross) -> np.ndarray:
        """Whether each candidate may be added to the state."""
        allowed = self.free.copy()
        if not self.aim.repeats:
            allowed[state.chosen] = False
        if self.problem.constraints and len(state.vacant):
            allowed &= self.problem.addable(state.chosen)
        return allowed

    def pairs_open_to(self, state: Cross, places: np.ndarray) -> np.ndarray:
        """Whether each candidate may take each of the places, in the places' order."""
        allowed = np.broadcast_to(self.open_to(state), (len(places), self.base.n))
        if not self.problem.constraints:
            return allowed
        seats = np.flatnonzero(state.members >= 0)
        others = np.setdiff1d(self.problem.include, state.chosen).astype(np.int64)
        pairs = exchangeable(self.problem.constraints, np.concatenate([state.chosen, others]))
        return allowed & pairs[np.searchsorted(seats, places)]

    def unlocked(self, state: Cross) -> np.ndarray:
        """The places whose member may be dropped; of a repeated one the first stays."""
        locked, places = list(self.problem.include), []
        for place, j in enumerate(state.members):
            if j in locked:
                locked.remove(int(j))
            elif j >= 0:
                places.append(place)
        return np.asarray(places, dtype=np.int64)

    def indices(self, state: Cross, spare: np.ndarray | None = None) -> np.ndarray:
        """The choice of a state, filled up with spare ones where nothing more can be gained."""
        chosen = [int(j) for j in state.chosen]
        if self.problem.constraints:
            return complete(self.problem, chosen)
        missing = [j for j in self.problem.include if j not in chosen]
        picks = [*missing, *chosen]
        if len(picks) < self.problem.k and spare is not None:
            picks += [int(j) for j in spare if int(j) not in picks]
        picks = picks[: self.problem.k]
        if len(picks) < self.problem.k:
            self._warn(len(picks))
        return filled(self.problem, picks) if self.aim.repeats else complete(self.problem, picks)

    def _warn(self, count: int) -> None:
        """Say once that fewer than k rebuild all that can be rebuilt."""
        if "rank" not in self.problem.warned:
            warnings.warn(
                f"{count} candidates, fewer than k = {self.problem.k}, rebuild all of the target "
                "that can be rebuilt; further ones add nothing",
                RankWarning,
                stacklevel=2,
            )
        self.problem.warned.add("rank")

    def bound(self) -> float:
        """What no choice can go below, by the best directions."""
        base = self.base.without(self.problem.exclude)
        return safe_bound(base, self.problem.k, self.aim.repeats)

    def relative(self, state: Cross) -> float:
        """The error as a part of the total."""
        return state.error / (self.base.total or 1.0)


def aim_of(problem: Problem) -> Aim:
    """The aim of a problem that has one."""
    if problem.aim is None:
        raise ValueError("the problem has no aim; use the methods for a trace or Frobenius error")
    return problem.aim


def base_of(problem: Problem) -> Rebuilding:
    """The explicit columns of a problem that has an aim."""
    return rebuilding(problem.operator, aim_of(problem))


def filled(problem: Problem, picks: list[int]) -> np.ndarray:
    """The picks, filled up to k with candidates in turn: each may come again."""
    rest = np.resize(problem.candidates, problem.k)[: problem.k - len(picks)]
    return np.concatenate([np.asarray(picks, dtype=np.int64), rest.astype(np.int64)])
