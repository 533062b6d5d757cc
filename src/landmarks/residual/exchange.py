"""The residual of a choice, kept through drops and additions.

With S chosen, H = K_SS⁻¹, W = H K_Sᵀ (k × n, one row per member) and C = K − K_S W. Both a drop and an
addition change C by ± v vᵀ, W by t vᵀ and H by ∓ t tᵀ, so one rank-one update serves both: a drop
needs no product with C, an addition one (two for the Frobenius criterion).
"""

from __future__ import annotations

import numpy as np

from .._array import Array, Indices, add_outer, eps, host, like, namespace, take, zeros
from ..operators.base import (
    Operator,
    block_width,
    blocks,
    cubed_diagonal,
    squared_diagonal,
)
from ..runs.state import State
from .explicit import Explicit, Factored
from .factors import factorise
from .pivoted_factor import check_semidefinite
from .powers import POWERS, Powers, best_addition, total
from .residual import floor

LIFETIME = 20  # additions before a drift that is no disaster makes a state load afresh
LOST = 1e-7  # relative rounding of a diagonal that makes a state load afresh
ENOUGH = 1e-4  # of tr K left: below it diag C² comes from C itself, not from diag K²


class Base:
    """What is the same for all choices: K, diag K and its powers, and what counts as rounding."""

    def __init__(self, operator: Operator, criterion: str, size: int):
        self.operator = operator
        self.powers = POWERS[criterion]
        xp = namespace(operator.like)
        self.factored = operator if isinstance(operator, Factored) else None
        if self.factored is not None:
            self.of_K = self.factored.powers(self.powers)
        else:
            cubes = [cubed_diagonal(operator)] if self.powers == 2 else []
            diagonal = xp.clip(operator.diagonal(), min=0.0)
            self.of_K = [diagonal, squared_diagonal(operator), *cubes]
        self.floor = floor(operator, size)
        self.unit = eps(operator.digits)
        self.total = total(self.of_K[self.powers - 1])
        self.largest = float(xp.max(self.of_K[0]))

    def rounding(self, error: float) -> float:
        """How far rounding may have moved an error of that size.

        The residual of columns is right to the rounding of their lengths, that of K to the rounding of K.
        """
        return error_rounding(self.operator, self.powers, error, self.total)


def error_rounding(operator: Operator, powers: int, error: float, whole: float) -> float:
    """How far rounding may have moved an error of that size.

    The residual of columns is right to the rounding of their lengths, that of K to the rounding of K.

    powers : 1 for the trace, 2 for the Frobenius criterion. whole : the error of choosing nothing.
    """
    if not isinstance(operator, Factored):
        return 2 * eps(operator.digits) * whole
    power = 1 if powers == 1 else 3
    part = max(error, 0.0) ** (1 - 1 / (2 * power)) * whole ** (1 / (2 * power))
    return 16 * eps(operator.digits) * part


class Exchange(State):
    """The state of one choice with `size` places, some of which may be free.

    members : the index at each place, −1 where it is free.
    rows : W, CW (and C²W), one row per place, zero where it is free.
    powers : diag C, diag C² (and diag C³), with how uncertain they are.
    """

    def __init__(self, base: Base, size: int):
        self.base = base
        self.operator = base.operator
        self.members = np.full(size, -1, dtype=np.int64)
        self.H = np.zeros((size, size))
        n = self.operator.n
        self.rows = [zeros((size, n), self.operator.like) for _ in range(base.powers + 1)]
        self.powers = Powers([d + 0.0 for d in base.of_K], base.floor, base.unit)
        self.source = None if base.factored is None else Explicit(base.factored, size)
        self.drift, self.age, self.swollen = 0.0, 0, 0.0

    @property
    def diagonals(self) -> list[Array]:
        """diag C, diag C² (and diag C³)."""
        return self.powers.diagonals

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
        return total(self.diagonals[self.base.powers - 1])

    def recomputed_error(self) -> float:
        """The error of the members from scratch, free of what rank-one changes have accumulated."""
        if self.base.powers == 1 and self.base.factored is None:
            F = factorise(self.operator, self.chosen, host(self.base.floor)[self.chosen]).F
            return total(namespace(F).clip(self.base.of_K[0] - _dots(F, F), min=0.0))
        fresh = Exchange(self.base, len(self.members))
        fresh.load(self.chosen)
        return fresh.error

    def copy(self) -> Exchange:
        """A state of its own with the same numbers."""
        other = object.__new__(Exchange)
        other.base, other.operator = self.base, self.operator
        other.drift, other.age, other.swollen = self.drift, self.age, self.swollen
        other.members, other.H = self.members.copy(), self.H.copy()
        other.rows = [row + 0.0 for row in self.rows]
        other.powers = Powers([d + 0.0 for d in self.diagonals], self.base.floor, self.base.unit)
        other.powers.errors = [error + 0.0 for error in self.powers.errors]
        other.source = None if self.source is None else self.source.copy()
        return other

    def load(self, indices: Indices) -> None:
        """Start afresh from the independent ones among the indices."""
        indices = np.asarray(indices, dtype=np.int64)
        self.members[:] = -1
        self.H[:] = 0.0
        self.drift, self.age, self.swollen = 0.0, 0, 0.0
        if len(indices) == 0:
            self._unload()
        elif self.source is not None:
            self._load_explicit(self.source, indices)
        else:
            self._load_from_K(indices)

    def reload(self) -> None:
        """Load the members afresh; each keeps its place."""
        places = np.flatnonzero(self.members >= 0)
        self.load(self.chosen)
        for i, place in reversed(list(enumerate(places[: len(self.chosen)]))):
            if place != i:
                self._move(i, int(place))

    def _move(self, i: int, place: int) -> None:
        """Move the member at place i to a free place."""
        self.members[place], self.members[i] = self.members[i], -1
        self.H[place] = self.H[i]
        self.H[:, place] = self.H[:, i]
        self.H[place, place] = self.H[i, i]
        self.H[i], self.H[:, i] = 0.0, 0.0
        for rows in self.rows:
            rows[place, :] = rows[i, :] + 0.0
            rows[i, :] = 0.0
        if self.source is not None:
            self.source.D[:, place] = self.source.D[:, i] + 0.0
            self.source.D[:, i] = 0.0

    def _unload(self) -> None:
        """Nothing is chosen: C is K."""
        self.powers.set([diagonal + 0.0 for diagonal in self.base.of_K])
        self._set_rows([rows[:0, :] for rows in self.rows], 0)
        if self.base.factored is not None:
            self.source = Explicit(self.base.factored, len(self.members))

    def _load_explicit(self, source: Explicit, indices: np.ndarray) -> None:
        floor = host(self.base.floor)
        order, W = source.load(indices, floor, len(self.members))
        r = self._seat(order)
        dual = host(source.D)[:, :r]
        self.H[:r, :r] = dual.T @ dual
        blocks_of_W = [W]
        for _ in range(self.base.powers):
            blocks_of_W.append((blocks_of_W[-1] @ source.R.T) @ source.R)
        self._set_rows(blocks_of_W, r)
        self.powers.set(source.diagonals(self.base.powers))

    def _load_from_K(self, indices: np.ndarray) -> None:
        fresh = factorise(self.operator, indices, host(self.base.floor)[indices])
        r = self._seat(fresh.order)
        self.H[:r, :r] = fresh.inverse
        F, turn = fresh.F, like(fresh.inverse_factor.T, self.operator.like)
        c = self.base.of_K[0] - _dots(F, F)
        check_semidefinite(host(c), host(self.base.of_K[0]))
        c = namespace(F).clip(c, min=0.0)
        cheap = "columns" in self.operator.cheap
        if cheap and total(c) < ENOUGH * total(self.base.of_K[0]):
            self._load_residual(F, turn, r)
        else:
            self._load_products(F, turn, c, r)

    def _seat(self, order: np.ndarray) -> int:
        self.members[: len(order)] = order
        return len(order)

    def _set_rows(self, found: list[Array], r: int) -> None:
        for rows, block in zip(self.rows, found, strict=True):
            rows[:r, :] = block
            rows[r:, :] = 0.0

    def _load_products(self, F: Array, turn: Array, c: Array, r: int) -> None:
        """C^p W = turn (C^p F)ᵀ and the diagonals from one block product per power."""
        xp = namespace(F)
        G = F.T @ F
        D = self.operator.matmul(F) - F @ G
        found = [F, D]
        if self.base.powers == 2:
            found.append(self.operator.matmul(D) - F @ (F.T @ D))
        self._set_rows([turn @ block.T for block in found], r)
        FG = F @ G
        diagonals = [c, self.base.of_K[1] - _dots(F, 2 * D + FG)]
        if self.base.powers == 2:
            inner = 2 * found[2] + 2 * (D @ G) + F @ (F.T @ D)
            cubes = self.base.of_K[2] - _dots(F, inner) - _dots(D, D) - _dots(FG, FG)
            diagonals.append(cubes)
        self.powers.set([xp.clip(diagonal, min=0.0) for diagonal in diagonals], self.base.of_K)

    def _load_residual(self, F: Array, turn: Array, r: int) -> None:
        """The same from the columns of C, in blocks: sums of squares, which lose no digits."""
        n, xp = self.operator.n, namespace(F)
        W = turn @ F.T
        found = [W, *(zeros((r, n), F) for _ in range(self.base.powers))]
        parts: list[list[Array]] = []
        for power in range(1, self.base.powers + 1):
            for block in blocks(n, block_width(self.operator)):
                C = self.operator.columns(block) - F @ take(F, block).T
                found[power][:, int(block[0]) : int(block[-1]) + 1] = found[power - 1] @ C
                if power == 1:
                    parts.append(self._diagonals_of(C, F, block))
        self._set_rows(found, r)
        self.powers.set([xp.concat(part) for part in zip(*parts, strict=True)])

    def _diagonals_of(self, C: Array, F: Array, block: np.ndarray) -> list[Array]:
        xp = namespace(C)
        c = xp.clip(xp.linalg.diagonal(take(C, block)), min=0.0)
        found = [c, xp.sum(C * C, axis=0)]
        if self.base.powers == 1:
            return found
        return [*found, xp.sum(C * (self.operator.matmul(C) - F @ (F.T @ C)), axis=0)]

    def drop(self, place: int) -> int:
        """Take the member out of its place; returns it. No product with C."""
        j = int(self.members[place])
        length = float(np.sqrt(self.H[place, place]))
        t = -self.H[place] / length
        x = [rows[place, :] / length for rows in self.rows]
        self._change(1.0, x, t)
        if self.source is not None:
            self.source.drop(place, x[0], t)
            self.diagonals[0] = self.source.lengths()
        self.swollen = max(self.swollen, total(self.diagonals[0]))
        self.members[place] = -1
        self.H[place], self.H[:, place] = 0.0, 0.0
        for rows in self.rows:
            rows[place, :] = 0.0
        return j

    def add(self, j: int, place: int) -> None:
        """Put candidate j in a free place: a column and a product, two for the Frobenius criterion."""
        u = self.residual_column(j)
        s = max(float(u[j]), float(self.base.floor[j]), np.finfo(float).tiny)
        self._watch(j, u, s)
        x = [u / s**0.5]
        for _ in range(self.base.powers):
            x.append(self.residual_product(x[-1]))
        t = -host(self.rows[0][:, j]).astype(np.float64) / s**0.5
        t[place] = 1 / s**0.5
        self._change(-1.0, x, t)
        if self.source is not None:
            places = np.flatnonzero(self.members >= 0)
            self.source.add(j, self.members[places], places, t)
            self.diagonals[0] = self.source.lengths()
        self.members[place] = j
        self.powers.clear(j)
        self._measure()

    def residual_column(self, j: int) -> Array:
        """C_:j; from K it is K_:j − Wᵀ K_Sj, with what that leaves at S taken out again."""
        if self.source is not None:
            return self.source.columns([j])[:, 0]
        return self._without_members(self.operator.columns([j])[:, 0])

    def residual_product(self, x: Array) -> Array:
        """C x; from K it is K x − Wᵀ (K x)_S, as K_Sᵀ x are the rows S of K x."""
        if self.source is not None:
            return self.source.matmul(x[:, None])[:, 0]
        return self._without_members(self.operator.matmul(x[:, None])[:, 0])

    def _without_members(self, u: Array) -> Array:
        """u − Wᵀu_S, twice: the second time removes what rounding in W left of u at S."""
        places = np.maximum(self.members, 0)
        for _ in range(2):
            u = u - take(u, places) @ self.rows[0]
        return u

    def recompute(self, j: int) -> list[float]:
        """C_jj, (C²)_jj (and (C³)_jj) from the column of C itself."""
        u = self.residual_column(j)
        xp = namespace(u)
        found = [float(u[j]), float(xp.sum(u * u))]
        if self.base.powers == 2:
            found.append(float(xp.sum(u * self.residual_product(u))))
        return found

    def best_addition(self, allowed: Array) -> int | None:
        """The allowed candidate that lowers the error most, None where none does."""
        return best_addition(self.powers, allowed, self.recompute, self.reload)

    def _watch(self, j: int, u: Array, s: float) -> None:
        """How far C_jj and (C²)_jj have drifted from those of the column just computed."""
        square = max(float(namespace(u).sum(u * u)), s * s)
        drifts = [self.diagonals[0][j] / s - 1, self.diagonals[1][j] / square - 1]
        self.drift = max(self.drift, *(abs(float(drift)) for drift in drifts))
        self.age += 1

    def _measure(self) -> None:
        """Whether what drops put into the diagonals, now taken out again, took their digits along."""
        left = max(total(self.diagonals[0]), 1e-50 * self.swollen, np.finfo(float).tiny)
        ratio = min(self.swollen / left, 1e50)
        lost = self.base.unit * ratio ** (self.base.powers + 1)
        if lost > LOST:
            self.drift = np.inf

    def stale(self, tolerance: float) -> bool:
        """Whether it is time to load afresh: not too soon, for a drift that is no disaster."""
        return self.drift > (tolerance if self.age >= LIFETIME else 0.1)

    def _change(self, sign: float, x: list[Array], t: np.ndarray) -> None:
        """C becomes C + sign · v vᵀ and W becomes W + t vᵀ, with x = [v, Cv, (C²v)]."""
        xp = namespace(x[0])
        v, Cv = x[0], x[1]
        vv, vCv = float(xp.sum(v * v)), float(xp.sum(v * Cv))
        add_outer(self.H, -sign * t, t)
        self.powers.change(sign, x)
        z = [v, Cv + (sign * vv) * v]  # the powers of the new C, times v
        if len(x) == 3:
            z.append(x[2] + (sign * vCv) * v + (sign * vv) * z[1])
        along = [sign * (rows @ v) for rows in self.rows[:-1]]
        t = like(t, v)
        for p, rows in enumerate(self.rows):
            add_outer(rows, t, z[p])
            for q in range(p):
                add_outer(rows, along[p - 1 - q], z[q])


def _dots(left: Array, right: Array) -> Array:
    """The inner products of the rows."""
    return namespace(left).sum(left * right, axis=1)
