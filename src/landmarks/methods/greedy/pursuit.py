"""One pick after the other by the highest score: the loop of every deterministic method that never looks back."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..._array import Array, first_argmax, host, like, namespace
from ...problem import Choice, Problem, complete
from ...residual.residual import Residual, filled
from ...runs.journal import Loop


class Gains(Protocol):
    """The worth of each column given the picks so far."""

    def scores(self) -> Array:
        """The n scores, zero for columns already represented."""
        ...

    def best(self, allowed: Array) -> int | None:
        """The allowed column to pick next, None where none is worth it."""
        ...

    def update(self, v: Array) -> None:
        """Take in that C became C − v vᵀ; the residual already holds the new C."""
        ...


def pursue(problem: Problem, residual: Residual, gains: Gains, phase: str = "greedy") -> Choice:
    """Pick what must be included, then the best until there are k or nothing is left to represent.

    When it is stopped, or the deadline has passed, the rest is filled up by the scores at that moment.
    """
    n = problem.operator.n
    allowed = like(np.isin(np.arange(n), problem.free).astype(float), residual.operator.like)
    with Loop(phase, residual, gains) as loop:
        for j in problem.include[len(residual.picks) :]:
            gains.update(residual.pick(j))
        while len(residual.picks) < problem.k:
            if problem.constraints:
                placed = problem.addable(residual.picks).astype(float)
                allowed = like(placed, residual.operator.like)
            best = gains.best(allowed)
            if best is None:
                break
            gains.update(residual.pick(best))
            stop = loop.turn(
                len(residual.picks), problem.k, lambda: residual.relative_error(problem)
            )
            if problem.constraints and (stop or problem.time_left <= 0):
                break
            if stop or problem.time_left <= 0:
                scores = host(gains.scores() * allowed)
                return Choice(filled(problem, residual.picks, scores))
    return Choice(complete(problem, residual.picks))


def highest(scores: Array) -> int | None:
    """The first of the highest scores, None where none is positive."""
    j = first_argmax(scores)
    return j if float(scores[j]) > 0 else None


def over_diagonal(values: Array, residual: Residual) -> Array:
    """values / diag C where C_jj is above rounding, else zero."""
    xp = namespace(values)
    c, left = residual.diagonal, residual.left
    return xp.where(left, values / xp.where(left, c, xp.ones_like(c)), xp.zeros_like(c))
