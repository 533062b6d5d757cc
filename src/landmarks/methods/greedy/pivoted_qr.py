"""Column-pivoted QR: each pick is the column with the largest residual, by pivoted Cholesky.

Businger and Golub, Numerische Mathematik 7 (1965). On a kernel matrix it is the max-diagonal
pivoted Cholesky of Fine and Scheinberg, Journal of Machine Learning Research 2 (2001): each pick is
the point farthest, in feature space, from the span of the earlier picks.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._array import Array, namespace
from ...problem import DRAWN, Choice, Problem
from ...residual.residual import Residual
from .greedy import Gains, pursue


@dataclass(frozen=True)
class PivotedQR:
    """Add, one at a time, the column represented worst so far; reads diag K and k columns of K.

    Examples
    --------
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2, method=lm.PivotedQR()).indices.tolist()
    [1, 2]
    """

    honours: ClassVar[frozenset[str]] = DRAWN

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = Residual(problem.unscaled.readable(problem.k), problem.k)
        return pursue(problem, residual, ResidualNorms(residual), "pivoted_qr")


class ResidualNorms(Gains):
    """C_jj, the squared residual of column j."""

    def __init__(self, residual: Residual):
        self.residual = residual

    def scores(self) -> Array:
        """The diagonal of C; zero for columns already represented."""
        c = self.residual.diagonal
        return namespace(c).where(self.residual.left, c, namespace(c).zeros_like(c))

    def update(self, v: Array) -> None:
        """Nothing: the residual keeps its diagonal."""
