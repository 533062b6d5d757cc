"""The smallest k that reaches a relative error, by bisection from a bound to a greedy choice."""

import math
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np

from .._array import eps
from .._check import is_number
from ..errors import RankWarning
from ..linalg.error import FULL_SPECTRUM, spectrum
from ..methods.inner import saved
from ..operators.forms import in_double
from ..problem import Choice, Method, Problem
from ..runs.runner import report
from .curve import Curve, sweep

ROUNDING = 1000  # tolerance of a relative error, in units in the last place


@dataclass(frozen=True)
class MaxError:
    """The smallest k at which the method reaches a relative error, found by bisection.

    The selection has a relative error of at most `error`, up to rounding, and equals the one that
    `select` makes with that k. With one column fewer the method missed that error, or even the best
    rank-(k − 1) approximation does.

    Parameters
    ----------
    error : the largest relative error that is allowed, from 0 to below 1.

    Examples
    --------
    >>> s = lm.select(np.diag([3.0, 2.0, 1.0]), lm.MaxError(error=0.1))
    >>> s.k, round(s.relative_error(), 3)
    (2, 0.071)
    """

    error: float = 0.05

    def __post_init__(self) -> None:
        if not is_number(self.error) or not 0 <= self.error < 1:
            raise ValueError(
                "error must be a number from 0 to below 1, the largest relative error allowed, "
                f"got {self.error!r}"
            )

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        wide = replace(problem, operator=in_double(problem.operator))
        search = Attempts(wide, method, rng, self.error + ROUNDING * eps(wide.operator.like))
        missed = search.impossible()
        high = search.promising()
        while not search.reaches(high):
            missed = high
            high = min(search.most, high + max(1, high // 8))
        while high - missed > 1:
            middle = (missed + high) // 2
            if search.reaches(middle, runs=math.log2(high - missed)):
                high = middle
            else:
                missed = middle
        return search.found[high]


class Attempts:
    """Runs of a method with different k, each from the same random state."""

    def __init__(self, problem: Problem, method: Method, rng: np.random.Generator, error: float):
        self.problem = problem
        self.method = method
        self.rng = rng
        self.error = error
        self.total = problem.objective.total(problem.operator)
        self.found: dict[int, Choice] = {}
        self.first = rng.bit_generator.state

    @property
    def most(self) -> int:
        """The number of all that may be chosen."""
        return self.problem.count(self.problem.candidates)

    def impossible(self) -> int:
        """A k too small for any choice: fewer than included, or a best rank-k error too large."""
        operator = self.problem.operator
        needed = max(1, self.problem.count(self.problem.include))
        large = min(operator.n, operator.m or operator.n) > FULL_SPECTRUM
        if large or self.problem.groups is not None or not self.problem.objective.plain:
            return needed - 1
        values = spectrum(operator) ** self.problem.objective.depth
        tails = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])  # of rank 0, 1, …
        return max(needed - 1, int(np.argmax(tails <= self.error * self.total)) - 1)

    def promising(self) -> int:
        """The k at which a greedy choice reaches the target; for groups, all of them."""
        most = len(self.problem.candidates)
        k = min(most, max(8, 2 * len(self.problem.include)))
        curve = greedy_curve(replace(self.problem, k=k))
        while curve.relative[-1] > self.error and k < most:
            k = min(most, 2 * k)
            curve = greedy_curve(replace(self.problem, k=k))
        if curve.relative[-1] > self.error:
            raise ValueError(
                f"a relative error of {self.error:.4g} cannot be reached: all {k} candidates "
                f"together leave {curve.relative[-1]:.4g}"
            )
        return curve.smallest(self.error) if self.problem.groups is None else self.most

    def reaches(self, k: int, runs: float = 1.0) -> bool:
        """Whether the method reaches the target with k, in its share of the time left."""
        seconds = self.problem.time_left / (1 + runs)
        deadline = None if self.problem.deadline is None else time.monotonic() + seconds
        problem = replace(self.problem, k=k, deadline=deadline)
        self.rng.bit_generator.state = self.first
        choice = self.found[k] = saved(f"k = {k}", self.method).choose(problem, self.rng)
        left = problem.objective.error(problem.operator, choice.indices)
        report("how many", k, None, left / (self.total or 1.0))
        return left <= self.error * self.total


def greedy_curve(problem: Problem) -> Curve:
    """The greedy errors for every k from the number included to problem.k; no rank warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return sweep(problem, np.arange(max(1, len(problem.include)), problem.k + 1))
