"""A search with a budget: a quick draw comes first, for a time that is over before there is better.

The draw also shows how fast K is read here, which corrects the estimates of all that follows.
"""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from ..errors import Stopped
from ..operators.base import on_workers, product_seconds
from ..operators.forms import form_made
from ..problem import Choice, Problem, Trial, lowered
from ..runs.runner import cut_short, timed
from .inner import Chooser
from .sampling.rpcholesky import quick_draw

KEPT = 2  # times of the draw that are kept for filling what is missing, and for comparing with it
SMALL = 3000  # columns up to which two choices are compared by their Frobenius error
LEAST = 0.05  # seconds that a search gets in any case, well within what a run may be late
SHORT = 0.1  # seconds that a run may be late; a draw in less shows nothing of the pace


@dataclass(frozen=True)
class InTime:
    """The choice of a method, or that of a quick draw where the time did not allow a better one."""

    method: Chooser

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        began = time.monotonic()
        drawn = quick_draw(problem, deepcopy(rng))
        took = time.monotonic() - began
        end = max(problem.deadline or np.inf, began + LEAST) - max(0.0, KEPT * took - SHORT)
        if took > SHORT and time.monotonic() >= end:
            cut_short()
            return drawn
        shown = took > SHORT and not on_workers(problem.operator)  # there it is mostly overhead
        pace = max(1.0, took / draw_seconds(problem)) if shown else 1.0
        with timed() as cuts:
            try:
                choice = self.method.choose(replace(problem, deadline=end, pace=pace), rng)
            except Stopped:
                choice = drawn
                cut_short()
        if not cuts:
            return choice
        cut_short()
        if np.array_equal(choice.indices, drawn.indices):
            return choice
        operator, objective = problem.operator, problem.objective
        if problem.pair.standard:  # a target needs X itself
            operator = form_made(operator)
        # a Frobenius error reads all of K; the trace orders two choices as well
        quick = objective.cheaper is None or ("columns" in operator.cheap and operator.n < SMALL)
        judge = lowered(problem, None if quick else objective.cheaper)
        error = judge.error(operator, drawn.indices)
        if judge.error(operator, choice.indices) <= error:
            return choice
        trial = Trial("rpcholesky", error, took, 0)
        return replace(drawn, trials=(*choice.trials, trial))


def draw_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the draw takes: k columns of K, and of its factor."""
    n, k = problem.operator.n, problem.k
    return 1e-3 + k * product_seconds(problem.operator) / n + n * k * k * 5e-10
