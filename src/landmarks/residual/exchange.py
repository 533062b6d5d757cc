"""The residual of a choice, kept through drops and additions.

With S chosen, H = K_SS⁻¹, W = H K_Sᵀ (k × n, one row per member) and C = K − K_S W. Both a drop and an addition change
C by ± v vᵀ, W by t vᵀ and H by ∓ t tᵀ, so one rank-one update serves both: a drop needs no product with K, an addition
one (two for the Frobenius criterion).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._array import (
    Array,
    Indices,
    add_outer,
    host,
    like,
    namespace,
    rank_tolerance,
    take,
    uncertain,
    zeros,
)
from ..operators.base import Operator, cubed_diagonal, squared_diagonal
from .factors import factorise

POWERS = {"trace": 1, "frobenius": 2}
LIFETIME = 20  # additions before a drift that is no disaster makes a state load afresh


class Diagonals:
    """diag K, diag K² and, for the Frobenius criterion, diag K³: read once, whatever sets are tried."""

    def __init__(self, operator: Operator, criterion: str):
        self.operator = operator
        self.powers = POWERS[criterion]
        xp = namespace(operator.like)
        cubes = [cubed_diagonal(operator)] if self.powers == 2 else []
        self.of_K = [xp.clip(operator.diagonal(), min=0.0), squared_diagonal(operator), *cubes]
        self.rounding = [uncertain(diagonal, operator.digits) for diagonal in self.of_K]
        self.largest = float(xp.max(self.of_K[0]))
        self.tolerance = rank_tolerance(operator.digits) * self.largest


class Exchange:
    """The state of one choice with `size` places, some of which may be free.

    members : the index at each place, −1 where it is free.
    rows : W, CW (and C²W), one row per place, zero where it is free.
    diagonals : diag C, diag C² (and diag C³).
    """

    kept: ClassVar = ("members", "H", "rows", "diagonals", "drift", "age")

    def __init__(self, base: Diagonals, size: int):
        self.base = base
        self.operator = base.operator
        self.members = np.full(size, -1, dtype=np.int64)
        self.H = np.zeros((size, size))
        self.rows = [
            zeros((size, self.operator.n), self.operator.like) for _ in range(base.powers + 1)
        ]
        self.diagonals = [diagonal + 0.0 for diagonal in base.of_K]
        self.drift, self.age = 0.0, 0

    @property
    def chosen(self) -> np.ndarray:
        """The members, in the order of their places."""
        return self.members[self.members >= 0]

    @property
    def vacant(self) -> np.ndarray:
        """The free places."""
        return np.flatnonzero(self.members < 0)

    @property
    def error(self) -> float:
        """tr C, or ‖C‖²_F = tr C²."""
        return float(namespace(self.diagonals[0]).sum(self.diagonals[self.base.powers - 1]))

    def recomputed_error(self) -> float:
        """The error of the members from scratch, free of what rank-one changes have accumulated."""
        if self.base.powers == 2:
            fresh = Exchange(self.base, len(self.members))
            fresh.load(self.chosen)
            return fresh.error
        F = factorise(self.operator, self.chosen, self.base.tolerance).F
        xp = namespace(F)
        return float(xp.sum(xp.clip(self.base.of_K[0] - _dots(F, F), min=0.0)))

    def copy(self) -> Exchange:
        """A state of its own with the same numbers."""
        other = object.__new__(Exchange)
        other.base, other.operator, other.drift, other.age = (
            self.base,
            self.operator,
            self.drift,
            self.age,
        )
        other.members, other.H = self.members.copy(), self.H.copy()
        other.rows = [row + 0.0 for row in self.rows]
        other.diagonals = [diagonal + 0.0 for diagonal in self.diagonals]
        return other

    def load(self, indices: Indices) -> None:
        """Start afresh from independent indices: one block product per power (k products each)."""
        fresh = factorise(self.operator, indices, self.base.tolerance)
        r = len(fresh.order)
        self.members[:] = -1
        self.members[:r] = fresh.order
        self.H[:] = 0.0
        self.H[:r, :r] = fresh.inverse
        self.drift, self.age = 0.0, 0
        self._load_rows(fresh.F, like(fresh.inverse_factor, self.operator.like), r)

    def _load_rows(self, F: Array, inverse_factor: Array, r: int) -> None:
        """Rows C^p W = C^p F L⁻¹ and the diagonals of the powers of C = K − F Fᵀ."""
        xp = namespace(F)
        G = F.T @ F
        D = self.operator.matmul(F) - F @ G
        blocks_of_F = [F, D]
        if self.base.powers == 2:
            blocks_of_F.append(self.operator.matmul(D) - F @ (F.T @ D))
        for rows, block in zip(self.rows, blocks_of_F, strict=True):
            rows[:r, :] = inverse_factor.T @ block.T
            rows[r:, :] = 0.0
        FG = F @ G
        self.diagonals[0] = xp.clip(self.base.of_K[0] - _dots(F, F), min=0.0)
        self.diagonals[1] = xp.clip(self.base.of_K[1] - _dots(F, 2 * D + FG), min=0.0)
        if self.base.powers == 2:
            inner = 2 * blocks_of_F[2] + 2 * (D @ G) + F @ (F.T @ D)
            self.diagonals[2] = xp.clip(
                self.base.of_K[2] - _dots(F, inner) - _dots(D, D) - _dots(FG, FG), min=0.0
            )

    def drop(self, place: int) -> int:
        """Take the member out of its place; returns it. No product with K."""
        j = int(self.members[place])
        t = -self.H[place] / np.sqrt(self.H[place, place])
        x = [rows[place, :] / float(np.sqrt(self.H[place, place])) for rows in self.rows]
        self._change(1.0, x, t)
        self.members[place] = -1
        self.H[place], self.H[:, place] = 0.0, 0.0
        for rows in self.rows:
            rows[place, :] = 0.0
        return j

    def add(self, j: int, place: int) -> None:
        """Put candidate j in a free place: one column of K and one product, two for the Frobenius criterion."""
        u = self.residual_column(j)
        s = max(float(u[j]), self.base.tolerance)
        self._watch(j, u, s)
        x = [u / s**0.5]
        for _ in range(self.base.powers):
            x.append(self.residual_product(x[-1]))
        t = -host(self.rows[0][:, j]).astype(np.float64) / s**0.5
        t[place] = 1 / s**0.5
        self._change(-1.0, x, t)
        self.members[place] = j
        for diagonal in self.diagonals:
            diagonal[j] = 0.0

    def residual_column(self, j: int) -> Array:
        """C_:j = K_:j − Wᵀ K_Sj."""
        column = self.operator.columns([j])[:, 0]
        return column - take(column, np.maximum(self.members, 0)) @ self.rows[0]

    def residual_product(self, x: Array) -> Array:
        """C x = K x − Wᵀ (K x)_S, as K_Sᵀ x are the rows S of K x."""
        Kx = self.operator.matmul(x[:, None])[:, 0]
        return Kx - take(Kx, np.maximum(self.members, 0)) @ self.rows[0]

    def _watch(self, j: int, u: Array, s: float) -> None:
        """How far C_jj and (C²)_jj have drifted from those of the column just computed."""
        square = max(float(namespace(u).sum(u * u)), s * s)
        drift = max(
            abs(float(self.diagonals[0][j]) / s - 1), abs(float(self.diagonals[1][j]) / square - 1)
        )
        self.drift = max(self.drift, drift)
        self.age += 1

    def stale(self, tolerance: float) -> bool:
        """Whether it is time to load afresh: not too soon, as single precision drifts on its first change."""
        return self.drift > (tolerance if self.age >= LIFETIME else 0.1)

    def _change(self, sign: float, x: list[Array], t: np.ndarray) -> None:
        """C becomes C + sign · v vᵀ and W becomes W + t vᵀ, with x = [v, Cv, (C²v)]."""
        xp = namespace(x[0])
        v, Cv = x[0], x[1]
        vv, vCv = float(xp.sum(v * v)), float(xp.sum(v * Cv))
        add_outer(self.H, -sign * t, t)
        self._change_diagonals(sign, x, vv, vCv)
        z = [v, Cv + (sign * vv) * v]  # the powers of the new C, times v
        if len(x) == 3:
            z.append(x[2] + (sign * vCv) * v + (sign * vv) * z[1])
        along = [sign * (rows @ v) for rows in self.rows[:-1]]
        t = like(t, v)
        for p, rows in enumerate(self.rows):
            add_outer(rows, t, z[p])
            for q in range(p):
                add_outer(rows, along[p - 1 - q], z[q])

    def _change_diagonals(self, sign: float, x: list[Array], vv: float, vCv: float) -> None:
        v2 = x[0] * x[0]
        cross = x[0] * x[1]
        changes = [sign * v2, 2 * sign * cross + vv * v2]
        if len(x) == 3:
            changes.append(
                sign * (2 * x[0] * x[2] + x[1] * x[1])
                + 2 * vv * cross
                + (vCv + sign * vv * vv) * v2
            )
        for diagonal, change in zip(self.diagonals, changes, strict=True):
            diagonal += change

    def additions(self, allowed: Array) -> Array:
        """How much each allowed candidate would lower the error; zero for those represented already."""
        xp = namespace(allowed)
        c = self.diagonals[0]
        useful = (c > self.base.tolerance) & (allowed > 0)
        safe = xp.where(useful, c, xp.ones_like(c))
        squares, *cubes = self.certain(safe)
        ratio = squares / safe
        gains = 2 * cubes[0] / safe - ratio * ratio if cubes else ratio
        return xp.where(useful, gains, xp.zeros_like(c))

    def certain(self, c: Array) -> list[Array]:
        """diag C² (and diag C³) less what may be rounding, and at least what diag C says: (C²)_jj ≥ c², (C³)_jj c ≥ (C²)_jj²."""
        xp = namespace(c)
        least = [
            diagonal - rounding
            for diagonal, rounding in zip(self.diagonals[1:], self.base.rounding[1:], strict=True)
        ]
        squares = xp.maximum(least[0], c * c)
        return (
            [squares] if len(least) == 1 else [squares, xp.maximum(least[1], squares * squares / c)]
        )


def _dots(left: Array, right: Array) -> Array:
    """The inner products of the rows."""
    return namespace(left).sum(left * right, axis=1)
