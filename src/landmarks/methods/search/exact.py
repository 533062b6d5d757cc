"""Exact selection by depth-first branch and bound with eigenvalue tails.

Arai, Maung and Schweitzer, "Optimal column subset selection by A-Star search", AAAI (2015): no choice that extends a
partial one can go below the eigenvalue tail of its residual. Here the last two picks are found at once, for all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._array import host
from ...linalg.error import selection_error
from ...operators.base import densify
from ...problem import CONSTRAINTS, Choice, Problem, brief, complete
from ...proof.powers import Powers, spectrum
from ...runs.journal import Loop, Variables
from .local_search import Landscape, descend, starting_choice

SLACK = 5e-10  # branches that could be better by less, relative to the error, are not searched
ROUNDING = 1e-13  # the same, relative to the error of choosing nothing


@dataclass(frozen=True)
class Exact:
    """The best choice of all, with its proof; at the deadline the best one found, with a lower bound.

    The work grows fast with k: k = 5 of 60 columns takes seconds, k = 6 of 30 too. K is stored.

    Parameters
    ----------
    start : a method, by name or as an object, or k indices; improved by swaps, it is the first choice to beat.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> K = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> best = lm.select(lm.psd(K), 2, method=lm.Exact())
    >>> sorted(best.indices.tolist()), best.proved
    ([0, 1], True)
    """

    start: Any = "greedy"
    honours: ClassVar[frozenset[str]] = CONSTRAINTS
    __repr__ = brief

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        K = host(densify(problem.operator)).astype(np.float64)
        start = starting_choice(self.start, problem, rng)
        ground = Landscape.of(problem, problem.criterion)
        state = ground.state(start.indices)
        descend(ground, state)
        tree = Tree(problem, K, 1e-10 * ground.base.largest)
        tree.best, tree.error = list(state.chosen), state.error
        bound = tree.search()
        indices = (
            ground.indices(state, start.indices)
            if tree.best == list(state.chosen)
            else complete(problem, tree.best)
        )
        error = selection_error(problem.operator, indices, problem.criterion)
        proved = bool(bound >= tree.cutoff)
        return Choice(
            indices,
            bound=error if proved else max(0.0, min(bound, error)),
            details={"proved": proved, "nodes": tree.nodes},
        )


class Tree:
    """The search tree: partial choices, each with its residual, the candidates after it and the picks left."""

    kept: ClassVar = ("best", "error", "nodes")

    def __init__(self, problem: Problem, K: np.ndarray, tolerance: float):
        self.problem, self.K, self.tolerance = problem, K, tolerance
        self.frobenius = problem.criterion == "frobenius"
        self.best: list[int] = []
        self.error = np.inf
        self.total = float(np.sum(K * K) if self.frobenius else np.trace(K))
        self.nodes, self.stopped = 0, False

    @property
    def cutoff(self) -> float:
        """The bound from which on a branch is of no interest."""
        return self.error * (1 - SLACK) - ROUNDING * self.total

    def relative(self) -> float:
        """The best error as a part of the whole."""
        return self.error / self.total if self.total > 0 else 0.0

    def search(self) -> float:
        """A lower bound of the error over all choices; `best` and `error` hold the best one found."""
        C = self.K.copy()
        for j in self.problem.include:
            C = reduced(C, j, self.tolerance)
        picks = list(self.problem.include)
        return min(self.error, self.visit(C, picks, self.problem.free, self.problem.k - len(picks)))

    def visit(self, C: np.ndarray, picks: list[int], candidates: np.ndarray, r: int) -> float:
        """A lower bound of the error over the choices that add r of the candidates to the picks."""
        self.nodes += 1
        error = float(np.sum(C * C) if self.frobenius else np.trace(C))
        candidates = candidates[np.diag(C)[candidates] > self.tolerance]
        if r == 0 or len(candidates) == 0:
            return self.offer(error, picks)
        powers = Powers.of(C, candidates, self.frobenius)
        if r <= 2 or len(candidates) <= 2:
            return self.finish(powers, error, picks, candidates, r)
        return self.branch(C, powers, error, picks, candidates, r)

    def branch(
        self,
        C: np.ndarray,
        powers: Powers,
        error: float,
        picks: list[int],
        candidates: np.ndarray,
        r: int,
    ) -> float:
        """Visit the branches from the largest gain on, while their bounds leave hope."""
        values = spectrum(C, self.frobenius)
        gains = powers.gains(self.tolerance)
        bound, v = float(np.sum(values[r:])), Variables(a=0, lower=np.inf)
        with Loop("exact", v, self) as loop:
            if bound >= self.cutoff and not loop.resumed:
                return bound
            order = np.argsort(-gains, kind="stable")
            candidates, powers = candidates[order], powers.ordered(order)
            bounds = np.maximum(
                bound, error - gains[order] - np.sum(values[: r - 1])
            )  # eigenvalues only fall
            while v.a < len(candidates):
                if bounds[v.a] >= self.cutoff or self.stopped or self.problem.time_left <= 0:
                    return min(v.lower, float(bounds[v.a]))
                j, a = int(candidates[v.a]), v.a
                after = ([*picks, j], candidates[a + 1 :], r - 1)
                if r == 3:
                    lower = self.finish(powers.after(a), error - gains[order[a]], *after)
                else:
                    lower = self.visit(reduced(C, j, self.tolerance), *after)
                v.a, v.lower = a + 1, min(v.lower, lower)
                self.stopped = loop.turn(self.nodes, None, self.relative)
        return v.lower

    def finish(
        self, powers: Powers, error: float, picks: list[int], candidates: np.ndarray, r: int
    ) -> float:
        """The best one or two last picks, all at once."""
        if len(candidates) == 0:
            return self.offer(error, picks)
        if r == 1 or len(candidates) == 1:
            gains = powers.gains(self.tolerance)
            a = int(np.argmax(gains))
            return self.offer(error - float(gains[a]), [*picks, int(candidates[a])])
        gains = powers.pair_gains(self.tolerance)
        a, b = divmod(int(np.argmax(gains)), len(candidates))
        last = sorted({a, b})  # which of the two comes first is rounding otherwise
        return self.offer(error - float(gains[a, b]), picks + [int(candidates[i]) for i in last])

    def offer(self, error: float, picks: list[int]) -> float:
        """Keep the choice if it is the best so far; returns its error."""
        if error < self.cutoff:
            self.best, self.error = picks, error
        return error


def reduced(C: np.ndarray, j: int, tolerance: float) -> np.ndarray:
    """The residual after picking j."""
    return C - np.outer(C[:, j], C[j] / C[j, j]) if C[j, j] > tolerance else C
