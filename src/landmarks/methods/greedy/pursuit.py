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

    def update(self, v: Array) -> None:
        """Take in that C became C − v vᵀ; the residual already holds the new C."""
        ...


def pursue(problem: Problem, residual: Residual, gains: Gains, phase: str = "greedy") -> Choice:
    """Pick what must be included, then the highest score until there are k or nothing is left to represent.

    When it is stopped, the rest is filled up by the scores at that moment.
    """
    allowed = like(
        np.isin(np.arange(problem.operator.n), problem.free).astype(float), problem.operator.like
    )
    with Loop(phase, residual, gains) as loop:
        for j in problem.include[len(residual.picks) :]:
            gains.update(residual.pick(j))
        while len(residual.picks) < problem.k:
            scores = gains.scores() * allowed
            j = first_argmax(scores)
            if float(scores[j]) <= 0:
                break
            gains.update(residual.pick(j))
            if loop.turn(len(residual.picks), problem.k, lambda: residual.relative_error(problem)):
                return Choice(filled(problem, residual.picks, host(gains.scores() * allowed)))
    return Choice(complete(problem, residual.picks))


def over_diagonal(values: Array, residual: Residual) -> Array:
    """values / diag C where C_jj is above rounding, else zero."""
    xp = namespace(values)
    c = residual.diagonal
    left = c > residual.tolerance
    return xp.where(left, values / xp.where(left, c, xp.ones_like(c)), xp.zeros_like(c))
