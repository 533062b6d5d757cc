"""The trials of the default on one problem: each runs, and the best choice is kept."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..errors import Stopped
from ..linalg.error import estimated_error
from ..operators.base import Operator, product_seconds
from ..problem import Choice, Problem, Trial, precision_used
from ..runs.runner import stopped
from .inner import saved

ESTIMATED = 20_000  # order above which the trials hold an estimate of the Frobenius error
LATE = 1.0  # seconds, by the products made, after which the first start on columns is the only one


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
        self.choices: list[np.ndarray] = []

    def run(
        self,
        label: str,
        method: Any,
        problem: Problem | None = None,
        *,
        never_worse: bool = False,
    ) -> None:
        """Run a method, unless the time is up and there is a choice already.

        never_worse : whether it begins at the best choice and only lowers its error; then its
            choice is kept whatever the estimates of the errors say.
        """
        if self.trials and (stopped() or self.problem.time_left <= 0):
            return
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
        self.choices.append(choice.indices)
        first = len(self.trials) == 1  # beyond the rank a log determinant is −∞
        if first or error < self.error or choice.bound is not None or never_worse:
            self.best, self.error = choice, error
        if choice.bound is not None:
            self.bound, self.proved = choice.bound, bool(choice.details["proved"])

    @property
    def late(self) -> bool:
        """Whether the first descent was far longer than most: neighbours on a fine grid, say."""
        operator = self.problem.operator
        if operator.m is None or self.problem.deadline is not None or not self.trials:
            return False
        return self.trials[0].products * product_seconds(operator) > LATE

    def _error(self, indices: np.ndarray) -> float:
        operator, objective = self.problem.operator, self.problem.objective
        if objective.depth < 2 or not objective.plain or order(operator) <= ESTIMATED:
            return objective.error(operator, indices)
        return estimated_error(operator, indices, objective.depth).value
