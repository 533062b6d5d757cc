"""Descent by swaps to a local optimum: fill free places, then swap while the error decreases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._array import Indices, host, is_array
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
LIKELY = 8  # one place in this many is examined before all of them are
NOWHERE = np.zeros(0, dtype=np.int64)
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
    near: Indices | None = None,
    *,
    final: bool = True,
) -> int:
    """Make the best swap while one lowers the error, until the deadline; returns how many.

    max_swaps : the most to make; None is 50 for each landmark.
    near : the places to look at first, which saves time and may end elsewhere; None looks at all
        places before each swap.
    final : whether NumPy looks at all pairs once more where swaps are compiled: its bounds on
        rounding are finer, and it computes diagonals from C itself where they decide.
    """
    limit = LIMIT * landscape.problem.k if max_swaps is None else max_swaps
    first = NOWHERE if near is None else np.asarray(near, dtype=np.int64)
    fresh = state.age == 0
    done = SwapRun(state.error, state.chosen, first, short=near is not None, fresh=fresh)
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

    near : the places to look at before all others. promising : those to look at before these.
    short : whether there are promising places.
    fresh : whether swaps left these members with numbers just computed from K.
    doubts : how often in a row the numbers, computed from K itself, showed no progress.
    """

    lowest: float
    members: np.ndarray
    near: np.ndarray
    short: bool
    fresh: bool = True
    swaps: int = 0
    confirmed: int = 0
    doubts: int = 0
    promising: np.ndarray = field(default_factory=NOWHERE.copy)


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
        if not made and not (final and done.doubts < DOUBTS and swap_best(landscape, state, done)):
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


def swap_best(landscape: Landscape, state: Exchange, done: SwapRun) -> bool:
    """Make the best swap at the promising places, else near the disturbance, else anywhere.

    Places that had a good swap a moment ago mostly have one still, and looking at all of them costs
    far more. Returns whether a swap pays beyond rounding.
    """
    if len(done.promising) and _swap_at(landscape, state, done.promising) is not None:
        return True
    for places in [done.near, None] if len(done.near) else [None]:
        promising = _swap_at(landscape, state, places)
        if promising is not None:
            done.promising = promising if done.short else NOWHERE
            return True
    return False


def _swap_at(landscape: Landscape, state: Exchange, places: np.ndarray | None) -> np.ndarray | None:
    """Make the best swap at the places, or at all of them; returns the most promising places."""
    quick = state.base.depth == 2  # confirming costs a product, so it waits until there is doubt
    for _ in range(CHECKS):
        looked = landscape.unlocked(state) if places is None else places
        if len(looked) == 0:
            return None
        allowed = as_mask(landscape.open_to(state), state)
        pairs = landscape.pairs_open_to(state)
        best = best_swap(state, allowed, looked, pairs)
        least = landscape.least_gain(state.error)
        if best.gain <= least:
            if places is None and state.powers.doubt() > least:
                hopeful = best_swap(state, allowed, looked, pairs, side=1.0)
                if hopeful.gain > least and state.sharpen():
                    continue
            return None
        gain, size = best.gain, best.cost
        if not quick or gain <= landscape.least_gain(state.error, size):
            gain, size = confirmed_gain(state, best)
        if gain > landscape.least_gain(state.error, size):
            state.drop(best.place)
            state.add(best.j, best.place)
            # the places of the largest gains, at most one in eight, in rising order
            order = np.argsort(-best.best, kind="stable")[: max(4, len(looked) // LIKELY)]
            return np.sort(looked[order[best.best[order] > 0]])
        if places is not None:
            return None
        if state.age:
            state.load(state.chosen)
    return None
