"""The setting of a swap search: the problem, K, what counts as a gain, and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._array import Array, is_single, like
from ...placement.packing import exchangeable
from ...problem import Problem, complete
from ...residual.base import Base
from ...residual.compiled.library import Compiled, compilable
from ...residual.exchange import Exchange
from ...residual.loading import error_of
from ...residual.powers import POWERS, total

CERTAIN = 1e-10  # relative to its terms: how accurate the gain of a swap is


@dataclass(frozen=True)
class Landscape:
    """What stays the same while the choice changes: the problem, K, and what counts as a gain.

    tolerance : the part of the error that a move must gain at least.
    drift : the relative change of diag C or diag C² by accumulated rounding that makes a state load
        afresh.
    compiled : the compiled search; None where it cannot work on K, or was not compiled.
    """

    problem: Problem
    base: Base
    free: np.ndarray
    tolerance: float
    drift: float
    compiled: Compiled | None = None

    @classmethod
    def of(cls, problem: Problem, criterion: str, moves: int | None = None) -> Landscape:
        """moves : about how many will be made; half of k for a descent from greedy."""
        operator = problem.operator.searchable(problem.k)
        single = is_single(operator.like)
        base = Base(operator, criterion, problem.k, problem.k // 2 if moves is None else moves)
        if single:
            return cls(problem, base, problem.free, tolerance=1e-6, drift=1e-3)
        found = cls(problem, base, problem.free, tolerance=1e-9, drift=1e-6)
        if problem.constraints or not compilable(base):
            return found
        known = CERTAIN if base.factored is None else CERTAIN / 100
        compiled = Compiled(base, problem.free, problem.include, found.tolerance, known)
        return replace(found, compiled=compiled)

    @property
    def direct(self) -> bool:
        """Whether swaps lower the error that the problem asks for, and not another."""
        return self.base.powers == POWERS[self.problem.criterion]

    def relative(self, error: float) -> float | None:
        """An error by the criterion of the problem as a part of the total."""
        whole = self.base.totals[POWERS[self.problem.criterion] - 1]
        return error / whole if whole > 0 else None

    def judged(self, state: Exchange) -> float:
        """The error of a state by the criterion of the problem, whatever its swaps lower."""
        return total(state.diagonals[POWERS[self.problem.criterion] - 1])

    def error(self, state: Exchange) -> float:
        """The error of a state, from scratch where rank-one changes have moved it noticeably."""
        return state.error if state.drift < self.tolerance else state.recomputed_error()

    def least_gain(self, error: float, size: float = 0.0) -> float:
        """What a swap must gain at least: more than rounding, and not too little to matter.

        size : of the terms that the gain is the sum of.
        """
        known = 10 * self.tolerance if is_single(self.base.operator.like) else CERTAIN
        known = known if self.base.factored is None else CERTAIN / 100
        return max(self.tolerance * error + known * size, self.base.rounding(error))

    def state(self, indices: np.ndarray, quick: bool = False) -> Exchange:
        """The state of the independent ones among the indices; those to be included come first.

        quick : whether it may have fewer digits, where that takes less time.
        """
        include = np.asarray(self.problem.include, dtype=np.int64)
        rest = indices[np.isin(indices, self.free)][: self.problem.k - len(include)]
        independent = Exchange(self.base, len(include))
        independent.load(include)
        state = Exchange(self.base, self.problem.k - len(independent.vacant))
        state.load(np.concatenate([include, rest]), quick)
        return state

    def error_at(self, indices: np.ndarray) -> float:
        """The error of the indices, without a state where that takes far longer."""
        if self.base.slow_loads:
            return error_of(self.base, indices)
        return self.state(indices).error

    def lowest(self, starts: list[np.ndarray]) -> tuple[int, Exchange]:
        """Which of the starts has the lowest error, and its state."""
        if self.base.slow_loads and len(starts) > 1:
            i = int(np.argmin([self.error_at(start) for start in starts]))
            return i, self.state(starts[i])
        states = [self.state(start) for start in starts]
        i = int(np.argmin([state.error for state in states]))
        return i, states[i]

    def open_to(self, state: Exchange) -> np.ndarray:
        """Whether each candidate may be added to the state."""
        allowed = np.zeros(self.problem.operator.n, dtype=bool)
        allowed[self.free] = True
        allowed[state.chosen] = False
        if self.problem.constraints and len(state.vacant):
            allowed &= self.problem.addable(state.chosen)
        return allowed

    def pairs_open_to(self, state: Exchange) -> Array | None:
        """Whether each candidate may take the place of each member; None where all may."""
        if not self.problem.constraints:
            return None
        others = np.setdiff1d(self.problem.include, state.chosen).astype(np.int64)
        allowed = exchangeable(self.problem.constraints, np.concatenate([state.chosen, others]))
        rows = np.zeros((len(state.members), self.problem.operator.n))
        rows[state.members >= 0] = allowed[: len(state.chosen)]
        return like(rows, state.operator.like) > 0

    def unlocked(self, state: Exchange) -> np.ndarray:
        """The places whose member may be dropped."""
        seated = state.members >= 0
        if self.problem.include:
            seated &= ~np.isin(state.members, self.problem.include)
        return np.flatnonzero(seated)

    def indices(self, chosen: np.ndarray, spare: np.ndarray) -> np.ndarray:
        """All k indices: the included, the chosen, then spare ones beyond the rank."""
        if self.problem.constraints:
            return complete(self.problem, chosen)
        order = [
            *self.problem.include,
            *chosen,
            *spare[np.isin(spare, self.problem.candidates)],
        ]
        return complete(self.problem, list(dict.fromkeys(int(j) for j in order))[: self.problem.k])


def as_mask(allowed: np.ndarray, state: Exchange) -> Array:
    """1 where a candidate is allowed and 0 elsewhere, in the array library of the state."""
    return like(allowed, state.operator.like)
