"""What all choices of a search share: K, the diagonals of its powers, and its rounding."""

from __future__ import annotations

from typing import Any

from numpy import finfo, float32

from .._array import eps, namespace
from ..operators.base import Operator, squared_diagonal
from ..operators.cubes import cubed_diagonal, in_pairs
from ..operators.forms import Factored
from .powers import POWERS, total
from .residual import floor
from .stored_powers import stored_powers

CUBES = 1500  # columns up to which diag C³ may be computed from C


class Base:
    """What is the same for all choices: K, diag K and its powers, and what counts as rounding.

    size : how many are chosen. moves : about how many drops and additions will follow.
    """

    def __init__(self, operator: Operator, criterion: str, size: int, moves: int = 0):
        self.operator = operator
        self.released: list[Any] = []  # states whose memory can be used again
        self.powers = POWERS[criterion]
        self.stored_powers = stored_powers(operator, self.powers, moves)
        xp = namespace(operator.like)
        self.factored = operator if isinstance(operator, Factored) else None
        if self.factored is not None:
            self.of_K = self.factored.powers(self.powers)
        else:
            cubes = [cubed_diagonal(operator)] if self.powers == 2 else []  # K² comes with it
            diagonal = xp.clip(operator.diagonal(), min=0.0)
            self.of_K = [diagonal, squared_diagonal(operator), *cubes]
        self.floor = floor(operator, size)
        smallest = float(finfo(float32).tiny) * float(xp.max(self.of_K[0]))
        self.divisor = xp.clip(self.floor, min=smallest)  # diag C at least, where it divides
        self.unit = eps(operator.digits)
        self.totals = [total(diagonal) for diagonal in self.of_K]
        self.total = self.totals[self.powers - 1]
        self.largest = float(xp.max(self.of_K[0]))

    @property
    def can_sharpen(self) -> bool:
        """Whether diagonals may be computed from C itself: diag C³ costs n³ operations."""
        return "columns" in self.operator.cheap and (self.powers == 1 or self.operator.n <= CUBES)

    @property
    def slow_loads(self) -> bool:
        """Whether a load may take n³ operations where the error alone takes n² k, on a card."""
        return self.powers == 2 and self.factored is None and in_pairs(self.operator)

    def rounding(self, error: float) -> float:
        """How far rounding may have moved an error of that size."""
        return error_rounding(self.operator, self.powers, error, self.total)


def error_rounding(operator: Operator, powers: int, error: float, whole: float) -> float:
    """How far rounding may have moved an error of that size.

    An entry of C is right to the rounding of K, the residual of a column to the rounding of its
    length.

    powers : 1 for the trace, 2 for the Frobenius criterion. whole : the error of choosing nothing.
    """
    error = max(error, 0.0)
    if not isinstance(operator, Factored):
        return 2 * eps(operator.digits) * error ** (1 - 1 / powers) * whole ** (1 / powers)
    power = 1 if powers == 1 else 3
    part = error ** (1 - 1 / (2 * power)) * whole ** (1 / (2 * power))
    return 16 * eps(operator.digits) * part
