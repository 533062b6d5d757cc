"""Picks by the highest score: every deterministic method that never looks back."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._array import Array, first_argmax, host, like, namespace
from ...problem import Choice, Problem, complete
from ...residual.residual import Residual, filled
from ...runs.runner import Step, run
from ...runs.state import State


class Gains(State, abc.ABC):
    """The worth of each column given the picks so far."""

    @abc.abstractmethod
    def scores(self) -> Array:
        """The n scores, zero for columns already represented."""

    @abc.abstractmethod
    def best(self, allowed: Array) -> int | None:
        """The allowed column to pick next, None where none is worth it."""

    @abc.abstractmethod
    def update(self, v: Array) -> None:
        """Take in that C became C − v vᵀ; the residual already holds the new C."""


def pick_best(residual: Residual, gains: Gains, allowed: Array, limit: int) -> bool:
    """Make one pick, that of the best score; returns False where none is worth it."""
    best = gains.best(allowed)
    if best is None:
        return False
    gains.update(residual.pick(best))
    return True


Advance = Callable[[Residual, Any, Array, int], bool]


def pursue(
    problem: Problem,
    residual: Residual,
    gains: Gains,
    name: str = "greedy",
    advance: Advance = pick_best,
) -> Choice:
    """Pick what must be included, then the best until there are k or nothing is left to represent.

    When it is stopped, or the deadline has passed, the scores at that moment choose the rest.

    advance : makes the next pick, or several at once.
    """
    n = problem.operator.n
    allowed = like(np.isin(np.arange(n), problem.free).astype(float), residual.operator.like)
    steps = picked(problem, residual, gains, allowed, advance)
    ended = run(name, steps, residual, gains, deadline=problem.deadline)
    if ended or problem.constraints:
        return Choice(complete(problem, residual.picks))
    scores = host(gains.scores() * allowed)
    return Choice(filled(problem, residual.picks, scores))


def picked(
    problem: Problem, residual: Residual, gains: Gains, allowed: Array, advance: Advance
) -> Iterator[Step]:
    """The picks, one or several at a step; those that must be included come before the first."""
    for j in problem.include[len(residual.picks) :]:
        gains.update(residual.pick(j))
    while len(residual.picks) < problem.k:
        if problem.constraints:
            allowed = like(problem.addable(residual.picks).astype(float), residual.operator.like)
        if not advance(residual, gains, allowed, problem.k - len(residual.picks)):
            return
        yield Step(len(residual.picks), problem.k, lambda: residual.relative_error(problem))


def highest(scores: Array) -> int | None:
    """The first of the highest scores, None where none is positive."""
    j = first_argmax(scores)
    return j if float(scores[j]) > 0 else None


def over_diagonal(values: Array, residual: Residual) -> Array:
    """values / diag C where C_jj is above rounding, else zero."""
    xp = namespace(values)
    c = residual.diagonal
    left = residual.left
    return xp.where(left, values / xp.where(left, c, xp.ones_like(c)), xp.zeros_like(c))
