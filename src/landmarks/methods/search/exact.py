"""The exact search from a choice that swaps have improved; see `landmarks.proof.search`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...errors import Stopped
from ...problem import PLACED, SEARCHED, Choice, Problem, brief
from ...proof.entropy import largest_volume
from ...proof.search import Search
from ..knapsack import Knapsack
from .landscape import Landscape
from .local_search import descend, listed, starting_choice

EIGENVALUES = 4e-10  # seconds of the first node, times n³: with less time left there is no search


@dataclass(frozen=True)
class Exact:
    """Find the best choice and prove it; at the deadline return the best one found, with a bound.

    A choice is proved if no other can be better by more than 1e-9 of its error, rounding included.
    If rounding makes that uncertain, it is not proved. The work grows fast with k: 6 of 60 columns
    take less than a second, 8 take some seconds and 10 some minutes. K is stored.

    Parameters
    ----------
    start : what others must beat: the choice of a method, by name or as an object, which swaps
        then improve, or k indices. Groups and costs start with `Knapsack` unless indices are given.
    effort : how many parts of all choices may be divided or counted, and how many choices computed
        in 106 bits, before it gives up; None is no limit.

    Examples
    --------
    >>> K = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> best = lm.select(lm.psd(K), 2, method=lm.Exact())
    >>> sorted(best.indices.tolist()), best.proved
    ([0, 1], True)
    """

    start: Any = "greedy"
    effort: int | None = None
    honours: ClassVar[frozenset[str]] = SEARCHED | PLACED | Knapsack.honours
    improves: ClassVar[bool] = True
    __repr__ = brief

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        allowed, objective = problem.allowed, problem.objective
        start = self._first(problem, rng)
        if problem.time_left < EIGENVALUES * problem.pair.operator.n**3:
            return Choice(start, bound=objective.floor, details={"proved": False, "nodes": 0})
        plain = allowed.single and allowed.sized and not allowed.constraints
        effort = np.inf if self.effort is None else self.effort
        if objective.volume and plain:
            return largest_volume(problem, start, effort)
        search = Search(problem, effort=effort)
        least = objective.error(problem.operator, start)
        if not np.isfinite(least):
            return Choice(start, bound=objective.floor, details={"proved": False, "nodes": 0})
        search.begin(start)
        bound = search.search()
        indices = search.indices(start)
        error = objective.error(problem.operator, indices)
        proved = bound >= search.cutoff
        if proved:  # what the search found may depend on where a run was resumed
            bound = search.cutoff
        bound = min(search.in_units(bound, error), error)
        if not proved and least < error:  # the search may not see all that the start rebuilds
            indices, error = start, least
        if not proved:
            columns = problem.allowed.most_columns(len(indices))
            tail = objective.bound(problem.operator, columns, problem.exclude)
            bound = min(max(bound, tail), error)
        return Choice(indices, bound=bound, details={"proved": proved, "nodes": search.nodes})

    def _first(self, problem: Problem, rng: np.random.Generator) -> np.ndarray:
        """The indices that were given, or the choice of a method, improved by swaps.

        The search judges the rank, so the start does not warn.
        """
        problem = replace(problem, warned=problem.warned | {"rank"})
        units = not problem.allowed.single or not problem.allowed.sized
        if units and not listed(self.start):
            return Knapsack().choose(problem, rng).indices
        start = starting_choice(self.start, problem, rng)
        if listed(self.start):
            return start.indices
        try:
            landscape = Landscape.of(problem)
        except Stopped:
            return start.indices
        state = landscape.state(start.indices)
        descend(landscape, state)
        return landscape.indices(state.chosen, start.indices)
