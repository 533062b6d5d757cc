"""The setting of a swap search: the problem, K, what counts as a gain, and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._array import Array, is_single, like
from ...errors import Stopped
from ...objectives.objective import Objective
from ...placement import exchangeable
from ...problem import Problem, complete
from ...residual.base import Base
from ...residual.compiled.library import Compiled, compilable
from ...residual.exchange import Exchange
from ...residual.stored_powers import powers_seconds
from ...runs.runner import cut_short

CERTAIN = 1e-10  # relative to its terms: how accurate the gain of a swap is


@dataclass(frozen=True)
class Landscape:
    """What stays the same while the choice changes: the problem, K, and what counts as a gain.

    objective : whose error the swaps lower; that of the problem, or one that is cheaper to lower.
    free : the candidates that may be added.
    tolerance : the part of the error that a move must gain at least.
    known : how accurate the gain of a swap is, relative to its terms.
    drift : the relative change of the diagonals by accumulated rounding that makes a state load
        afresh.
    compiled : the compiled search; None where it cannot work on K, or was not compiled.
    """

    problem: Problem
    objective: Objective
    base: Base
    free: np.ndarray
    tolerance: float
    known: float
    drift: float
    compiled: Compiled | None = None

    @classmethod
    def of(
        cls, problem: Problem, objective: Objective | None = None, moves: int | None = None
    ) -> Landscape:
        """Raises Stopped if a deadline leaves no time for it.

        moves : about how many will be made; half of k for a descent from greedy.
        """
        objective = objective or problem.objective
        if not problem.affords_search(objective.depth):
            cut_short()
            raise Stopped("the time is too short for what comes before the first swap")
        pair = problem.searched
        moves = problem.k // 2 if moves is None else moves
        in_time = problem.affords(2 * powers_seconds(pair.operator, objective.depth))
        base = Base(pair, objective.depth, problem.k, moves if in_time else None)
        single, compiled = is_single(pair.operator.like), None
        tolerance, known, drift = (1e-6, 1e-5, 1e-3) if single else (1e-9, CERTAIN, 1e-6)
        if base.factored is not None:
            known = CERTAIN / 100
        if not (single or problem.constraints) and compilable(base):
            compiled = Compiled(base, problem.choosable, problem.include, tolerance, known)
        return cls(problem, objective, base, problem.choosable, tolerance, known, drift, compiled)

    @property
    def direct(self) -> bool:
        """Whether swaps lower the error that the problem asks for, and not another."""
        return self.base.depth == self.problem.objective.depth

    def relative(self, error: float) -> float | None:
        """An error by the objective of the problem as a part of the total."""
        return self.problem.objective.relative(error, self.base.totals)

    def judged(self, state: Exchange) -> float:
        """The error of a state by the objective of the problem, whatever its swaps lower."""
        return state.error_of(self.problem.objective.depth)

    def error(self, state: Exchange) -> float:
        """The error of a state, from scratch where rank-one changes have moved it noticeably."""
        known = state.drift < self.tolerance and (self.base.depth > 0 or state.age == 0)
        return state.error if known else state.recomputed_error()

    def below(self, error: float) -> float:
        """The error from which on another counts as lower."""
        return self.objective.below(error, self.tolerance)

    def least_gain(self, error: float, size: float = 0.0) -> float:
        """What a swap must gain at least: more than rounding, and not too little to matter.

        size : of the terms that the gain is the sum of.
        """
        least = error - self.below(error) + self.known * size
        return max(least, self.base.rounding(error))

    def state(self, indices: np.ndarray) -> Exchange:
        """The state of the independent ones among the indices; those to be included come first."""
        include = np.asarray(self.problem.include, dtype=np.int64)
        rest = self.without_included(indices)[: self.problem.k - len(include)]
        independent = Exchange(self.base, len(include))
        independent.load(include)
        state = Exchange(self.base, self.problem.k - len(independent.vacant))
        state.load(np.concatenate([include, rest]))
        return state

    def without_included(self, indices: np.ndarray) -> np.ndarray:
        """The indices that may be added, without one for each that is included."""
        indices = np.asarray(indices, dtype=np.int64)
        if self.problem.objective.repeats:
            for j in self.problem.include:
                indices = np.delete(indices, np.flatnonzero(indices == j)[:1])
        return indices[np.isin(indices, self.free)]

    def lowest(self, starts: list[np.ndarray]) -> tuple[int, Exchange]:
        """Which of the starts has the lowest error, and its state."""
        states = [self.state(start) for start in starts]
        i = int(np.argmin([state.error for state in states]))
        return i, states[i]

    def open_to(self, state: Exchange) -> np.ndarray:
        """Whether each column may be added to the state."""
        allowed = np.zeros(self.base.operator.n, dtype=bool)
        allowed[self.free] = True
        if not self.problem.objective.repeats:
            allowed[state.chosen] = False
        if self.problem.constraints and len(state.vacant):
            allowed[: self.problem.operator.n] &= self.problem.addable(state.chosen)
        return allowed

    def pairs_open_to(self, state: Exchange) -> Array | None:
        """Whether each column may take the place of each member; None where all may."""
        if not self.problem.constraints:
            return None
        others = np.setdiff1d(self.problem.include, state.chosen).astype(np.int64)
        allowed = exchangeable(self.problem.constraints, np.concatenate([state.chosen, others]))
        rows = np.zeros((len(state.members), self.base.operator.n))
        rows[state.members >= 0, : self.problem.operator.n] = allowed[: len(state.chosen)]
        return like(rows, state.operator.like) > 0

    def unlocked(self, state: Exchange) -> np.ndarray:
        """The places whose member may be dropped; of a repeated one the first stays."""
        return np.flatnonzero((state.members >= 0) & ~state.staying(self.problem.include))

    def indices(self, chosen: np.ndarray, spare: np.ndarray) -> np.ndarray:
        """All k indices: the included, the chosen, then spare ones beyond the rank."""
        problem = self.problem
        if problem.constraints:
            return complete(problem, chosen)
        order = [*problem.include, *self.without_included(chosen)]
        if problem.objective.repeats:
            return complete(problem, order[: problem.k])
        order += [int(j) for j in spare[np.isin(spare, problem.candidates)]]
        return complete(problem, list(dict.fromkeys(int(j) for j in order))[: problem.k])


def as_mask(allowed: np.ndarray, state: Exchange) -> Array:
    """1 where a candidate is allowed and 0 elsewhere, in the array library of the state."""
    return like(allowed, state.operator.like)
