"""Greedy selection: each pick lowers the error most; K is never stored.

Farahat, Ghodsi and Kamel, AISTATS (2011) and ICDM (2013), with diag C and diag C² updated from one product
with K and one column per pick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._array import Array, first_argmax, like, namespace
from ..operators.base import squared_diagonal
from .problem import CONSTRAINTS, Choice, Problem, complete
from .residual import Residual


@dataclass(frozen=True)
class Greedy:
    """Pick by pick, the column that lowers the error most.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2, method=lm.Greedy()).indices.tolist()
    [1, 2]
    """

    honours: ClassVar[frozenset[str]] = CONSTRAINTS

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = Residual(problem.operator, problem.k)
        gains = TraceGains(residual)
        for j in problem.include:
            gains.update(residual.pick(j))
        allowed = like(np.isin(np.arange(problem.operator.n), problem.free).astype(float), problem.operator.like)
        while len(residual.picks) < problem.k and not residual.exhausted:
            scores = gains.scores() * allowed
            j = first_argmax(scores)
            if float(scores[j]) <= 0:
                break
            gains.update(residual.pick(j))
        return Choice(complete(problem, residual.picks))


class TraceGains:
    """(C²)_jj/C_jj, by which picking j lowers the trace of C."""

    def __init__(self, residual: Residual):
        self.residual = residual
        self.squares = squared_diagonal(residual.operator)

    def scores(self) -> Array:
        """The gain of every column; zero for those already represented."""
        xp = namespace(self.squares)
        c, tolerance = self.residual.diagonal, self.residual.tolerance
        safe = xp.where(c > tolerance, c, xp.ones_like(c))
        return xp.where(c > tolerance, xp.clip(self.squares, min=0.0) / safe, xp.zeros_like(c))

    def update(self, v: Array) -> None:
        """diag C² after C became C − v vᵀ; the residual already holds the new C."""
        xp = namespace(v)
        Cv = self.residual.matmul(v[:, None])[:, 0]  # with the new C: (C + v vᵀ)v = Cv + v‖v‖²
        self.squares = self.squares - 2 * v * Cv - v * v * xp.sum(v * v)
