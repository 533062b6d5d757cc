"""Exact selection by branch and bound, with margins for rounding; see `landmarks.proof.tree`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...errors import Stopped
from ...problem import SEARCHED, Choice, Problem, brief, complete
from ...proof.counting import best_of_all
from ...proof.entropy import largest_volume
from ...proof.tree import Tree
from .landscape import Landscape
from .local_search import descend, starting_choice

EIGENVALUES = 4e-10  # seconds of the first node, times n³: with less time left there is no search


@dataclass(frozen=True)
class Exact:
    """Find the best choice and prove it; at the deadline return the best one found, with a bound.

    A choice is proved if no other can be better by more than 1e-9 of its error, rounding included.
    If rounding makes that uncertain, it is not proved. The work grows fast with k: k = 5 of 60
    columns takes seconds, k = 10 of 30 about 20 seconds. K is stored.

    Parameters
    ----------
    start : a method, by name or as an object, or k indices. Improved by swaps, it is the first
        choice that others must beat.

    Examples
    --------
    >>> K = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> best = lm.select(lm.psd(K), 2, method=lm.Exact())
    >>> sorted(best.indices.tolist()), best.proved
    ([0, 1], True)
    """

    start: Any = "greedy"
    honours: ClassVar[frozenset[str]] = SEARCHED
    improves: ClassVar[bool] = True
    __repr__ = brief

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if problem.objective.depth == 0:
            return largest_volume(problem, self._improved(problem, rng))
        if problem.time_left < EIGENVALUES * problem.pair.operator.n**3:
            details = {"proved": False, "nodes": 0}
            return Choice(self._improved(problem, rng), bound=0.0, details=details)
        tree = Tree(problem)
        tree.offer(*tree.split(self._improved(problem, rng)))
        bound = best_of_all(tree)
        indices, objective = complete(problem, tree.independent()), problem.objective
        error = objective.error(problem.operator, indices)
        proved = bool(bound >= tree.cutoff)
        if proved:
            bound = tree.cutoff  # what the search found may depend on where a run was resumed
        else:
            tail = objective.bound(problem.operator, problem.k, problem.exclude)
            bound = min(max(bound, tail), error)
        return Choice(indices, bound=bound, details={"proved": proved, "nodes": tree.nodes})

    def _improved(self, problem: Problem, rng: np.random.Generator) -> np.ndarray:
        """The start, improved by swaps; the search judges the rank, so the start does not warn."""
        problem = replace(problem, warned=problem.warned | {"rank"})
        start = starting_choice(self.start, problem, rng)
        try:
            landscape = Landscape.of(problem)
        except Stopped:
            return start.indices
        state = landscape.state(start.indices)
        descend(landscape, state)
        return landscape.indices(state.chosen, start.indices)
