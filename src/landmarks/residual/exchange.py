"""The residual of a choice, kept through drops and additions.

With S chosen, H = (K_SS + N)⁻¹, W = H K_Sᵀ (k × n, one row per member) and C = K − K_S W. Both a
drop and an addition change C by ± b bᵀ, W by t bᵀ and H by ∓ t tᵀ. A drop needs no product with C,
an addition one (two for the Frobenius error, none for the log determinant).
"""

from __future__ import annotations

from copy import copy

import numpy as np

from .._array import (
    Array,
    Indices,
    add_outer,
    host,
    like,
    namespace,
    take,
    zeros,
)
from ..runs.state import State
from .base import Base
from .explicit import Explicit
from .loading import error_of, load_from_K
from .powers import Powers, best_addition, total
from .stored_powers import LEFT

LIFETIME = 20  # additions before a moderate drift makes a state load again
DISASTER = 1e-3  # relative drift of a diagonal that makes a state load again at once
LOST = 1e-7  # relative rounding error of a diagonal that makes a state load again
CLEAN = 1e-10  # relative to a column: what rounding may leave of it at the members


class Exchange(State):
    """The state of one choice with `size` places, some of which may be free.

    members : the index at each place, −1 where it is free.
    rows : W, CΩW (and CΩCΩW), one row for each place, zero where it is free.
    powers : diag C, diag CΩC (and diag CΩCΩC), with how uncertain they are.
    volume : log det (K_SS + N).
    """

    def __init__(self, base: Base, size: int):
        self.base = base
        self.operator = operator = base.operator
        self.members = np.full(size, -1, dtype=np.int64)
        self.H = np.zeros((size, size))
        self.rows = [zeros((size, operator.n), operator.like) for _ in range(base.depth + 1)]
        self.last_column: tuple[int, Array] = (-1, None)  # the last column of C that was computed
        self.powers = Powers([d + 0.0 for d in base.of_K], base.floor, base.unit, base.pair)
        self.source = None if base.factored is None else Explicit(base.factored, size, base.pair)
        self.drift, self.age, self.swollen, self.volume = 0.0, 0, 0.0, 0.0
        self.exact = False  # whether loads compute the diagonals from C itself

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

    def staying(self, included: Indices) -> np.ndarray:
        """Whether each place holds what must be included; of a repeated one the first does."""
        found = np.zeros(len(self.members), dtype=bool)
        for j in included:
            found[np.flatnonzero(self.members == j)[:1]] = True
        return found

    @property
    def error(self) -> float:
        """tr ΩC, tr ΩCΩC or −log det (K_SS + N), which is infinite where a place is free."""
        return self.error_of(self.base.depth)

    def error_of(self, depth: int) -> float:
        """The same for another objective whose numbers the state has."""
        if depth == 0:
            return np.inf if len(self.vacant) else -self.volume
        return self.base.pair.total(self.diagonals[depth - 1])

    @property
    def done(self) -> bool:
        """Whether only rounding is left of the error."""
        return self.base.depth > 0 and self.error <= self.base.rounding(self.error)

    def recomputed_error(self) -> float:
        """The error of the members from scratch, free of what rank-one changes have accumulated."""
        if self.base.factored is None:
            return error_of(self.base, self.chosen)
        fresh = Exchange(self.base, len(self.members))
        fresh.load(self.chosen)
        return fresh.error

    def copy(self) -> Exchange:
        """A state with the same numbers."""
        other = copy(self)
        other.members, other.H = self.members.copy(), self.H.copy()
        other.rows = [block + 0.0 for block in self.rows]
        other.powers = copy(self.powers)
        other.powers.diagonals = [d + 0.0 for d in self.diagonals]
        other.powers.errors = [error + 0.0 for error in self.powers.errors]
        if self.source is not None:
            other.source = copy(self.source)
            other.source.R, other.source.D = self.source.R + 0.0, self.source.D + 0.0
        return other

    def load(self, indices: Indices) -> None:
        """Recompute the state for the independent ones among the indices."""
        indices, base = np.asarray(indices, dtype=np.int64), self.base
        self.members[:] = -1
        self.H[:] = 0.0
        self.drift, self.age, self.swollen, self.volume = 0.0, 0, 0.0, 0.0
        if len(indices) == 0:  # C is K
            self.powers.set([diagonal + 0.0 for diagonal in base.of_K])
            self._set_rows([block[:0, :] for block in self.rows])
            if base.factored is not None:
                self.source = Explicit(base.factored, len(self.members), base.pair)
            return
        if self.source is None:
            fresh = load_from_K(base, indices, self.exact)
            order, inverse, rows = fresh.members, fresh.inverse, fresh.rows
            self.volume = fresh.volume
            self.powers.set(fresh.diagonals, fresh.larger)
        else:
            order, W = self.source.load(indices, host(base.floor), len(self.members))
            dual = host(self.source.D)[:, : len(order)]
            inverse, rows, R = dual.T @ dual, [W], self.source.R
            if base.depth == 0:  # of the dual vectors: their inner products have squared condition
                lengths = np.linalg.norm(dual, axis=0)  # taken out, so that no pivot underflows
                pivots = np.abs(np.diag(np.linalg.qr(dual / lengths, mode="r")))
                with np.errstate(divide="ignore"):  # a pivot of 0: the volume is infinite
                    self.volume = -2 * float(np.sum(np.log(lengths)) + np.sum(np.log(pivots)))
            for _ in range(base.depth):
                rows.append((base.pair.weighed(rows[-1].T).T @ R.T) @ R)
            self.powers.set(self.source.diagonals(base.depth))
        r = len(order)
        self.members[:r] = order
        self.H[:r, :r] = inverse
        self._set_rows(rows)

    def _set_rows(self, found: list[Array]) -> None:
        """The rows of the first places; the others become zero."""
        for block, rows in zip(self.rows, found, strict=True):
            block[: rows.shape[0], :] = rows
            block[rows.shape[0] :, :] = 0.0
        self.last_column = (-1, None)

    def sharpen(self) -> bool:
        """Compute the diagonals from C itself, from now on; False if that does not help."""
        if self.exact or self.source is not None or not self.base.can_sharpen:
            return False
        self.exact = True
        self.load(self.chosen)
        return True

    def reload(self) -> None:
        """Recompute the state of the members; each keeps its place."""
        places, size = np.flatnonzero(self.members >= 0), len(self.members)
        self.load(self.chosen)
        places = places[: len(self.chosen)]
        come_from = np.empty(size, dtype=np.int64)
        come_from[places] = np.arange(len(places))
        come_from[np.setdiff1d(np.arange(size), places)] = np.arange(len(places), size)
        self.members = self.members[come_from]
        self.H = self.H[np.ix_(come_from, come_from)]
        self.rows = [take(block, come_from) for block in self.rows]
        if self.source is not None:
            self.source.move(come_from)

    def drop(self, place: int) -> int:
        """Take the member out of its place; returns it. No product with C."""
        j = int(self.members[place])
        if not self.H[place, place] > 0:  # its digits are gone
            self.reload()
            if self.members[place] != j:
                return j
        length = float(np.sqrt(max(self.H[place, place], np.finfo(float).tiny)))
        x = [row[place, :] / length for row in self.rows]
        t = -self.H[place] / length
        self.volume += 2 * float(np.log(length))
        for row in self.rows:
            row[place, :] = 0.0
        self._change(1.0, x, t, place)
        if self.source is not None:
            self.source.drop(place, x[0], t)
        self.swollen = max(self.swollen, total(self.diagonals[0]))
        self.members[place] = -1
        self.H[place] = 0.0
        self.H[:, place] = 0.0
        return j

    def add(self, j: int, place: int) -> None:
        """Put candidate j in a free place: a column and a product, or two (Frobenius criterion)."""
        u = self.residual_column(j)
        noise = self.base.pair.noise
        pivot = float(u[j]) if noise is None else float(u[j]) + float(noise[j])
        s = max(pivot, float(self.base.floor[j]), np.finfo(float).tiny)
        self._watch(j, u)
        self.volume += float(np.log(s))
        x = [u / s**0.5]
        for power in range(1, self.base.depth + 1):
            x.append(self._image(power, j, x[-1], s))
        t = -host(self.rows[0][:, j]) / s**0.5
        t[place] = 1 / s**0.5
        self._change(-1.0, x, t)
        if self.source is not None:
            places = np.flatnonzero(self.members >= 0)
            self.source.add(j, place, self.members[places], places, t)
            self.diagonals[0] = self.source.lengths()
        self.members[place] = j
        if noise is None or noise[j] == 0:
            self.powers.clear(j)
        self._measure()

    def residual_column(self, j: int) -> Array:
        """C_:j."""
        if self.source is not None:
            return self.source.columns([j])[:, 0]
        if self.last_column[0] != j:
            self.last_column = (j, self.without_members(self.operator.columns([j])[:, 0]))
        return self.last_column[1]

    def residual_product(self, x: Array) -> Array:
        """CΩx."""
        x = self.base.pair.weighed(x)
        if self.source is not None:
            return self.source.matmul(x[:, None])[:, 0]
        return self.without_members(self.operator.matmul(x[:, None])[:, 0])

    def without_members(self, u: Array) -> Array:
        """u − Wᵀu_S; without noise again where rounding in W left something of u at S."""
        places = np.maximum(self.members, 0)
        if self.base.pair.noise is not None:
            return u - take(u, places) @ self.rows[0]
        largest = 0.0
        for _ in range(2):
            at_members = take(u, places)
            size = float(namespace(u).max(namespace(u).abs(at_members)))
            if size <= CLEAN * largest:
                break
            largest = max(largest, size)
            u = u - at_members @ self.rows[0]
        return u

    def _image(self, power: int, j: int, x: Array, s: float) -> Array:
        """(CΩ)^power times the column of C at j over √s; x is the same for one power less."""
        pair = self.base.pair
        if power > self.base.highest:
            return self.residual_product(x)
        if pair.total(self.diagonals[power]) < LEFT[power] * self.base.totals[power]:
            return self.residual_product(x)
        matrices, places = pair.powers(power + 1), np.maximum(self.members, 0)
        self.operator.ledger.add(entries=self.operator.n * power)
        image = matrices[power][j, :]
        for p in range(power + 1):
            image = image - take(matrices[power - p][j, :], places) @ self.rows[p]
        return image / s**0.5

    def recompute(self, j: int) -> list[float]:
        """The entries of the diagonals at j from the column of C itself."""
        return self.powers.entries(j, self.residual_column(j), self.residual_product)

    def best_addition(self, allowed: Array) -> int | None:
        """The allowed candidate that lowers the error most, None where none does."""
        return best_addition(self.powers, allowed, self.recompute, self.reload)

    def _watch(self, j: int, u: Array) -> None:
        """How far C_jj and (CΩC)_jj have drifted from those of the column just computed."""
        pair, known = self.base.pair, self.diagonals
        c = max(float(u[j]), float(self.base.floor[j]), np.finfo(float).tiny)
        drifts = [known[0][j] / c - 1]
        if self.base.depth and pair.weights is None:
            drifts.append(known[1][j] / max(float(pair.dot(u, u)), c * c) - 1)
        elif self.base.depth:  # little of a target may be along a candidate
            square = max(float(pair.dot(u, u)), np.finfo(float).tiny)
            beyond = abs(float(known[1][j]) - square) - float(self.powers.errors[1][j])
            drifts.append(max(0.0, beyond) / square)
        self.drift = max(self.drift, *(abs(float(drift)) for drift in drifts))
        self.age += 1

    def _measure(self) -> None:
        """Whether what drops put into the diagonals took digits along when it was taken out."""
        left = max(total(self.diagonals[0]), 1e-50 * self.swollen, np.finfo(float).tiny)
        ratio = min(self.swollen / left, 1e50)
        lost = self.base.unit * ratio ** (self.base.depth + 1)
        if lost > LOST:
            self.drift = np.inf

    def stale(self, tolerance: float) -> bool:
        """Whether to recompute the state; a moderate drift is tolerated for a while."""
        return self.drift > (tolerance if self.age >= LIFETIME else DISASTER)

    def _change(self, sign: float, x: list[Array], t: np.ndarray, dropped: int = -1) -> None:
        """C becomes C + sign · b bᵀ and W becomes W + t bᵀ, with x = [b, CΩb, (CΩCΩb)].

        dropped : a place whose rows stay zero.
        """
        add_outer(self.H, -sign * t, t)
        self.powers.change(sign, x)
        factors = [like(np.where(np.arange(len(t)) == dropped, 0.0, t), self.operator.like)]
        weighed = self.base.pair.weighed(x[0])
        for p, block in enumerate(self.rows):
            for factor, image in zip(factors, reversed(x[: p + 1]), strict=True):
                add_outer(block, factor, image)
            if p + 1 < len(self.rows):
                factors.append((block @ weighed) * sign)
        j, u = self.last_column
        if j >= 0:
            self.last_column = (j, u + (sign * x[0][j]) * x[0])
