"""Picks by the highest score: the loop of every deterministic method that never looks back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

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


def pick_best(residual: Residual, gains: Gains, allowed: Array, limit: int) -> bool:
    """Make one pick, that of the best score; returns False where none is worth it."""
    best = gains.best(allowed)
    if best is None:
        return False
    gains.update(residual.pick(best))
    return True


def pursue(
    problem: Problem,
    residual: Residual,
    gains: Gains,
    phase: str = "greedy",
    advance: Callable[[Residual, Any, Array, int], bool] = pick_best,
) -> Choice:
    """Pick what must be included, then the best until there are k or nothing is left to represent.

    When it is stopped, or the deadline has passed, the scores at that moment fill up the rest.

    advance : makes the next pick, or several at once.
    """
    n = problem.operator.n
    allowed = like(np.isin(np.arange(n), problem.free).astype(float), residual.operator.like)
    with Loop(phase, residual, gains) as loop:
        for j in problem.include[len(residual.picks) :]:
            gains.update(residual.pick(j))
        while len(residual.picks) < problem.k:
            if not advance(residual, gains, allowed, problem.k - len(residual.picks)):
                break
            stop = loop.turn(
                len(residual.picks), problem.k, lambda: residual.relative_error(problem)
            )
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
