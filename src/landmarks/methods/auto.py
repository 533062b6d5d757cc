"""The default: one list of steps, the same for every objective; the best choice is kept.

What the steps are estimated to cost (`costs`) decides how many rounds there are and which steps a
very large problem leaves out. Nothing is timed, so one seed gives one choice on every machine. A
budget ends the list when the time is over; what is left of it goes into further steps.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..constraints import check_honoured
from ..errors import Stopped
from ..operators.base import product_seconds
from ..operators.forms import searchable
from ..problem import PLACED, SEARCHED, Choice, Problem, brief, lowered
from ..residual.base import error_rounding
from ..residual.order import greedy_order
from ..residual.stored_powers import expecting
from ..runs.runner import cut_short, timed
from .costs import (
    frobenius_seconds,
    greedy_seconds,
    panels_fit,
    proof_seconds,
    rounds_within,
    swap_seconds,
)
from .greedy.nuclear import NuclearScores
from .greedy.osinsky import Osinsky, promised
from .in_time import SHORT, InTime
from .knapsack import Knapsack
from .portfolio import Portfolio
from .sampling.rpcholesky import RPCholesky, quick_draw
from .search.exact import Exact
from .search.filled import Filled
from .search.iterated import Iterated, moves
from .search.landscape import Landscape
from .search.merged import Merged
from .search.swap import Swap

# What the default may take, in estimated seconds: so many times what greedy takes, and this much
# more, for the powers of K and the rounds of small problems; and the most rounds
# (benchmarks/versions.py).
TIMES, MORE, MOST = 3.0, 0.6, 200
SECOND = 0.015  # of the rounds: what swaps from a second start may take, by estimate
PRODUCTS = 3  # with K, for each of k, that rounds may take beside MORE (benchmarks/gpu_seconds.py)
FEW = 25  # rounds on the Frobenius criterion; if there is time for fewer, they are on the trace
ON_TRACE = 0.2  # the largest part that such a round drops
QUICK = 0.03  # estimated seconds of a proof that is worth it for every answer: 5·10⁶ choices
ON_DROPPING = 1e-10  # relative to the error: what columns that add nothing may seem to add
GIVEN = 512  # the effort after which a proof that was estimated to be quick is given up
FEW_PARTS = 64  # the same for groups, whose parts take longer


@dataclass(frozen=True)
class Auto:
    """Greedy, swaps, and an iterated search; the best choice is kept, proved where that is quick.

    `selection.trials` lists what was tried. Without a budget the work is a few times that of
    greedy, at every size and on every machine. With a budget the same steps come first; the rest of
    it goes into a proof, if that is estimated to take at most half of it, and further rounds.
    `Knapsack` handles groups and costs.

    Parameters
    ----------
    effort : the limit on the estimated seconds of work if there is no budget. Above it, nuclear
        scores replace greedy and swaps.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> s = lm.select(X, 3)
    >>> s.proved
    True
    """

    effort: float = 180.0
    honours: ClassVar[frozenset[str]] = Knapsack.honours | SEARCHED | PLACED
    improves: ClassVar[bool] = True
    __repr__ = brief

    def __post_init__(self) -> None:
        if not self.effort > 0:
            raise ValueError(f"effort must be a positive number of seconds, got {self.effort!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if problem.groups is not None or problem.costs is not None:
            single = one_by_one(problem)
            if single is None:
                check_honoured(problem, Knapsack())
                return in_units(problem, rng)
            method = self if problem.deadline is None else InTime(self)
            choice = method.choose(single, rng)
            return without_spares(single, choice) if problem.costs is not None else choice
        if not problem.affords_search(lowered(problem, problem.objective.cheaper).depth):
            cut_short()
            return quick_draw(problem, rng)
        found = problem
        if problem.pair.standard:  # the form of K for a search, which serves errors too
            found = replace(problem, operator=searchable(problem.operator, problem.k))
        work, portfolio = Work.of(found, self.effort), Portfolio(found, rng)
        with expecting(found.searched.operator, work.moves):
            for label, method, task in steps(problem, portfolio, work):
                portfolio.run(label, method, task)
        choice = portfolio.best
        if work.swaps and found.pair.standard and found.objective.shares and not portfolio.over:
            choice = replace(choice, indices=greedy_order(found, choice.indices))
        return replace(choice, trials=tuple(portfolio.trials), bound=portfolio.bound)


def steps(given: Problem, portfolio: Portfolio, work: Work) -> Iterator[tuple[str, Any, Problem]]:
    """The list: the label of a step, its method, and the problem that the method is given.

    given : the problem as it came. What is proved for a rounded XᵀX is not proved for X.
    """
    problem, objective = portfolio.problem, portfolio.problem.objective
    cheaper, proof = objective.cheaper, proof_seconds(given)
    start = Filled() if work.greedy else NuclearScores()

    # k products, and some 0.7 k for the swaps: 1 to 3 % lower than greedy, more on smooth data
    if not work.swaps:
        yield work.name, start, problem
        return
    yield f"{work.name} > swap", Swap(start=start, criterion=cheaper), problem

    # a look at all choices, where that is quick
    if proof <= QUICK:
        yield "exact", Exact(start=portfolio.best.indices, effort=GIVEN), given
    if portfolio.proved:
        return

    # another start, where it costs little, and what is best of both
    if work.second:
        first = portfolio.best.indices
        yield "rpcholesky > swap", Swap(start=RPCholesky()), problem
        yield "merged", Merged(first, portfolio.latest), problem

    # one singular value decomposition, where the promise could be broken: k + 1 times the optimum
    if portfolio.error > promised(problem):
        yield "osinsky > swap", Swap(start=Osinsky()), problem

    # rounds on the objective, or on one that costs less and then swaps: another 1 to 3 %
    most = PRODUCTS * problem.k // max(1, objective.depth)
    most += int(MORE / product_seconds(problem.operator))
    rounds = Iterated(rounds=work.rounds, endless=False, products=most)
    if work.on_trace:
        on_trace = replace(rounds, share=ON_TRACE, criterion=cheaper)
        yield f"iterated({cheaper})", replace(on_trace, start=portfolio.best.indices), problem
    if work.squares:
        swaps = Swap(portfolio.best.indices, objective.criterion)
        yield f"swap({objective.criterion})", swaps, problem
    if not work.on_trace:
        yield "iterated", replace(rounds, start=portfolio.best.indices), problem

    if problem.deadline is not None and problem.time_left > 0:
        with timed():  # what the default does is done
            yield from further_steps(given, portfolio, rounds)


def further_steps(
    given: Problem, portfolio: Portfolio, rounds: Iterated
) -> Iterator[tuple[str, Any, Problem]]:
    """What is left of a budget goes into these."""
    problem, proof = portfolio.problem, proof_seconds(given)
    if proof <= problem.time_left / 2:
        yield "exact", Exact(start=portfolio.best.indices), within(given, given.time_left / 2)
    if portfolio.proved:
        return
    yield "iterated", replace(rounds, start=portfolio.best.indices, endless=True), problem


def within(problem: Problem, seconds: float) -> Problem:
    """The problem, to be solved in at most so many seconds."""
    end = time.monotonic() + seconds
    return replace(problem, deadline=min(end, problem.deadline or np.inf))


@dataclass(frozen=True)
class Work:
    """What the default does on a problem, by the estimated cost of each step.

    greedy, swaps, second : whether greedy, swaps, and a second start are affordable. squares :
    whether swaps on the Frobenius criterion follow those on the trace. on_trace : whether the
    rounds are on the trace. rounds : how many; about so many `moves` are made in all.
    """

    greedy: bool
    swaps: bool
    second: bool
    squares: bool
    on_trace: bool
    rounds: int
    moves: int

    @classmethod
    def of(cls, problem: Problem, effort: float) -> Work:
        n, k, cheaper = problem.operator.n, problem.k, problem.objective.cheaper
        first = greedy_seconds(problem) + swap_seconds(problem)
        scored = problem.objective.plain and problem.objective.shares and not problem.constraints
        fit = panels_fit(problem)
        greedy = not scored or (first <= effort and fit)
        swaps = not scored or (swap_seconds(problem) <= effort and fit)
        left = min(effort, MORE + TIMES * greedy_seconds(problem)) - first
        most = min(effort, MORE + 3 * TIMES * greedy_seconds(problem))
        squares = cheaper is not None and frobenius_seconds(problem) <= most
        on_trace = cheaper is not None and rounds_within(problem, left) < FEW
        if on_trace:
            problem = replace(problem, objective=lowered(problem, cheaper))
        second = scored and swap_seconds(problem) <= SECOND * left
        rounds = min(MOST, 10 + n * k // 20, max(0, rounds_within(problem, left)))
        return cls(greedy, swaps, second, squares, on_trace, rounds, 3 * k // 2 + rounds * moves(k))

    @property
    def name(self) -> str:
        """What the swaps start from."""
        return "greedy" if self.greedy else "nuclear"


def in_units(problem: Problem, rng: np.random.Generator) -> Choice:
    """The choice of groups, or of columns with different costs: exchanges, and a proof if quick."""
    if problem.deadline is not None:
        problem = replace(problem, deadline=max(problem.deadline, time.monotonic() + SHORT))
    portfolio = Portfolio(problem, rng)
    portfolio.run("knapsack", Knapsack())
    start, proof = portfolio.best, proof_seconds(problem)
    if proof <= QUICK:
        portfolio.run("exact", Exact(start.indices, FEW_PARTS))
    elif problem.deadline is not None and proof <= problem.time_left / 2:
        with timed():
            portfolio.run("exact", Exact(start.indices), within(problem, problem.time_left / 2))
    trials = (*start.trials, *portfolio.trials[1:])
    return replace(portfolio.best, trials=trials, bound=portfolio.bound)


def one_by_one(problem: Problem) -> Problem | None:
    """The same problem without groups and costs where these only count columns, else None."""
    groups, costs, k = problem.groups, problem.costs, problem.k or problem.operator.n
    if groups is not None and len(np.unique(groups)) < len(groups):
        return None
    warned = problem.warned
    if costs is not None and problem.budget_cost is not None:
        if problem.allowed.uneven or costs[0] == 0:
            return None
        k = problem.allowed.most
        warned = problem.warned | {"rank"}  # no more are bought than add something
    k = min(k, len(problem.candidates))
    return replace(problem, groups=None, costs=None, budget_cost=None, k=k, warned=warned)


def without_spares(problem: Problem, choice: Choice) -> Choice:
    """The choice without columns that add nothing.

    The state leaves out columns whose gain its rounding hides. They are kept if the error is higher
    without them.
    """
    try:
        chosen = Landscape.of(problem).state(choice.indices).chosen
    except Stopped:
        return choice
    spare = [j for j in choice.indices if j not in chosen and j not in problem.include]
    if not spare:
        return choice
    objective, operator = problem.objective, problem.operator
    error, nothing = (objective.error(operator, S) for S in (choice.indices, choice.indices[:0]))
    same = error + error_rounding(operator, objective.depth, error, nothing)
    same += ON_DROPPING * abs(error)
    kept = choice.indices
    for left_out in (spare, *([j] for j in reversed(spare))):
        rest = kept[~np.isin(kept, left_out)]
        if len(rest) < len(kept) and objective.error(operator, rest) <= same:
            kept = rest
    return replace(choice, indices=kept)
