"""The fixed part of a search for an aim: the columns, and who may be chosen or dropped."""

from __future__ import annotations

import warnings

import numpy as np

from ...errors import RankWarning
from ...linalg.aim import Aim
from ...placement.packing import exchangeable
from ...problem import Problem, complete
from ...residual.aimed.cross import Cross
from ...residual.aimed.explicit_aim import Rebuilding
from ...residual.aimed.rebuilding import rebuilding
from ...residual.aimed.tails import safe_bound


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
                f"{count} candidates rebuild all of the target that can be rebuilt, fewer than "
                f"k = {self.problem.k}; the rest adds nothing",
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
