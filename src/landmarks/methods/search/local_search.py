"""Descent by swaps from a choice to a local optimum: fill what is free, then make the best swap while it pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._array import Array, eps, first_argmax, host, is_array, is_single, like
from ...operators.base import MEMORY, Operator, check_indices, densify, itemsize
from ...operators.dense import Dense
from ...operators.double import in_double
from ...problem import Choice, Problem, complete
from ...residual.exchange import POWERS, Diagonals, Exchange
from ...residual.factors import factorise
from ...residual.pairs import best_swap
from ...runs.journal import Loop, Variables
from ..phase import run_phase

LIMIT = 5  # swaps per landmark: from greedy it takes less than one
DOUBTS = 5  # loads afresh in a row that show no progress: near the rank the gains themselves are rounding
HOST = 2048  # up to this order a stored matrix is worked on with NumPy in float64, whatever library it came in


@dataclass(frozen=True)
class Ground:
    """What stays the same while the choice changes: the problem, diagonals of powers of K, and what counts as a gain."""

    problem: Problem
    base: Diagonals
    free: np.ndarray
    tolerance: float
    drift: float
    rounding: float

    @classmethod
    def of(cls, problem: Problem, criterion: str, operator: Operator) -> Ground:
        single, base = is_single(operator.like), Diagonals(operator, criterion)
        rounding = (
            2
            * eps(operator.digits)
            * float(np.sum(host(base.of_K[base.powers - 1]).astype(np.float64)))
        )
        return cls(
            problem,
            base,
            problem.free,
            1e-6 if single else 1e-9,
            1e-3 if single else 1e-6,
            rounding,
        )

    def relative(self, error: float) -> float | None:
        """The error as a part of the whole; None when it is not of the criterion of the problem."""
        whole = self.rounding / (2 * eps(self.base.operator.digits))
        return (
            error / whole
            if self.base.powers == POWERS[self.problem.criterion] and whole > 0
            else None
        )

    def least_gain(self, scale: float) -> float:
        """What a swap must gain at least: a part of the scale, and more than the rounding of the whole."""
        return max(self.tolerance * scale, self.rounding)

    def state(self, indices: np.ndarray) -> Exchange:
        """The state of the independent ones among the indices; those that must be included come first."""
        include = np.asarray(self.problem.include, dtype=np.int64)
        rest = indices[np.isin(indices, self.free)][: self.problem.k - len(include)]
        redundant = (
            len(include) - len(factorise(self.base.operator, include, self.base.tolerance).order)
            if len(include)
            else 0
        )
        state = Exchange(self.base, self.problem.k - redundant)
        state.load(np.concatenate([include, rest]))
        return state

    def open_to(self, state: Exchange) -> np.ndarray:
        """Whether each candidate may be added to the state."""
        allowed = np.zeros(self.problem.operator.n, dtype=bool)
        allowed[self.free] = True
        allowed[state.chosen] = False
        return allowed

    def unlocked(self, state: Exchange) -> np.ndarray:
        """The places whose member may be dropped."""
        return np.flatnonzero(~np.isin(state.members, self.problem.include) & (state.members >= 0))

    def indices(self, state: Exchange, spare: np.ndarray) -> np.ndarray:
        """The choice of a state: what must be included, the members, then spare indices where the rank gave out."""
        order = [
            *self.problem.include,
            *state.chosen,
            *spare[np.isin(spare, self.problem.candidates)],
        ]
        return complete(self.problem, list(dict.fromkeys(int(j) for j in order))[: self.problem.k])


def starting_choice(start: Any, problem: Problem, rng: np.random.Generator) -> Choice:
    """The choice of a method, given by name or as an object, or explicit indices."""
    from ..registry import as_method

    if not is_array(start) and not isinstance(start, list | tuple | range):
        return run_phase("start", as_method(start), problem, rng)
    indices = check_indices(host(start) if is_array(start) else list(start), problem.operator.n)
    if len(indices) != problem.k:
        raise ValueError(f"start must list k = {problem.k} indices, got {len(indices)}")
    return Choice(indices)


def workable(operator: Operator, *, evaluate: bool = False) -> Operator:
    """The operator to search on: a small stored matrix in float64 with NumPy, else the operator itself.

    evaluate : store the matrix of an operator that gives its columns cheaply, such as a kernel, when it fits.
    """
    kept = isinstance(operator, Dense) or getattr(operator, "gram", None) is not None
    fits = operator.n**2 * itemsize(operator.like) <= MEMORY and "columns" in operator.cheap
    if not kept and not (evaluate and fits):
        return operator
    if operator.n > HOST:
        return operator if kept else Dense(densify(operator), ledger=operator.ledger)
    if kept and isinstance(operator.like, np.ndarray) and not is_single(operator.like):
        return operator
    double = in_double(operator)
    return Dense(
        host(densify(double)),
        ledger=operator.ledger,
        digits=None if double.digits is double.like else host(double.digits),
    )


def refill(ground: Ground, state: Exchange, forbidden: np.ndarray | None = None) -> bool:
    """Fill the free places greedily, with none of the forbidden indices; returns whether all could be filled."""
    for place in state.vacant:
        allowed = ground.open_to(state)
        allowed[forbidden if forbidden is not None else []] = False
        gains = state.additions(as_mask(allowed, state))
        j = first_argmax(gains)
        if float(gains[j]) <= 0:
            return False
        state.add(j, int(place))
    return True


def descend(ground: Ground, state: Exchange, max_swaps: int | None = None) -> int:
    """Make the best swap until none pays, the deadline has passed or max_swaps are made; returns how many were made."""
    limit = LIMIT * ground.problem.k if max_swaps is None else max_swaps
    v = Variables(swaps=0, lowest=state.error, members=state.chosen, doubts=0)
    with Loop("swap", v, state) as loop:
        while (
            refill(ground, state)
            and v.swaps < limit
            and v.doubts < DOUBTS
            and ground.problem.time_left > 0
        ):
            if not swap_best(ground, state):
                break
            v.swaps += 1
            if state.stale(ground.drift):
                state.load(state.chosen)
                v.doubts = 0 if state.error < v.lowest * (1 - ground.tolerance) else v.doubts + 1
                v.lowest, v.members = (
                    (state.error, state.chosen) if v.doubts == 0 else (v.lowest, v.members)
                )
            if loop.turn(v.swaps, limit, lambda: ground.relative(state.error)):
                break
    if v.doubts:
        state.load(v.members)
    return v.swaps


def swap_best(ground: Ground, state: Exchange) -> bool:
    """Make the best swap; returns False when none pays."""
    unlocked = ground.unlocked(state)
    if len(unlocked) == 0:
        return False
    best = best_swap(state, as_mask(ground.open_to(state), state), unlocked)
    if best.gain <= ground.least_gain(
        state.error + 10 * best.cost
    ):  # rounding grows with what is taken off and put back
        return False
    state.drop(best.place)
    state.add(best.j, best.place)
    return True


def as_mask(allowed: np.ndarray, state: Exchange) -> Array:
    """1 where a candidate is allowed and 0 elsewhere, beside the data of the state."""
    return like(allowed.astype(np.float64), state.operator.like)
