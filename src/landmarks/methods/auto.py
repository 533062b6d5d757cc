"""The default: several starts, each improved by swaps, the best kept; proved optimal when small.

The estimated costs of the starts (`costs`) decide which of them are tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..constraints import check_honoured
from ..operators.base import in_parts
from ..problem import PLACED, SEARCHED, Choice, Problem, brief
from ..residual.order import greedy_order
from ..residual.stored_powers import expecting
from ..runs.runner import stopped
from .annealed import Annealed
from .costs import (
    annealed_seconds,
    candidates_seconds,
    frobenius_seconds,
    greedy_seconds,
    panels_fit,
    proof_seconds,
    round_seconds,
    swap_seconds,
)
from .greedy.greedy import Greedy, too_late
from .greedy.nuclear import NuclearScores
from .greedy.osinsky import Osinsky, promised
from .groups.knapsack import Knapsack
from .portfolio import Portfolio, order
from .sampling.rpcholesky import RPCholesky
from .search.exact import Exact
from .search.filled import Filled
from .search.iterated import Iterated, moves
from .search.landscape import Landscape
from .search.local_search import lowered
from .search.merged import Merged
from .search.swap import Swap

SMALL = 3000  # order of a stored matrix up to which several starts are tried
# Without a budget: the estimated seconds of rounds, and the most that LEAST_ROUNDS may take. On few
# rows swaps alone go far. All from benchmarks/versions.py.
MODEST, LONG = 0.38, 0.95
MODEST_ON_ROWS, LONG_ON_ROWS = 0.25, 0.6
LEAST_ROUNDS = 30  # even if they take longer than is modest
LONG_ON_TRACE = 0.6  # instead of LONG, where swaps on the Frobenius criterion follow
SHARE_ON_TRACE = 0.2  # the largest part that such a round drops, also from versions.py
FEW_ROUNDS = 3  # even if they take longer than that
MOST_ROUNDS = 200  # no more, even where they cost next to nothing
SECOND_START = 0.03  # estimated seconds of swaps up to which a second start pays more than rounds
QUICK = 0.03  # estimated seconds of a proof that is worth it for every answer: 5·10⁶ choices
LONGEST = 1.0  # seconds after which a proof that was estimated to be quick is given up


@dataclass(frozen=True)
class Auto:
    """Greedy and random starts, improved by swaps, then an iterated search; the best is kept.

    `selection.trials` lists what was tried. With a budget there is also an annealed start, and the
    rest of the budget goes into the iterated search. An optimum that can be proved at once, or in
    half of the budget, is proved; `selection.prove()` takes more time for it. `Knapsack` handles
    groups and costs.

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
    __repr__ = brief

    def __post_init__(self) -> None:
        if not self.effort > 0:
            raise ValueError(f"effort must be a positive number of seconds, got {self.effort!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if problem.groups is not None or problem.costs is not None:
            single = one_by_one(problem)
            if single is None:
                check_honoured(problem, Knapsack())
                return Knapsack().choose(problem, rng)
            choice = self.choose(single, rng)
            return without_spares(single, choice) if problem.costs is not None else choice
        if problem.constraints or not problem.pair.plain or problem.objective.depth == 0:
            return by_search(problem, rng)
        found = replace(problem, operator=problem.operator.searchable(problem.k))
        with expecting(found.operator, expected_moves(found)):
            return self._search(problem, found, rng)

    def _search(self, given: Problem, problem: Problem, rng: np.random.Generator) -> Choice:
        """The starts, the search from the best of them, and a proof.

        given : the problem with the operator as it came.
        """
        small = order(problem.operator) <= SMALL
        portfolio = Portfolio(problem, rng)
        seconds = self.effort if problem.deadline is None else max(0.0, problem.time_left)
        straight = small and one_start(problem)
        if straight:
            search_on(portfolio, Filled())
        else:
            for label, method in small_plan(portfolio) if small else large_plan(problem, seconds):
                portfolio.run(label, method)
        if small and not straight and len(portfolio.choices) > 1:
            portfolio.run("merged", Merged(*portfolio.choices[:2]))
        if not small and frobenius_seconds(problem) <= seconds and panels_fit(problem):
            criterion = problem.objective.criterion
            onward = Swap(start=portfolio.best.indices, criterion=criterion)
            portfolio.run(f"swap({criterion})", onward, never_worse=True)
        if small and portfolio.error > promised(problem):
            portfolio.run("osinsky > swap", Swap(start=Osinsky()))
        proof = proof_seconds(problem)
        if proof <= (QUICK if problem.deadline is None else problem.time_left / 2):
            # the data as given: what is proved for a rounded XᵀX is not proved for X
            given = replace(given, deadline=given.deadline or time.monotonic() + LONGEST)
            portfolio.run("exact", Exact(start=portfolio.best.indices), given)
        further = not straight and ((small and not portfolio.late) or problem.deadline is not None)
        if further and not portfolio.proved and in_parts(problem.operator) is None:
            search_on(portfolio, portfolio.best.indices)
        indices = portfolio.best.indices
        if small and not stopped() and problem.time_left > 0:
            indices = greedy_order(problem, indices)
        return replace(
            portfolio.best,
            indices=indices,
            trials=tuple(portfolio.trials),
            bound=portfolio.bound,
        )


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
    """The choice without columns that add nothing."""
    chosen = Landscape.of(problem).state(choice.indices).chosen
    kept = [int(j) for j in choice.indices if j in chosen or j in problem.include]
    return replace(choice, indices=np.asarray(kept, dtype=np.int64))


def by_search(problem: Problem, rng: np.random.Generator) -> Choice:
    """Greedy, swaps, and rounds or a proof: for targets, noise and places."""
    portfolio = Portfolio(problem, rng)
    portfolio.run("greedy > swap", Swap(start=Greedy()))
    proof = proof_seconds(problem)
    allowed = QUICK if problem.deadline is None else problem.time_left / 2
    if proof <= allowed and not problem.constraints:
        portfolio.run("exact", Exact(start=portfolio.best.indices))
    if not portfolio.proved:
        portfolio.run("iterated", modest_search(problem, portfolio.best.indices))
    return replace(portfolio.best, trials=tuple(portfolio.trials), bound=portfolio.bound)


def one_start(problem: Problem) -> bool:
    """Whether rounds begin at greedy's choice at once: no other start, and no proof, pays."""
    if problem.operator.m is not None or problem.deadline is not None:
        return False
    return swap_seconds(problem) > SECOND_START and proof_seconds(problem) > QUICK


def search_on(portfolio: Portfolio, start: Any) -> None:
    """The iterated search from a start, by swaps on the trace where Frobenius rounds cost much."""
    problem = portfolio.problem
    if traces_first(problem):
        search = modest_search(cheaper(problem), start, LONG_ON_TRACE)
        search = replace(search, criterion=problem.objective.cheaper, share=SHARE_ON_TRACE)
        onward = Swap(start=search, criterion=problem.objective.criterion)
        portfolio.run("iterated(trace) > swap", onward)
        return
    if problem.objective.cheaper is not None and isinstance(start, Filled):
        start = Swap(start=start)  # swaps on the trace first
    portfolio.run("iterated", modest_search(problem, start))


def modest_search(problem: Problem, start: Any, longest: float = LONG) -> Iterated:
    """An iterated search whose rounds cost little; the fewer members, the sooner it moves away.

    With a budget it stays longer: leaving a local optimum costs many rounds.
    """
    n, k = problem.operator.n, problem.k
    each = round_seconds(problem)
    most = min(MOST_ROUNDS, 10 + n * k // 20)
    modest = MODEST
    if problem.operator.m is not None:
        modest, longest = MODEST_ON_ROWS, LONG_ON_ROWS
    rounds = max(FEW_ROUNDS, min(LEAST_ROUNDS, int(longest / each)), int(modest / each))
    patience = max(4, k // 2) if problem.deadline is None else 8 * k
    return Iterated(start=start, rounds=min(most, rounds), patience=patience)


def expected_moves(problem: Problem) -> int:
    """About how many columns are added in all: by greedy, by swaps and in the rounds."""
    if traces_first(problem):
        problem = cheaper(problem)
    rounds = modest_search(problem, np.zeros(0)).rounds
    return 3 * problem.k // 2 + rounds * moves(problem.k)


def traces_first(problem: Problem) -> bool:
    """Whether rounds on the Frobenius criterion cost so much that rounds on the trace come first.

    They lower both errors, at a fraction of the cost (`benchmarks/versions.py --part large`).
    """
    if problem.objective.cheaper is None or problem.operator.m is not None:
        return False
    return problem.deadline is None and LEAST_ROUNDS * round_seconds(problem) > 2 * MODEST


def cheaper(problem: Problem) -> Problem:
    """The problem with the objective whose swaps cost less."""
    return replace(problem, objective=lowered(problem, problem.objective.cheaper))


def small_plan(portfolio: Portfolio) -> Iterator[tuple[str, Any]]:
    """Starts for a small matrix; annealed ones cost ten times as much, so they need a budget."""
    problem = portfolio.problem
    yield "greedy > swap", Swap(start=Filled())
    if swap_seconds(problem) <= SECOND_START and not portfolio.late:
        yield "rpcholesky > swap", Swap(start=RPCholesky())
    if problem.deadline is not None and problem.time_left > 2 * annealed_seconds(problem):
        yield "annealed > swap", Swap(start=Annealed(sweeps=0))


def large_plan(problem: Problem, seconds: float) -> Iterator[tuple[str, Any]]:
    """Starts for a large matrix: greedy and swaps, or nuclear scores if these cost too much."""
    if greedy_seconds(problem) + swap_seconds(problem) > seconds or not panels_fit(problem):
        late = too_late(problem)
        yield ("rpcholesky", RPCholesky()) if late else ("nuclear", NuclearScores())
        return
    first = problem.objective.cheaper
    yield "greedy > swap", Swap(start=Greedy(), criterion=first)
    if "columns" in problem.operator.cheap and candidates_seconds(problem) <= min(
        greedy_seconds(problem), seconds / 4
    ):
        yield "annealed > swap", Swap(start=Annealed(), criterion=first)
