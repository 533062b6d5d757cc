"""λ for a wanted k by bisection, each λ from a fresh start at t = 1/2: the best raw quality of the relaxation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..approximate import selection_error
from ..optimise.descent import Descent, State, Stop
from ..optimise.path import Path, Recorder
from ..rounding import largest
from .relaxed import Relaxed


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
        unit = relaxed.penalty_unit(relaxed.uniform_weight(k))
        short, long = (replace(descent, stop=Stop(steps, tolerance=-1.0, settled=steps)) for steps in (self.bracket_steps, self.n_steps))
        low, high = self._bracket(search, short, 4 * unit)
        low /= 1.5  # a longer descent freezes more columns than the short one did
        for _ in range(self.bisections):
            if high / low < self.ratio or relaxed.problem.time_left <= 0:
                break
            middle = (low * high) ** 0.5
            low, high = (low, middle) if search.ends_below(long, middle) else (middle, high)
        return search.best, search.path

    def _bracket(self, search: Search, descent: Descent, penalty: float) -> tuple[float, float]:
        """A λ that leaves more than k columns, and one that does not."""
        low = high = None
        for _ in range(60):
            if search.ends_below(descent, penalty):
                high, penalty = penalty, penalty / 2
            else:
                low, penalty = penalty, penalty * 2
            if low is not None and high is not None:
                break
        return low or penalty, high or penalty


class Search:
    """Runs descents for one k and keeps the best rounding with its path."""

    def __init__(self, relaxed: Relaxed, k: int):
        self.relaxed = relaxed
        self.k = k
        self.error = np.inf
        self.best = np.zeros(0, dtype=np.int64)
        self.path: Path

    def ends_below(self, descent: Descent, penalty: float) -> bool:
        """Run a descent from t = 1/2; whether it ended because no more than k columns would be left."""
        recorder = Recorder(self.relaxed.operator.n)
        state = descent.run(self.relaxed, self.relaxed.start(), penalty, at_least=self.k + 1, recorder=recorder)
        self._keep(state, recorder)
        return int(np.sum(state.weights(self.relaxed.operator.n) > descent.epsilon)) <= self.k

    def _keep(self, state: State, recorder: Recorder) -> None:
        weights = state.weights(self.relaxed.operator.n)
        weights[list(self.relaxed.problem.include)] = 2.0
        indices = largest(weights, self.k)
        error = selection_error(self.relaxed.operator, indices, self.relaxed.problem.criterion)
        if error < self.error:
            self.error, self.best, self.path = error, indices, recorder.path()
