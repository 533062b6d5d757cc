"""The default for an aim: greedy, swaps, an iterated search; a proof where choices are few."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ...problem import Choice, Problem, Trial
from ...runs.progress import stopped
from .exact import count, exact
from .hunt import base_of
from .iterated import iterated
from .search import greedy, swap

FEW = 2000  # choices of k − 1 up to which the best one is proved at once
LEAST_ROUNDS = 5
MOST_ROUNDS = 60
MODEST = 1.0  # estimated seconds that the rounds between these two take without a budget


@dataclass(frozen=True)
class Rounds:
    """How an iterated search is run."""

    rounds: int
    share: float = 0.15
    patience: int = 50


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

    A round adds about 4 + k/5 candidates. Each changes an r × n and some k × n arrays.
    """
    base = base_of(problem)
    moves = 4 + problem.k // 5
    seconds = 1e-3 + moves * base.n * (base.A.shape[0] + 4 * problem.k) * 4e-9
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
