"""λ for a wanted k by bisection, each λ from a fresh start at t = 1/2: the best raw quality of the relaxation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...linalg.error import selection_error
from ...relaxation_path import Path, Recorder
from ...runs.journal import Loop
from .descent import Descent, State, Stop
from .relaxed import Relaxed
from .rounding import largest


@dataclass(frozen=True)
class Bisection:
    """Bracket λ by short descents, then bisect with longer ones; the best rounding met on the way is returned.

    A descent ends as soon as fewer than k columns would be left; a λ that ends so is too large. The roundings are
    the k largest weights, judged by the true error.
    """

    n_steps: int = 200
    bracket_steps: int = 60
    bisections: int = 8
    ratio: float = 1.03

    def choose(self, relaxed: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Path]:
        """The k indices and the path of the descent that gave them."""
        search = Search(relaxed, k)
        bracket = Bracket(4 * relaxed.penalty_unit(relaxed.uniform_weight(k)))
        short, long = (
            replace(descent, stop=Stop(steps, tolerance=-1.0, settled=steps))
            for steps in (self.bracket_steps, self.n_steps)
        )
        with Loop("bisection", bracket, search, relaxed) as loop:
            while bracket.halvings < self.bisections and bracket.ratio >= self.ratio:
                bracket.narrow(
                    search.ends_below(long if bracket.closed else short, bracket.penalty)
                )
                if (
                    loop.turn(bracket.tries, None, search.relative_error)
                    or relaxed.problem.time_left <= 0
                ):
                    break
        return search.best, search.recorder.path()


@dataclass
class Bracket:
    """A λ that leaves more than k columns and one that does not: found by doubling and halving, then drawn together.

    penalty : the λ to try next.
    """

    penalty: float
    low: float | None = None
    high: float | None = None
    closed: bool = False
    tries: int = 0
    halvings: int = 0
    kept: ClassVar = ("penalty", "low", "high", "closed", "tries", "halvings")

    @property
    def ratio(self) -> float:
        """How far apart the two are."""
        return self.high / self.low if self.closed and self.low and self.high else np.inf

    def narrow(self, below: bool) -> None:
        """Take in whether the λ tried left no more than k columns."""
        self.low, self.high = (self.low, self.penalty) if below else (self.penalty, self.high)
        self.tries += 1
        self.halvings += self.closed
        further = self.penalty / 2 if below else self.penalty * 2
        if not self.closed and ((self.low and self.high) or self.tries == 60):
            self.low = (
                self.low or further
            ) / 1.5  # a longer descent freezes more columns than the short one did
            self.high, self.closed = self.high or further, True
        self.penalty = (
            (self.low * self.high) ** 0.5 if self.closed and self.low and self.high else further
        )


class Search:
    """Runs descents for one k and keeps the best rounding with its path."""

    kept: ClassVar = ("error", "best", "recorder")

    def __init__(self, relaxed: Relaxed, k: int):
        self.relaxed = relaxed
        self.k = k
        self.error = np.inf
        self.best = np.zeros(0, dtype=np.int64)
        self.recorder = Recorder(relaxed.operator.n)

    def relative_error(self) -> float | None:
        """The error of the best rounding as a part of the whole, where the whole is known."""
        whole = self.relaxed.operator.n * self.relaxed.unit
        return self.error / whole if self.relaxed.problem.criterion == "trace" else None

    def ends_below(self, descent: Descent, penalty: float) -> bool:
        """Run a descent from t = 1/2; whether it ended because no more than k columns would be left."""
        recorder = Recorder(self.relaxed.operator.n)
        state = descent.run(
            self.relaxed, self.relaxed.start(), penalty, at_least=self.k + 1, recorder=recorder
        )
        self._keep(state, recorder)
        return int(np.sum(state.weights(self.relaxed.operator.n) > descent.epsilon)) <= self.k

    def _keep(self, state: State, recorder: Recorder) -> None:
        weights = state.weights(self.relaxed.operator.n)
        weights[list(self.relaxed.problem.include)] = 2.0
        indices = largest(weights, self.k)
        error = selection_error(self.relaxed.operator, indices, self.relaxed.problem.criterion)
        if error < self.error:
            self.error, self.best, self.recorder = error, indices, recorder
