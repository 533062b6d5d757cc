"""What all choices of a search share: K and its weights, the diagonals at the start, rounding."""

from __future__ import annotations

import numpy as np
from numpy import finfo, float32

from .._array import eps, namespace
from ..operators.base import Operator
from ..operators.forms import Factored
from ..operators.pair import Pair
from .residual import floor
from .stored_powers import highest_power

CUBES = 1500  # columns up to which diag C³ may be computed from C


class Base:
    """What is the same for all choices: K, diag K, diag KΩK (…), and what counts as rounding.

    depth : 0 for the log determinant, 1 for the trace, 2 for the Frobenius error: how many
        products with C its gains need. size : how many are chosen. moves : about how many drops and
        additions will follow; None where there is no time to form powers of K for them.
    highest : how many powers of K beyond K itself are formed.
    """

    def __init__(self, pair: Pair, depth: int, size: int, moves: int | None = 0):
        self.pair = pair
        self.operator = operator = pair.operator
        self.depth = depth
        self.highest = highest_power(pair, depth, moves)
        xp = namespace(operator.like)
        self.factored = operator if isinstance(operator, Factored) else None
        self.of_K = pair.diagonals(depth)
        self.floor = floor(operator, size)
        smallest = float(finfo(float32).tiny) * float(xp.max(self.of_K[0]))
        self.divisor = xp.clip(self.floor, min=smallest)  # the pivots at least, where they divide
        self.unit = eps(operator.digits)
        self.totals = [pair.total(diagonal) for diagonal in self.of_K]
        self.total = self.totals[max(depth, 1) - 1]
        self.largest = float(xp.max(pair.pivots(self.of_K[0])))
        self.heaviest = 1.0 if pair.weights is None else float(np.max(pair.weights))

    @property
    def can_sharpen(self) -> bool:
        """Whether diagonals may be computed from C itself: diag C³ costs n³ operations."""
        if self.depth == 0:
            return False
        return "columns" in self.operator.cheap and (self.depth == 1 or self.operator.n <= CUBES)

    def rounding(self, error: float) -> float:
        """How far rounding may have moved an error of that size."""
        return error_rounding(self.operator, self.depth, error, self.total)


def error_rounding(operator: Operator, depth: int, error: float, whole: float) -> float:
    """How far rounding may have moved an error of that size.

    An entry of C is right to the rounding of K, the residual of a column to the rounding of its
    length.

    depth : as in `Base`. whole : the error of choosing nothing.
    """
    if depth == 0:
        return 64 * eps(operator.digits) * operator.n
    error = max(error, 0.0)
    if not isinstance(operator, Factored):
        return 2 * eps(operator.digits) * error ** (1 - 1 / depth) * whole ** (1 / depth)
    power = 1 if depth == 1 else 3
    part = error ** (1 - 1 / (2 * power)) * whole ** (1 / (2 * power))
    return 16 * eps(operator.digits) * part
