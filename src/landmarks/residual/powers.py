"""diag C, diag CΩC and diag CΩCΩC of a residual C: their updates, rounding errors and gains.

Without weights Ω = I, and these are the diagonals of C, C² and C³.

The trace gain of a column is that of Farahat, Ghodsi and Kamel, AISTATS (2011) and ICDM (2013).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import Array, eps, first_argmax, host, namespace
from ..operators.pair import Pair
from ..runs.state import State

ROUNDING = 64  # rounding error of an entry after many subtractions, in units in the last place
MARGIN = 4  # standard deviations of an error within which an entry is assumed to lie
CLEAR = 1 + 1e-6  # a candidate is the best if no other can be better by more than this factor
TIED = 256  # units in the last place: gains that differ by less are tied
CHECKS = 8  # candidates that are recomputed at a pick before all of them are


def gain(pivots: Array, squares: Array | None = None, cubes: Array | None = None) -> Array:
    """By how much adding each column lowers the error.

    With the pivots s = diag C + ν, A = diag CΩC and B = diag CΩCΩC: log s in the log determinant,
    A/s in the trace, 2B/s − (A/s)² in the Frobenius error.
    """
    if squares is None:
        return namespace(pivots).log(pivots)
    ratio = squares / pivots
    return ratio if cubes is None else 2 * cubes / pivots - ratio * ratio


def rank_one(sign: float, x: list[Array], pair: Pair) -> list[Array]:
    """The changes of diag C, diag CΩC (and diag CΩCΩC) when C becomes C + sign · v vᵀ.

    x : [v], [v, CΩv] or [v, CΩv, CΩCΩv], with the C before the change.
    """
    v = x[0]
    v2 = v * v
    changes = [sign * v2]
    if len(x) == 1:
        return changes
    p = x[1]
    alpha = pair.dot(v, v)
    cross = v * p
    changes.append(2 * sign * cross + alpha * v2)
    if len(x) == 3:
        beta = pair.dot(v, p)
        cubes = sign * (2 * v * x[2] + p * p) + 2 * alpha * cross
        changes.append(cubes + (beta + sign * alpha * alpha) * v2)
    return changes


class Powers(State):
    """The diagonals of C, CΩC and CΩCΩC, as many as the objective needs, each with its rounding.

    Changes subtract, so an entry stays as uncertain as when it was last computed from C itself.

    floor : the entries of diag C at which a column counts as represented.
    """

    def __init__(self, diagonals: list[Array], floor: Array, unit: float, pair: Pair):
        self.floor = floor
        self.unit = unit
        self.pair = pair
        self.set(diagonals)

    def set(self, diagonals: list[Array], larger: list[Array] | None = None) -> None:
        """Set diagonals just computed: from C itself, or by subtracting from larger ones."""
        xp = namespace(diagonals[0])
        self.diagonals = diagonals
        self.errors = [ROUNDING * self.unit * xp.abs(d) for d in larger or diagonals]

    def change(self, sign: float, x: list[Array], off: float = 0.0) -> None:
        """C became C + sign · v vᵀ; x as for `rank_one`.

        off : the spread of what the entries of CΩv may be off by, where that is more than rounding.
            Errors of different products are independent, so their squares add up.
        """
        changes = rank_one(sign, x, self.pair)
        if off > 0:
            self.errors[1] = (self.errors[1] ** 2 + (MARGIN * off * 2 * x[0]) ** 2) ** 0.5
        self.diagonals = [d + change for d, change in zip(self.diagonals, changes, strict=True)]
        if sign > 0:  # what is put in now will be taken out again, and leave its rounding
            xp = namespace(self.floor)
            pairs = zip(self.diagonals, self.errors, strict=True)
            self.errors = [xp.maximum(e, ROUNDING * self.unit * xp.abs(d)) for d, e in pairs]

    def correct(self, j: int | Array, values: list[Any]) -> None:
        """Column j, or several, were computed from C itself: these are the entries."""
        for diagonal, error, value in zip(self.diagonals, self.errors, values, strict=True):
            diagonal[j] = value
            error[j] = ROUNDING * self.unit * abs(value)

    def entries(self, j: int, u: Array, product: Callable[[Array], Array]) -> list[float]:
        """The entries at j from u = C_:j, and the product CΩu where it is needed."""
        depth = len(self.diagonals) - 1
        images = [u, product(u)] if depth == 2 else [u][:depth]
        return [float(u[j]), *(float(self.pair.dot(u, image)) for image in images)]

    def clear(self, j: int) -> None:
        """Column j is chosen and is rebuilt: C has a zero row there."""
        self.correct(j, [0.0] * len(self.diagonals))

    @property
    def pivots(self) -> Array:
        """The squared lengths of what the candidates would add: diag C + ν."""
        return self.pair.pivots(self.diagonals[0])

    def gains(self, side: float = -1.0) -> Array:
        """What each column gains at least (side −1) or at most (+1); none for those represented.

        None is zero, or −∞ for a log determinant.
        """
        xp = namespace(self.floor)
        pivots = self.pivots
        left = pivots > self.floor
        safe = xp.where(left, pivots, xp.ones_like(pivots))
        c = safe if self.pair.noise is None else self.diagonals[0]
        nothing = xp.zeros_like(pivots) - (np.inf if len(self.diagonals) == 1 else 0.0)
        return xp.where(left, gain(safe, *self.bounded(c, side)), nothing)

    def doubt(self) -> float:
        """By how much rounding may have moved the gain of a column, at most."""
        xp = namespace(self.floor)
        if len(self.diagonals) == 1:
            return 0.0
        return float(xp.max(self.gains(1.0) - self.gains(-1.0)))

    def bounded(self, c: Array, side: float = -1.0) -> list[Array]:
        """diag CΩC (and diag CΩCΩC) where the gain is at its bound, and at least what c says.

        (CΩC)_jj ≥ ω_j c² and (CΩCΩC)_jj c ≥ (CΩC)_jj² hold for every residual. The gain in the
        Frobenius error falls with (CΩC)_jj.
        """
        xp = namespace(c)
        if len(self.diagonals) == 1:
            return []
        squares, own = self.diagonals[1], self.pair.weighed(c * c)
        if len(self.diagonals) == 2:
            return [xp.maximum(squares + side * self.errors[1], own)]
        positive = xp.where(c > 0, c, xp.ones_like(c))
        cubes = xp.maximum(self.diagonals[2] + side * self.errors[2], squares * squares / positive)
        return [xp.maximum(squares - side * self.errors[1], own), cubes]


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
    none = -np.inf if len(powers.diagonals) == 1 else 0.0
    for check in range(CHECKS + 2):
        least = _masked(powers.gains(), allowed, none)
        j = best_of_tied(least, powers.pivots)
        most = _masked(powers.gains(1.0), allowed, none)
        doubtful = first_argmax(most)
        sure = none < 0 or float(most[doubtful]) <= CLEAR * float(least[j])
        if sure or check == CHECKS + 1:
            break
        if check == CHECKS:
            refresh()
        else:
            powers.correct(doubtful, recompute(doubtful))
    return j if float(least[j]) > none else None


def _masked(gains: Array, allowed: Array, none: float) -> Array:
    """The gains of allowed candidates, none for others."""
    if none == 0.0:
        return gains * allowed
    xp = namespace(gains)
    return xp.where(allowed > 0, gains, xp.full_like(gains, none))


def best_of_tied(gains: Array, pivots: Array) -> int:
    """The column of the largest gain; of columns whose gains are tied, the longest one.

    A long column is right to more digits.
    """
    xp = namespace(gains)
    most = float(xp.max(gains))
    if most in (0.0, -np.inf):
        return first_argmax(gains)
    tied = gains >= most - TIED * eps(gains) * abs(most)
    return first_argmax(xp.where(tied, pivots, xp.zeros_like(pivots)))


def total(diagonal: Array) -> float:
    """The sum of a diagonal, in float64."""
    return float(host(diagonal).astype("float64", copy=False).sum())
