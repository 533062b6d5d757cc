"""diag C, diag C² and diag C³ of a residual C: their updates, rounding errors and gains.

The trace gain of a column is that of Farahat, Ghodsi and Kamel, AISTATS (2011) and ICDM (2013).
"""

from __future__ import annotations

from collections.abc import Callable

from .._array import Array, first_argmax, host, namespace
from ..runs.state import State

POWERS = {"trace": 1, "frobenius": 2}  # of C whose rows and products a criterion needs
ROUNDING = 64  # rounding error of an entry after many subtractions, in units in the last place
MARGIN = 4  # standard deviations of an error within which an entry is assumed to lie
CLEAR = 1 + 1e-6  # a candidate is the best if no other can be better by more than this factor
CHECKS = 8  # candidates that are recomputed at a pick before all of them are


def gain(c: Array, squares: Array, cubes: Array | None = None) -> Array:
    """By how much adding each column lowers the error.

    With A = diag C² and B = diag C³: A/c in the trace, 2B/c − (A/c)² in ‖C‖²_F.
    """
    ratio = squares / c
    return ratio if cubes is None else 2 * cubes / c - ratio * ratio


def rank_one(sign: float, x: list[Array]) -> list[Array]:
    """The changes of diag C, diag C² (and diag C³) when C becomes C + sign · v vᵀ.

    x : [v, Cv] or [v, Cv, C²v], with the C before the change.
    """
    xp = namespace(x[0])
    v, p = x[0], x[1]
    alpha = xp.sum(v * v)
    v2 = v * v
    cross = v * p
    changes = [sign * v2, 2 * sign * cross + alpha * v2]
    if len(x) == 3:
        beta = xp.sum(v * p)
        cubes = sign * (2 * v * x[2] + p * p) + 2 * alpha * cross
        changes.append(cubes + (beta + sign * alpha * alpha) * v2)
    return changes


class Powers(State):
    """The diagonals of the powers of a residual, each with a bound on its rounding.

    Changes subtract, so an entry stays as uncertain as when it was last computed from C itself.

    floor : the entries of diag C at which a column counts as represented.
    """

    def __init__(self, diagonals: list[Array], floor: Array, unit: float):
        self.floor = floor
        self.unit = unit
        self.set(diagonals)

    def set(self, diagonals: list[Array], larger: list[Array] | None = None) -> None:
        """Set diagonals just computed: from C itself, or by subtracting from larger ones."""
        xp = namespace(diagonals[0])
        self.diagonals = diagonals
        self.errors = [ROUNDING * self.unit * xp.abs(d) for d in larger or diagonals]

    def change(self, sign: float, x: list[Array], off: float = 0.0) -> None:
        """C became C + sign · v vᵀ; x as for `rank_one`.

        off : the spread of what the entries of Cv may be off by, where that is more than rounding.
            Errors of different products are independent, so their squares add up.
        """
        changes = rank_one(sign, x)
        if off > 0:
            self.errors[1] = (self.errors[1] ** 2 + (MARGIN * off * 2 * x[0]) ** 2) ** 0.5
        self.diagonals = [d + change for d, change in zip(self.diagonals, changes, strict=True)]
        if sign > 0:  # what is put in now will be taken out again, and leave its rounding
            xp = namespace(self.floor)
            pairs = zip(self.diagonals, self.errors, strict=True)
            self.errors = [xp.maximum(e, ROUNDING * self.unit * xp.abs(d)) for d, e in pairs]

    def correct_all(self, indices: Array, values: list[Array]) -> None:
        """Some columns were computed from C itself: these are their entries."""
        for i, value in enumerate(values):
            self.diagonals[i][indices] = value
            self.errors[i][indices] = ROUNDING * self.unit * namespace(value).abs(value)

    def correct(self, j: int, values: list[float]) -> None:
        """Column j was computed from C itself: these are its entries."""
        for diagonal, error, value in zip(self.diagonals, self.errors, values, strict=True):
            diagonal[j] = value
            error[j] = ROUNDING * self.unit * abs(value)

    def clear(self, j: int) -> None:
        """Column j is chosen: C has a zero row there."""
        self.correct(j, [0.0] * len(self.diagonals))

    def gains(self, side: float = -1.0) -> Array:
        """What each column gains at least (side −1) or at most (+1); zero for those represented."""
        xp = namespace(self.floor)
        c = self.diagonals[0]
        left = c > self.floor
        safe = xp.where(left, c, xp.ones_like(c))
        return xp.where(left, gain(safe, *self.bounded(safe, side)), xp.zeros_like(c))

    def doubt(self) -> float:
        """By how much rounding may have moved the gain of a column, at most."""
        xp = namespace(self.floor)
        return float(xp.max(self.gains(1.0) - self.gains(-1.0)))

    def bounded(self, c: Array, side: float = -1.0) -> list[Array]:
        """diag C² (and diag C³) where the gain is at its bound, and at least what c says.

        (C²)_jj ≥ c² and (C³)_jj c ≥ (C²)_jj² hold for every residual. The gain in ‖C‖²_F falls
        with (C²)_jj.
        """
        xp = namespace(c)
        squares = self.diagonals[1]
        if len(self.diagonals) == 2:
            return [xp.maximum(squares + side * self.errors[1], c * c)]
        cubes = xp.maximum(self.diagonals[2] + side * self.errors[2], squares * squares / c)
        return [xp.maximum(squares - side * self.errors[1], c * c), cubes]


def best_addition(
    powers: Powers,
    allowed: Array,
    recompute: Callable[[int], list[float]],
    refresh: Callable[[], None],
) -> int | None:
    """The allowed column of the largest gain, None where none gains.

    While rounding may hide a better one, the most promising column is computed from C itself;
    after a few such checks, all are.
    """
    for check in range(CHECKS + 2):
        least = powers.gains() * allowed
        j = first_argmax(least)
        most = powers.gains(1.0) * allowed
        doubtful = first_argmax(most)
        sure = float(most[doubtful]) <= CLEAR * float(least[j])
        if sure or check == CHECKS + 1:
            break
        if check == CHECKS:
            refresh()
        else:
            powers.correct(doubtful, recompute(doubtful))
    return j if float(least[j]) > 0 else None


def total(diagonal: Array) -> float:
    """The sum of a diagonal, in float64."""
    return float(host(diagonal).astype("float64", copy=False).sum())
