"""The default for an aim: greedy, swaps, an iterated search; a proof where choices are few."""

import time
from dataclasses import replace

import numpy as np

from ...problem import Choice, Problem, Trial
from ...runs.runner import stopped
from .exact import count, exact
from .iterated import Rounds, iterated
from .search import base_of, greedy, swap

FEW = 2000  # choices of k − 1 up to which the best one is proved at once
LEAST_ROUNDS = 3
MOST_ROUNDS = 60
MODEST = 0.5  # estimated seconds that the rounds between these two take without a budget


def automatic(problem: Problem, rng: np.random.Generator) -> Choice:
    """The best of a few searches, each started from the one before it."""
    run = Run(problem)
    start = run.note("greedy", time.perf_counter(), greedy(problem))
    best = run.note("swap", time.perf_counter(), swap(problem, start))
    if run.may_go_on and count(problem) <= FEW and not problem.constraints:
        return run.finished(run.note("exact", time.perf_counter(), exact(problem, best)))
    if run.may_go_on:
        settings = Rounds(modest_rounds(problem))
        begun = time.perf_counter()
        best = run.note("iterated", begun, iterated(problem, best, rng, settings))
    return run.finished(best)


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


class Run:
    """The searches made so far, and whether there is time for more."""

    def __init__(self, problem: Problem):
        self.problem, self.trials = problem, list[Trial]()

    @property
    def may_go_on(self) -> bool:
        """Whether there is time left and nobody has stopped the run."""
        return not stopped() and self.problem.time_left > 0

    def note(self, label: str, begun: float, choice: Choice) -> Choice:
        """Write down what a search reached."""
        seconds = time.perf_counter() - begun
        error = base_of(self.problem).error(choice.indices)
        self.trials.append(Trial(label, error, seconds, 0))
        return choice

    def finished(self, choice: Choice) -> Choice:
        """The choice with all searches that led to it."""
        return replace(choice, trials=tuple(self.trials))
