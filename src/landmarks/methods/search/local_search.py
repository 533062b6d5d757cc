"""Descent by swaps to a local optimum: fill free places, then swap while the error decreases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._array import host, is_array
from ...constraints import check_placed, check_start
from ...operators.base import product_seconds
from ...problem import Choice, Problem, check_indices
from ...residual.exchange import Exchange
from ...residual.pairs import best_swap, confirmed_gain
from ...runs.runner import Step, run
from ...runs.state import State
from ..inner import saved
from .landscape import Landscape, as_mask

LIMIT = 50  # swaps per landmark; from greedy it takes less than one, on smooth fields several
DOUBTS = 5  # reloads in a row without progress: near the rank the gains are rounding
CHECKS = 8  # swaps in a row that the column itself did not confirm
BATCH = 32  # compiled swaps between two reports of progress
PROMPT = 300  # swaps: if a budget leaves no time for so many, each is a step of its own


def starting_choice(start: Any, problem: Problem, rng: np.random.Generator) -> Choice:
    """The choice of a method, given by name or as an object, or explicit indices."""
    from ..registry import as_method

    if not listed(start):
        method = as_method(start)
        check_placed(problem, method)
        return saved("start", method).choose(problem, rng)
    given = host(start) if is_array(start) else list(start)
    indices = check_indices(given, problem.operator.n, repeats=problem.objective.repeats)
    if not problem.allowed.single or not problem.allowed.sized:
        if sentence := problem.allowed.broken(indices):
            raise ValueError(f"start: {sentence}")
    elif len(indices) != problem.k:
        raise ValueError(f"start must list k = {problem.k} indices, got {len(indices)}")
    check_start(problem, indices)
    return Choice(indices)


def listed(start: Any) -> bool:
    """Whether a start is a list of indices, not a method or its name."""
    return is_array(start) or isinstance(start, list | tuple | range)


def refill(landscape: Landscape, state: Exchange, forbidden: np.ndarray | None = None) -> bool:
    """Fill the free places greedily without the forbidden indices; whether all are filled."""
    for place in state.vacant:
        if landscape.problem.time_left <= 0:
            return False
        allowed = landscape.open_to(state)
        if forbidden is not None:
            allowed[forbidden] = False
        j = state.best_addition(as_mask(allowed, state))
        if j is None:
            return False
        state.add(j, int(place))
    return True


def descend(
    landscape: Landscape,
    state: Exchange,
    max_swaps: int | None = None,
    *,
    final: bool = True,
) -> int:
    """Make the best swap while one lowers the error, until the deadline; returns how many.

    max_swaps : the most to make; None is 50 for each landmark.
    final : whether NumPy looks at all pairs once more where swaps are compiled: its bounds on
        rounding are finer, and it computes diagonals from C itself where they decide.
    """
    limit = LIMIT * landscape.problem.k if max_swaps is None else max_swaps
    done = SwapRun(state.error, state.chosen, fresh=state.age == 0)
    if refill(landscape, state) and landscape.problem.time_left > 0:
        steps = swaps(landscape, state, done, limit, final or landscape.compiled is None)
        if not run("swap", steps, done, state, deadline=landscape.problem.deadline):
            refill(landscape, state)
    if done.doubts:
        if state.age:
            state.load(state.chosen)
        if state.error >= done.lowest:
            state.load(done.members)
    return done.swaps


@dataclass
class SwapRun(State):
    """The lowest error that was confirmed, the members that had it, and the swaps so far.

    fresh : whether swaps left these members with numbers just computed from K.
    doubts : how often in a row the numbers, computed from K itself, showed no progress.
    """

    lowest: float
    members: np.ndarray
    fresh: bool = True
    swaps: int = 0
    confirmed: int = 0
    doubts: int = 0


def swaps(
    landscape: Landscape, state: Exchange, done: SwapRun, limit: int, final: bool = True
) -> Iterator[Step]:
    """One swap at a step; now and then the state is computed from K itself."""
    batch = BATCH if landscape.problem.affords(PROMPT * swap_seconds(landscape)) else 1
    while refill(landscape, state) and done.swaps < limit and done.doubts < DOUBTS:
        made = 0
        if landscape.compiled is not None:  # none is left that it can see if it makes none
            made = landscape.compiled.descend(state, min(batch, limit - done.swaps))
            if not made and state.age and state.stale(landscape.drift):
                confirm(landscape, state, done)
        if not made and not (final and done.doubts < DOUBTS and swap_best(landscape, state)):
            return
        done.swaps += made or 1
        if state.stale(landscape.drift):
            confirm(landscape, state, done)
        yield Step(done.swaps, limit, lambda: landscape.relative(landscape.judged(state)))


def swap_seconds(landscape: Landscape) -> float:
    """An estimate of the seconds that a compiled swap takes."""
    operator, k = landscape.base.operator, landscape.problem.k
    products = 0.0 if landscape.base.highest else landscape.base.depth
    return operator.n * k * 2e-9 + products * product_seconds(operator)


def confirm(landscape: Landscape, state: Exchange, done: SwapRun) -> None:
    """Load the state afresh, and see whether the swaps since the last time have paid.

    If they lead back to the best members, which they left with fresh numbers, rounding alone makes
    others look better: there they end.
    """
    state.load(state.chosen)
    if state.error < landscape.below(done.lowest):
        done.lowest = state.error
        done.members = state.chosen
        done.fresh = True
        done.doubts = 0
    elif done.swaps > done.confirmed:
        back = np.array_equal(np.sort(state.chosen), np.sort(done.members))
        done.doubts = DOUBTS if back and done.fresh else done.doubts + 1
        done.fresh = done.fresh or back
    done.confirmed = done.swaps


def swap_best(landscape: Landscape, state: Exchange) -> bool:
    """Make the best swap; returns whether one pays beyond rounding."""
    quick = state.base.depth == 2  # confirming costs a product, so it waits until there is doubt
    for _ in range(CHECKS):
        places = landscape.unlocked(state)
        if len(places) == 0:
            return False
        allowed = as_mask(landscape.open_to(state), state)
        pairs = landscape.pairs_open_to(state)
        best = best_swap(state, allowed, places, pairs)
        least = landscape.least_gain(state.error)
        if best.gain <= least:
            if state.powers.doubt() > least:
                hopeful = best_swap(state, allowed, places, pairs, side=1.0)
                if hopeful.gain > least and state.sharpen():
                    continue
            return False
        gain, size = best.gain, best.cost
        if not quick or gain <= landscape.least_gain(state.error, size):
            gain, size = confirmed_gain(state, best)
        if gain > landscape.least_gain(state.error, size):
            state.drop(best.place)
            state.add(best.j, best.place)
            return True
        if state.age:
            state.load(state.chosen)
    return False
