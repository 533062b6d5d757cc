"""The default: several starts, each improved by swaps, the best kept; proved optimal when the problem is small.

Which starts depends on what they are estimated to cost, by formulas and not by a clock, so that one seed gives one
selection.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._array import free_memory, on_gpu
from ..errors import Stopped
from ..linalg.error import selection_error
from ..linalg.estimate import estimated_error
from ..operators.base import DENSE_MEMORY, Operator, densify, itemsize
from ..operators.dense import Dense
from ..problem import Choice, Problem, Trial, brief
from ..runs.progress import stopped
from .annealed.annealed import Annealed
from .greedy.greedy import Greedy
from .greedy.nuclear import NuclearScores
from .groups.knapsack import Knapsack
from .phase import run_phase
from .sampling.rpcholesky import RPCholesky
from .search.exact import Exact
from .search.iterated import Iterated
from .search.local_search import workable
from .search.swap import Swap

SMALL = 3000  # candidates up to which several starts are tried
GAMMAS = (0.7, 1.0, 1.5, 2.2)  # of the annealed starts: they differ more by it than by chance
SHORT = Annealed(n_steps=20, damping=0.4)
ROUNDS = 20  # of the iterated search, at the most, when there is no budget
ESTIMATED = 20_000  # candidates above which the trials tell an estimate of the Frobenius error
MODEST = (
    10.0  # estimated seconds that the annealed starts, and the rounds, may take on a stored matrix
)


@dataclass(frozen=True)
class Auto:
    """Greedy, annealed and random starts, improved by swaps; the best is kept and `selection.trials` tells of all.

    With a budget the rest of the time goes into an iterated search. When the optimum can be proved in about a second,
    or in half of the budget, it is. Groups and costs are left to `Knapsack`.

    Parameters
    ----------
    effort : the estimated seconds of work that it may take on when there is no budget. Above it greedy and swaps give
        way to nuclear scores.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> s = lm.select(X, 3)
    >>> s.proved
    True
    """

    effort: float = 180.0
    honours: ClassVar[frozenset[str]] = Knapsack.honours
    __repr__ = brief

    def __post_init__(self) -> None:
        if not self.effort > 0:
            raise ValueError(f"effort must be a positive number of seconds, got {self.effort!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if problem.groups is not None or problem.costs is not None:
            return Knapsack().choose(problem, rng)
        small, given = problem.operator.n <= SMALL, problem
        if small:
            problem = replace(problem, operator=stored(problem.operator))
        portfolio = Portfolio(problem, rng)
        seconds = self.effort if problem.deadline is None else max(0.0, problem.time_left)
        for label, method in small_plan(problem) if small else large_plan(problem, seconds):
            portfolio.run(label, method)
        if not small and frobenius_seconds(problem) <= seconds and panels_fit(problem):
            portfolio.run(
                "swap(frobenius)", Swap(start=portfolio.best.indices, criterion="frobenius")
            )
        if proof_seconds(problem) <= (1.0 if problem.deadline is None else problem.time_left / 2):
            # the data as given: what is proved for a rounded XᵀX is not proved for X
            portfolio.run("exact", Exact(start=portfolio.best.indices), given)
        if not portfolio.proved and (small or problem.deadline is not None):
            rounds = min(ROUNDS, int(MODEST / round_seconds(problem)))
            portfolio.run("iterated", Iterated(start=portfolio.best.indices, rounds=rounds))
        indices = (
            ordered(problem, portfolio.best.indices)
            if small and not stopped()
            else portfolio.best.indices
        )
        return replace(
            portfolio.best, indices=indices, trials=tuple(portfolio.trials), bound=portfolio.bound
        )


def stored(operator: Operator) -> Operator:
    """K itself, so that many starts cost few passes over tall data or kernels."""
    operator = workable(operator, evaluate=True)
    return (
        operator
        if isinstance(operator, Dense) or "columns" not in operator.cheap
        else Dense(densify(operator), ledger=operator.ledger)
    )


class Portfolio:
    """Runs methods on one problem and keeps the best choice."""

    def __init__(self, problem: Problem, rng: np.random.Generator):
        self.problem, self.rng = problem, rng
        self.best: Choice
        self.error = np.inf
        self.bound: float | None = None
        self.proved = False
        self.trials: list[Trial] = []

    def run(self, label: str, method: Any, problem: Problem | None = None) -> None:
        """Run a method, unless the time is up and there is a choice already."""
        if self.trials and (stopped() or self.problem.time_left <= 0):
            return
        ledger, start = self.problem.operator.ledger, time.perf_counter()
        before = ledger.products
        try:
            choice = run_phase(label, method, problem or self.problem, self.rng)
        except Stopped:
            if not self.trials:
                raise
            return
        products, seconds = ledger.products - before, time.perf_counter() - start
        error = self._error(choice.indices)
        self.trials.append(Trial(label, error, seconds, products))
        if error < self.error or choice.bound is not None:
            self.best, self.error = choice, error
        if choice.bound is not None:
            self.bound, self.proved = choice.bound, bool(choice.details["proved"])

    def _error(self, indices: np.ndarray) -> float:
        operator, criterion = self.problem.operator, self.problem.criterion
        if criterion == "trace" or operator.n <= ESTIMATED:
            return selection_error(operator, indices, criterion)
        return estimated_error(operator, indices, criterion).value


def ordered(problem: Problem, indices: np.ndarray) -> np.ndarray:
    """The chosen indices in the order in which a greedy choice among them would take them."""
    others = tuple(int(j) for j in np.setdiff1d(np.arange(problem.operator.n), indices))
    return Greedy().choose(replace(problem, exclude=others), np.random.default_rng(0)).indices


def small_plan(problem: Problem) -> Iterator[tuple[str, Any]]:
    """Starts for a stored matrix: greedy, annealed with several gammas, random pivots."""
    yield "greedy > swap", Swap(start=Greedy())
    for _ in range(2):
        yield "rpcholesky > swap", Swap(start=RPCholesky())
    for gamma in GAMMAS[: int(MODEST / annealed_seconds(problem.operator))]:
        if problem.time_left > 8 * annealed_seconds(problem.operator):
            yield f"annealed({gamma}) > swap", Swap(start=replace(SHORT, gamma=gamma))


def large_plan(problem: Problem, seconds: float) -> Iterator[tuple[str, Any]]:
    """Starts for a matrix known by products, improved by swaps on the trace; nuclear scores when those cost too much."""
    if greedy_seconds(problem) + swap_seconds(problem) > seconds or not panels_fit(problem):
        yield "nuclear", NuclearScores()
        return
    yield "greedy > swap", Swap(start=Greedy(), criterion="trace")
    if "columns" in problem.operator.cheap and candidates_seconds(problem) <= min(
        greedy_seconds(problem), seconds / 4
    ):
        yield "annealed > swap", Swap(start=Annealed(), criterion="trace")


def panels_fit(problem: Problem) -> bool:
    """Whether the three n × k panels of a search by swaps take at most half of the memory."""
    like = problem.operator.like
    return (
        3 * problem.operator.n * problem.k * itemsize(like)
        <= free_memory(like, otherwise=2 * DENSE_MEMORY) // 2
    )


def frobenius_seconds(problem: Problem) -> float:
    """An estimate of the seconds for swaps on the Frobenius criterion after those on the trace; none for the trace."""
    if problem.criterion == "trace":
        return math.inf
    return greedy_seconds(problem) + 3 * swap_seconds(problem) + cube_seconds(problem.operator)


def greedy_seconds(problem: Problem) -> float:
    """An estimate of the seconds that greedy takes."""
    return 1.2 * problem.k * product_seconds(problem.operator)


def swap_seconds(problem: Problem) -> float:
    """An estimate of the seconds that swaps on the trace take."""
    return 0.7 * problem.k * product_seconds(problem.operator)


def candidates_seconds(problem: Problem) -> float:
    """An estimate of the seconds that an annealed start takes when it weighs some candidates at a time."""
    steps = Annealed().n_rounds * Annealed().n_steps / 2
    return 30 * product_seconds(problem.operator) + steps * (6 * problem.k) ** 3 * 1.5e-10


def product_seconds(operator: Operator) -> float:
    """An estimate of the seconds that one product with K takes."""
    if (known := operator.product_seconds()) is not None:
        return known
    gpu = on_gpu(operator.like)
    if isinstance(operator, Dense) or getattr(operator, "gram", None) is not None:
        return operator.n**2 * (2e-12 if gpu else 5e-10)
    if operator.source is not None:
        return (operator.source.m or 0) * operator.n * 2e-9
    if operator.m is not None:
        return operator.m * operator.n * (4e-12 if gpu else 1e-9)
    return operator.n**2 * (1e-12 if gpu else 1.5e-9)


def annealed_seconds(operator: Operator) -> float:
    """An estimate of the seconds that a short annealed start takes."""
    return SHORT.n_steps * operator.n**3 * 1e-10


def round_seconds(problem: Problem) -> float:
    """An estimate of the seconds that a round of the iterated search takes on a stored matrix."""
    n, k = problem.operator.n, problem.k
    return (1 + 0.3 * k) * (n * n + 4 * n * k) * 1e-9


def cube_seconds(operator: Operator) -> float:
    """An estimate of the seconds for the diagonal of K³, which swaps on the Frobenius criterion need."""
    return 2.0 * operator.n**3 * (5e-14 if on_gpu(operator.like) else 2e-11)


def proof_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the exact search takes: all but two picks are enumerated at worst."""
    n, r = len(problem.free), problem.k - len(problem.include)
    return min(math.comb(n, max(0, r - 2)), 10**30) * n**2 * 4e-8
