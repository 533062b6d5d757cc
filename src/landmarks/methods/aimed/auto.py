"""The default for an aim: greedy, swaps, an iterated search; a proof where choices are few."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...problem import Choice, Problem, Trial
from ...runs.runner import saved_result, stopped
from .exact import count, exact
from .iterated import Rounds, iterated
from .search import base_of, greedy, swap

FEW = 2000  # up to this many choices of k − 1 candidates, the best is proved at once
LEAST_ROUNDS = 3
MOST_ROUNDS = 60
MODEST = 0.5  # estimated seconds that the rounds between these two take without a budget


def automatic(problem: Problem, rng: np.random.Generator) -> Choice:
    """The best of a few searches, each started from the one before it."""
    trials: list[Trial] = []

    def tried(label: str, search: Callable[[], Choice]) -> Choice:
        begun = time.perf_counter()
        choice = saved_result(label, search, _plain, lambda plain: Choice(**plain))
        seconds = time.perf_counter() - begun
        trials.append(Trial(label, base_of(problem).error(choice.indices), seconds, 0))
        return choice

    start = tried("greedy", lambda: greedy(problem))
    swapped = best = tried("swap", lambda: swap(problem, start))
    if not stopped() and problem.time_left > 0:
        if count(problem) <= FEW and not problem.constraints:
            best = tried("exact", lambda: exact(problem, swapped))
        else:
            rounds = Rounds(modest_rounds(problem))
            best = tried("iterated", lambda: iterated(problem, swapped, rng, rounds))
    return replace(best, trials=tuple(trials))


def _plain(choice: Choice) -> dict[str, Any]:
    """What these searches set of a choice."""
    return {"indices": choice.indices, "bound": choice.bound, "details": choice.details}


def modest_rounds(problem: Problem) -> int:
    """How many rounds cost little, by a formula and not by a clock: one seed, one choice.

    A round drops and adds about a twelfth of the members and makes about twice as many swaps. An
    exchange changes R, T and Z; a swap compares all pairs first.
    """
    base, k = base_of(problem), problem.k
    (r, n), p = base.A.shape, base.B.shape[1]
    exchange = 1e-4 + 4e-10 * (4 * r * (n + p) + 3 * n * p + 2 * k * (n + r + p))
    pairs = 1e-4 + 6e-11 * k * n * (p + 100)
    dropped = 1 + k // 12
    seconds = 6 * dropped * exchange + 2 * dropped * pairs
    return int(min(MOST_ROUNDS, max(LEAST_ROUNDS, MODEST / seconds)))
