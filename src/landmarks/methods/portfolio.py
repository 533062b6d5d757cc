"""The trials of the default on one problem: each runs, and the best choice is kept."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from .._array import on_gpu
from ..errors import Stopped
from ..linalg.error import estimated_error
from ..operators.base import Operator
from ..problem import Choice, Problem, Trial, precision_used
from ..runs.runner import cut_short, stopped
from .inner import saved

# orders above which the trials hold an estimate of the Frobenius error; a card computes it sooner
ESTIMATED, ON_CARD = 20_000, 100_000


def order(operator: Operator) -> float:
    """The order of the square matrix that is as large as what the search works on."""
    return operator.n if operator.m is None else math.sqrt(operator.n * operator.m)


class Portfolio:
    """Runs methods on one problem and keeps the best choice."""

    def __init__(self, problem: Problem, rng: np.random.Generator):
        self.problem, self.rng = problem, rng
        self.best: Choice
        self.error = np.inf
        self.bound: float | None = None
        self.proved = False
        self.trials: list[Trial] = []
        self.latest: np.ndarray

    def run(
        self,
        label: str,
        method: Any,
        problem: Problem | None = None,
    ) -> None:
        """Run a method, unless the time is up and there is a choice already.

        A method that starts at the best choice only lowers its error: where errors are estimates,
        its choice is kept.
        """
        if self.trials and self.over:
            cut_short()
            return
        onward = bool(self.trials) and getattr(method, "start", None) is self.best.indices
        onward = onward and self._estimates
        ledger, start = self.problem.operator.ledger, time.perf_counter()
        before = ledger.snapshot()
        try:
            choice = saved(label, method).choose(problem or self.problem, self.rng)
        except Stopped:
            if not self.trials:
                raise
            return
        used, seconds = ledger.since(before), time.perf_counter() - start
        error = self._error(choice.indices)
        precision = precision_used(self.problem.operator, used)
        self.trials.append(Trial(label, error, seconds, used["products"], precision))
        self.latest = choice.indices
        first = len(self.trials) == 1  # beyond the rank a log determinant is −∞
        if first or error < self.error or choice.bound is not None or onward:
            self.best, self.error = choice, error
        if choice.bound is not None:
            self.bound, self.proved = choice.bound, bool(choice.details["proved"])

    @property
    def over(self) -> bool:
        """Whether the run was stopped, or its time is up."""
        return stopped() or self.problem.time_left <= 0

    @property
    def _estimates(self) -> bool:
        """Whether errors are estimated, because computing them takes too long."""
        operator, objective = self.problem.operator, self.problem.objective
        most = ON_CARD if on_gpu(operator.like) else ESTIMATED
        return objective.cheaper is not None and objective.plain and order(operator) > most

    def _error(self, indices: np.ndarray) -> float:
        operator, objective = self.problem.operator, self.problem.objective
        if self._estimates:
            return estimated_error(operator, indices, objective.depth).value
        return objective.error(operator, indices)
