"""The residual of a choice, kept through drops and additions.

With S chosen, H = (K_SS + N)⁻¹, W = H K_Sᵀ (k × n, one row per member) and C = K − K_S W. Both a
drop and an addition change C by ± b bᵀ, W by t bᵀ and H by ∓ t tᵀ. A drop needs no product with C,
an addition one (two for the Frobenius error, none for the log determinant).
"""

from __future__ import annotations

import numpy as np

from .._array import Array, Indices, add_outer, host
from ..runs.state import State
from .base import Base
from .explicit import Explicit
from .loading import error_of, from_products, load_from_K
from .powers import Powers, best_addition, total
from .rows import Rows
from .stored_powers import LEFT

LIFETIME = 20  # additions before a moderate drift makes a state load again
DISASTER = 1e-3  # relative drift of a diagonal that makes a state load again at once
LOST = 1e-7  # relative rounding error of a diagonal that makes a state load again


class Exchange(State):
    """The state of one choice with `size` places, some of which may be free.

    members : the index at each place, −1 where it is free.
    W : the rows W, CΩW (and CΩCΩW), with the changes that wait.
    powers : diag C, diag CΩC (and diag CΩCΩC), with how uncertain they are.
    volume : log det (K_SS + N).
    """

    def __init__(self, base: Base, size: int):
        self.base = base
        self.operator = base.operator
        self.members = np.full(size, -1, dtype=np.int64)
        self.H = np.zeros((size, size))
        self.W = Rows(size, base.depth, base.pair)
        self.powers = Powers([d + 0.0 for d in base.of_K], base.floor, base.unit, base.pair)
        self.source = None if base.factored is None else Explicit(base.factored, size, base.pair)
        self.drift, self.age, self.swollen, self.volume = 0.0, 0, 0.0, 0.0
        self.exact = False  # whether loads compute the diagonals from C itself

    @property
    def rows(self) -> list[Array]:
        """W, CW (and C²W) of the members; changes that wait are put in first."""
        self.settle()
        return self.W.blocks

    def settle(self) -> None:
        """Put the changes that wait into the rows; after it, a copy changes nothing in place."""
        self.W.settle(self.members)

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
        """A state with the same numbers, in the memory of one that was released if there is any."""
        spare = self.base.released
        other = spare.pop() if spare else Exchange(self.base, len(self.members))
        other.drift, other.age, other.swollen = self.drift, self.age, self.swollen
        other.volume = self.volume
        other.exact = self.exact
        other.members[:] = self.members
        other.H[:] = self.H
        self.settle()
        self.W.copy_to(other.W)
        other.powers.diagonals = [d + 0.0 for d in self.diagonals]
        other.powers.errors = [error + 0.0 for error in self.powers.errors]
        if self.source is not None and other.source is not None:
            self.source.copy_to(other.source)
        return other

    def release(self) -> None:
        """Leave the memory to the next copy; nobody may use this state after it."""
        self.base.released.append(self)

    def load(self, indices: Indices, quick: bool = False) -> None:
        """Recompute the state for the independent ones among the indices; quick: fewer digits."""
        indices = np.asarray(indices, dtype=np.int64)
        self.members[:] = -1
        self.H[:] = 0.0
        self.drift, self.age, self.swollen, self.volume = 0.0, 0, 0.0, 0.0
        if len(indices) == 0:
            self._unload()
        elif self.source is not None:
            self._load_explicit(self.source, indices, quick)
        else:
            self._load_from_K(indices, quick)

    def sharpen(self) -> bool:
        """Compute the diagonals from C itself, from now on; False if that does not help."""
        if self.exact or self.source is not None or not self.base.can_sharpen:
            return False
        self.exact = True
        self.load(self.chosen)
        return True

    def reload(self) -> None:
        """Recompute the state of the members; each keeps its place."""
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
        self.W.move(i, place)
        if self.source is not None:
            self.source.D[:, place] = self.source.D[:, i] + 0.0
            self.source.D[:, i] = 0.0

    def _unload(self) -> None:
        """Nothing is chosen: C is K."""
        self.powers.set([diagonal + 0.0 for diagonal in self.base.of_K])
        self.W.set([block[:0, :] for block in self.W.blocks], self.members)
        if self.base.factored is not None:
            self.source = Explicit(self.base.factored, len(self.members), self.base.pair)

    def _load_explicit(self, source: Explicit, indices: np.ndarray, quick: bool) -> None:
        order, W, F = source.load(indices, host(self.base.floor), len(self.members))
        r = len(order)
        self.members[:r] = order
        dual = host(source.D)[:, :r]
        self.H[:r, :r] = dual.T @ dual  # of the squared condition, so the volume is that of dual
        self.volume = -2 * float(np.sum(np.log(np.abs(np.diag(np.linalg.qr(dual, mode="r"))))))
        rows = [W]
        omega = self.base.pair.omega
        for _ in range(self.base.depth):
            last = rows[-1] if omega is None else rows[-1] * omega[None, :]
            rows.append((last @ source.R.T) @ source.R)
        self.W.set(rows, self.members)
        if quick and (found := from_products(self.base, F, source.lengths())):
            self.powers.set(found, self.base.of_K)
        else:
            self.powers.set(source.diagonals(self.base.depth))

    def _load_from_K(self, indices: np.ndarray, quick: bool) -> None:
        fresh = load_from_K(self.base, indices, self.exact and not quick, quick)
        r = len(fresh.members)
        self.members[:r] = fresh.members
        self.H[:r, :r], self.volume = fresh.inverse, fresh.volume
        self.W.set(fresh.rows, self.members)
        self.powers.set(fresh.diagonals, fresh.larger)

    def drop(self, place: int) -> int:
        """Take the member out of its place; returns it. No product with C."""
        j = int(self.members[place])
        if not self.H[place, place] > 0:  # its digits are gone
            self.reload()
            if self.members[place] != j:
                return j
        length = float(np.sqrt(max(self.H[place, place], np.finfo(float).tiny)))
        x = [row / length for row in self.W.row(place)]
        t = -self.H[place] / length
        self.volume += 2 * float(np.log(length))
        self._change(1.0, x, t)
        if self.source is not None:
            self.source.drop(place, x[0], t)
        self.swollen = max(self.swollen, total(self.diagonals[0]))
        self.members[place] = -1
        self.H[place] = 0.0
        self.H[:, place] = 0.0
        self.W.empty(place)
        self._settle()
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
        t = -self.W.column(j) / s**0.5
        t[place] = 1 / s**0.5
        self._change(-1.0, x, t)
        if self.source is not None:
            places = np.flatnonzero(self.members >= 0)
            self.source.add(j, place, self.members[places], places, t)
            self.diagonals[0] = self.source.lengths()
        self.members[place] = j
        if noise is None or noise[j] == 0:
            self.powers.clear(j)
        self._settle()
        self._measure()

    def _settle(self) -> None:
        """Put the changes into the rows if no other can wait, or if C itself has changed."""
        if self.W.full or self.source is not None:
            self.settle()

    def residual_column(self, j: int) -> Array:
        """C_:j."""
        if self.source is not None:
            return self.source.columns([j])[:, 0]
        u = self.W.residual_column(j)
        return u + self.W.correction(self.W.weights(j)) if self.W.count else u

    def residual_product(self, x: Array) -> Array:
        """CΩx."""
        y = self._product(x)
        return y + self.W.correction(self.W.dots(x)) if self.W.count else y

    def _image(self, power: int, j: int, x: Array, s: float) -> Array:
        """(CΩ)^power times the column of C at j over √s; x is the same for one power less."""
        stored = self.base.stored_powers
        if stored is None or power > stored.highest:
            return self._product(x)
        if self.base.pair.total(self.diagonals[power]) < LEFT[power] * self.base.totals[power]:
            return self._product(x)
        image = stored.column(power, j, self.W.blocks, np.maximum(self.W.seated, 0))
        if self.W.count:
            image = image + self.W.correction(self.W.weights(j), power)
        return image / s**0.5

    def _product(self, x: Array) -> Array:
        """CΩx without the changes that wait."""
        x = self.base.pair.weighed(x)
        if self.source is not None:
            return self.source.matmul(x[:, None])[:, 0]
        return self.W.without_members(self.operator.matmul(x[:, None])[:, 0])

    def recompute(self, j: int) -> list[float]:
        """The entries of the diagonals at j from the column of C itself."""
        u, dot = self.residual_column(j), self.base.pair.dot
        images = [u, self.residual_product(u)] if self.base.depth == 2 else [u][: self.base.depth]
        return [float(u[j]), *(float(dot(u, image)) for image in images)]

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

    def _change(self, sign: float, x: list[Array], t: np.ndarray) -> None:
        """C becomes C + sign · b bᵀ and W becomes W + t bᵀ, with x = [b, CΩb, (CΩCΩb)].

        x has C without the changes that wait.
        """
        add_outer(self.H, -sign * t, t)
        self.powers.change(sign, self._with_changes(x))
        self.W.append(sign, x, t)

    def _with_changes(self, x: list[Array]) -> list[Array]:
        """[b, CΩb, (CΩCΩb)] with the changes of C that wait.

        With Δ = B S BᵀΩ they are b, CΩb + Δb, and CΩCΩb + CΩΔb + Δ(CΩb + Δb).
        """
        if self.W.count == 0 or len(x) == 1:
            return x
        along = self.W.dots(x[0])
        found = [x[0], x[1] + self.W.correction(along)]
        if len(x) == 3:
            moved = x[2] + self.W.correction(along, 1)
            found.append(moved + self.W.correction(self.W.dots(found[1])))
        return found
