"""λ for a given k by bisection, each λ from t = 1/2: the best quality of the relaxation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...runs.runner import Step, run
from ...runs.state import State
from ..trajectory import Recorder, Trajectory
from .algorithm_1 import sgd, start
from .box import largest
from .descent import Descent
from .relaxed import Relaxed
from .stopping import Steps

MAX_TRIES = 60  # doublings or halvings, after which the bracket is closed
WIDENING = 1.5  # widens the bracket downwards: a long descent freezes more columns than a short one


@dataclass(frozen=True)
class Bisection:
    """Bracket λ by short descents, then bisect with longer ones; return the best rounding met.

    A descent ends as soon as at most k columns would be left; then its λ is too large.
    A rounding takes the k largest weights and is judged by its true error.
    """

    n_steps: int = 200
    bracket_steps: int = 60
    bisections: int = 8
    ratio: float = 1.03

    def choose(self, objective: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Trajectory]:
        """The k indices and the record of the descent that gave them."""
        roundings = Roundings(objective, k)
        bracket = Bracket(4 * objective.penalty_unit(objective.uniform_weight(k)))
        steps = self.narrowed(bracket, roundings, descent)
        run("bisection", steps, bracket, roundings, deadline=objective.problem.deadline)
        return roundings.best, roundings.recorder.trajectory()

    def narrowed(self, bracket: Bracket, roundings: Roundings, descent: Descent) -> Iterator[Step]:
        """One descent at a step, each with a λ inside the bracket that the last one left."""
        short = replace(descent, stop=Steps(self.bracket_steps))
        long = replace(descent, stop=Steps(self.n_steps))
        while bracket.halvings < self.bisections and bracket.ratio >= self.ratio:
            rule = long if bracket.closed else short
            bracket.narrow(roundings.ends_below(rule, bracket.penalty))
            yield Step(bracket.tries, None, roundings.relative_error)


@dataclass
class Bracket(State):
    """A λ that leaves more than k columns, `low`, and one that does not, `high`.

    They are found by doubling and halving; once both are known the bracket is closed, and each
    further try moves one of them.
    penalty : the λ to try next.
    """

    penalty: float
    low: float | None = None
    high: float | None = None
    closed: bool = False
    tries: int = 0
    halvings: int = 0

    @property
    def ratio(self) -> float:
        """high / low once the bracket is closed."""
        return self.high / self.low if self.closed and self.low and self.high else np.inf

    def narrow(self, below: bool) -> None:
        """Narrow the bracket, given whether the λ tried left at most k columns."""
        self.tries += 1
        self.halvings += self.closed
        if below:
            self.high = self.penalty
            further = self.penalty / 2
        else:
            self.low = self.penalty
            further = self.penalty * 2
        if not self.closed and ((self.low and self.high) or self.tries == MAX_TRIES):
            self.low = (self.low or further) / WIDENING
            self.high = self.high or further
            self.closed = True
        self.penalty = further
        if self.closed and self.low and self.high:
            self.penalty = (self.low * self.high) ** 0.5


class Roundings(State):
    """Runs descents for one k and keeps the best rounding with its record."""

    def __init__(self, objective: Relaxed, k: int):
        self.objective = objective
        self.k = k
        self.error = np.inf
        self.best = np.zeros(0, dtype=np.int64)
        self.recorder = Recorder(objective.problem.operator.n)

    def relative_error(self) -> float | None:
        """The error of the best rounding over tr K; None where the total is another."""
        problem = self.objective.problem
        if problem.objective.depth != 1 or problem.unscaled.weights is not None:
            return None
        return self.error / (self.objective.operator.n * self.objective.mean_diagonal)

    def ends_below(self, descent: Descent, penalty: float) -> bool:
        """Descend from t = 1/2; whether it ended because at most k columns would be left."""
        problem = self.objective.problem
        recorder = Recorder(problem.operator.n)
        descent = replace(descent, at_least=self.k + 1)
        t = sgd(self.objective, start(problem), penalty, descent, recorder).t(problem)
        indices = largest(t, self.k)
        error = problem.objective.error(problem.operator, indices)
        if error < self.error:
            self.error = error
            self.best = indices
            self.recorder = recorder
        return int(np.sum(t > descent.epsilon)) <= self.k
