"""Greedy selection: each pick lowers the error most; K is never stored.

Farahat, Ghodsi and Kamel, AISTATS (2011) and ICDM (2013), with diag C and diag C² updated from one product
with K and one column per pick. A gain counts less what rounding may have put into it: else a column that is nearly
represented, for which the gain is rounding over next to nothing, would be picked and spoil the residual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import _check
from ..._array import Array, namespace, uncertain
from ...operators.base import cubed_diagonal, squared_diagonal
from ...problem import CONSTRAINTS, Choice, Problem, brief
from ...residual.residual import Residual
from .pursuit import Gains, over_diagonal, pursue


@dataclass(frozen=True)
class Greedy:
    """Pick by pick, the column that lowers the error most.

    Parameters
    ----------
    gain : the error that a pick lowers most. "trace" serves both criteria: it costs one product per pick, and even
        judged by the Frobenius error it chose better on average than "frobenius", which costs two products per
        pick and n products to begin.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2, method=lm.Greedy()).indices.tolist()
    [1, 2]
    """

    gain: str = "trace"
    honours: ClassVar[frozenset[str]] = CONSTRAINTS
    __repr__ = brief

    def __post_init__(self) -> None:
        _check.choice(self.gain, tuple(GAINS), "gain")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = Residual(problem.operator, problem.k)
        return pursue(problem, residual, GAINS[self.gain](residual))


class TraceGains:
    """(C²)_jj/C_jj, by which picking j lowers the trace of C."""

    kept: ClassVar = ("squares",)

    def __init__(self, residual: Residual):
        self.residual = residual
        self.squares = squared_diagonal(residual.operator)
        self.rounding = uncertain(self.squares, residual.operator.digits)

    def scores(self) -> Array:
        """The gain of every column; zero for those already represented."""
        c = self.residual.diagonal
        A = namespace(c).maximum(
            self.squares - self.rounding, c * c
        )  # (C²)_jj ≥ C_jj², also when rounding says otherwise
        return over_diagonal(A, self.residual)

    def update(self, v: Array) -> None:
        """diag C² after C became C − v vᵀ; the residual already holds the new C."""
        self.take_in(v, self.residual.matmul(v[:, None])[:, 0])

    def take_in(self, v: Array, Cv: Array) -> None:
        """The update when Cv is at hand, with the new C: (C + v vᵀ)v = Cv + v‖v‖²."""
        self.squares = self.squares - 2 * v * Cv - v * v * namespace(v).sum(v * v)


class FrobeniusGains:
    """2(C³)_jj/C_jj − ((C²)_jj/C_jj)², by which picking j lowers ‖C‖²_F."""

    kept: ClassVar = ("squares", "cubes")

    def __init__(self, residual: Residual):
        self.residual = residual
        self.cubes, self.squares = (
            cubed_diagonal(residual.operator),
            squared_diagonal(residual.operator),
        )
        self.rounding = [
            uncertain(diagonal, residual.operator.digits) for diagonal in (self.cubes, self.squares)
        ]

    def scores(self) -> Array:
        """The gain of every column; zero for those already represented."""
        xp, c = namespace(self.squares), self.residual.diagonal
        a = over_diagonal(xp.maximum(self.squares - self.rounding[1], c * c), self.residual)
        b = xp.maximum(
            over_diagonal(self.cubes - self.rounding[0], self.residual), a * a
        )  # (C³)_jj C_jj ≥ (C²)_jj²
        return 2 * b - a * a

    def update(self, v: Array) -> None:
        """diag C² and diag C³ after C became C − v vᵀ; the residual already holds the new C."""
        xp = namespace(v)
        alpha = xp.sum(v * v)
        p = self.residual.matmul(v[:, None])[:, 0] + alpha * v  # Cv with the old C
        q = self.residual.matmul(p[:, None])[:, 0] + xp.sum(v * p) * v  # C²v
        self.squares = self.squares - 2 * v * p + alpha * v * v
        self.cubes = (
            self.cubes
            - 2 * v * q
            - p * p
            + 2 * alpha * v * p
            + (xp.sum(v * p) - alpha * alpha) * v * v
        )


GAINS: dict[str, Callable[[Residual], Gains]] = {"trace": TraceGains, "frobenius": FrobeniusGains}
