"""The residual of a choice, kept through drops and additions.

With S chosen, H = (K_SS + N)⁻¹, W = H K_Sᵀ (k × n, one row per member) and C = K − K_S W. Both a
drop and an addition change C by ± b bᵀ, W by t bᵀ and H by ∓ t tᵀ. A drop needs no product with C,
an addition one (two for the Frobenius error, none for the log determinant).
"""

from __future__ import annotations

import numpy as np

from .._array import (
    Array,
    Indices,
    add_outer,
    add_product,
    host,
    like,
    namespace,
    take,
    zeros,
)
from ..operators.pair import Pair
from ..runs.state import State
from .base import Base
from .explicit import Explicit
from .loading import error_of, from_products, load_from_K
from .powers import Powers, best_addition, total
from .stored_powers import LEFT

LIFETIME = 20  # additions before a moderate drift makes a state load again
DISASTER = 1e-3  # relative drift of a diagonal that makes a state load again at once
LOST = 1e-7  # relative rounding error of a diagonal that makes a state load again
MOST = 32  # most pending changes; also at most a quarter of the members
CLEAN = 1e-10  # relative to a column: what rounding may leave of it at the members


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
        indices, base = np.asarray(indices, dtype=np.int64), self.base
        self.members[:] = -1
        self.H[:] = 0.0
        self.drift, self.age, self.swollen, self.volume = 0.0, 0, 0.0, 0.0
        if len(indices) == 0:  # C is K
            self.powers.set([diagonal + 0.0 for diagonal in base.of_K])
            self.W.set([block[:0, :] for block in self.W.blocks], self.members)
            if base.factored is not None:
                self.source = Explicit(base.factored, len(self.members), base.pair)
            return
        if self.source is None:
            fresh = load_from_K(base, indices, self.exact and not quick, quick)
            order, inverse, rows = fresh.members, fresh.inverse, fresh.rows
            self.volume = fresh.volume
            self.powers.set(fresh.diagonals, fresh.larger)
        else:
            order, W, F = self.source.load(indices, host(base.floor), len(self.members))
            dual = host(self.source.D)[:, : len(order)]
            inverse, rows, R = dual.T @ dual, [W], self.source.R
            if base.depth == 0:  # of the dual vectors: their inner products have squared condition
                lengths = np.linalg.norm(dual, axis=0)  # taken out, so that no pivot underflows
                pivots = np.abs(np.diag(np.linalg.qr(dual / lengths, mode="r")))
                with np.errstate(divide="ignore"):  # a pivot of 0: the volume is infinite
                    self.volume = -2 * float(np.sum(np.log(lengths)) + np.sum(np.log(pivots)))
            for _ in range(base.depth):
                rows.append((base.pair.weighed(rows[-1].T).T @ R.T) @ R)
            if quick and (found := from_products(base, F, self.source.lengths())):
                self.powers.set(found, base.of_K)
            else:
                self.powers.set(self.source.diagonals(base.depth))
        r = len(order)
        self.members[:r] = order
        self.H[:r, :r] = inverse
        self.W.set(rows, self.members)

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
        self.W.move(come_from, self.members)
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
        pair = self.base.pair
        if power > self.base.highest:
            return self._product(x)
        if pair.total(self.diagonals[power]) < LEFT[power] * self.base.totals[power]:
            return self._product(x)
        matrices, seated = pair.powers(power + 1), np.maximum(self.W.seated, 0)
        self.operator.ledger.add(entries=self.operator.n * power)
        image = matrices[power][j, :]
        for p in range(power + 1):
            image = image - take(matrices[power - p][j, :], seated) @ self.W.blocks[p]
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


class Rows(State):
    """The rows W, CΩW (and CΩCΩW), one for each place, and the changes that wait.

    A drop or an addition changes C by ± b bᵀ and W by t bᵀ. With the vectors in B, their signs in S
    and the t in T, the residual is C + B S Bᵀ and the rows are W + T Bᵀ, with C as it was when no
    change waited. The rows are large, so one product applies several changes.

    blocks : W, CΩW (and CΩCΩW), one row per place, zero where it is free.
    seated : the member at each place when the blocks last took in changes.
    images : B, CΩB (and CΩCΩB), one row per change.
    T : one row per place. emptied : the places whose member was dropped.
    """

    def __init__(self, size: int, depth: int, pair: Pair):
        self.pair = pair
        self.operator = operator = pair.operator
        reference, n = operator.like, operator.n
        self.blocks = [zeros((size, n), reference) for _ in range(depth + 1)]
        self.seated = np.full(size, -1, dtype=np.int64)
        capacity = min(MOST, max(2, size // 4))
        self.images = [zeros((capacity, n), reference) for _ in range(depth + 1)]
        self.signs = np.zeros(capacity)
        self.T = np.zeros((size, capacity))
        self.emptied = np.zeros(size, dtype=bool)
        self.count = 0
        self._column: tuple[int, Array] = (-1, None)  # the last column of C that was computed

    @property
    def full(self) -> bool:
        """Whether no other change can wait."""
        return self.count == len(self.signs)

    def set(self, found: list[Array], members: np.ndarray) -> None:
        """Set the rows of the first places; the others become zero."""
        for block, rows in zip(self.blocks, found, strict=True):
            block[: rows.shape[0], :] = rows
            block[rows.shape[0] :, :] = 0.0
        self.seat(members)

    def copy_to(self, other: Rows) -> None:
        """Put the same rows into the memory of another, which waits for nothing."""
        for block, mine in zip(other.blocks, self.blocks, strict=True):
            block[:, :] = mine
        other.seat(self.seated)

    def move(self, come_from: np.ndarray, members: np.ndarray) -> None:
        """Each place gets the row of the one that it comes from; no change waits."""
        self.blocks = [take(block, come_from) for block in self.blocks]
        self.seat(members)

    def append(self, sign: float, x: list[Array], t: np.ndarray) -> None:
        """C also changes by sign · x₀x₀ᵀ and W by t x₀ᵀ; x = [b, CΩb, (CΩCΩb)]."""
        for block, image in zip(self.images, x, strict=True):
            block[self.count, :] = image
        self.signs[self.count] = sign
        self.T[:, self.count] = t
        self.count += 1

    def empty(self, place: int) -> None:
        """The row of that place becomes zero."""
        self.emptied[place] = True
        self.T[place] = 0.0

    def settle(self, members: np.ndarray) -> None:
        """Put the changes in, after which no change waits.

        W + T Bᵀ; then CΩW + T (CΩB)ᵀ + M Bᵀ with M = WΩB S, the new W; then the last likewise.
        """
        if self.count == 0:
            return
        B = [block[: self.count, :] for block in self.images]
        signs = like(self.signs[: self.count], B[0])
        factors = [like(self.T[:, : self.count], B[0])]
        for p, block in enumerate(self.blocks):
            for place in np.flatnonzero(self.emptied):
                block[int(place), :] = 0.0
            for factor, image in zip(factors, reversed(B[: p + 1]), strict=True):
                add_product(block, factor, image)
            if p + 1 < len(self.blocks):
                factors.append((block @ self.pair.weighed(B[0].T)) * signs)
        self.seat(members)

    def seat(self, members: np.ndarray) -> None:
        """The blocks are those of the members; no change waits."""
        self.count = 0
        self.T[:] = 0.0
        self.emptied[:] = False
        self.seated = members.copy()
        self._column = (-1, None)

    def row(self, place: int) -> list[Array]:
        """The rows of one place with the changes of W, but with C as it was."""
        t = like(self.T[place, : self.count], self.blocks[0])
        found = [t @ block[: self.count, :] for block in self.images]
        if self.emptied[place]:
            return found
        return [block[place, :] + change for block, change in zip(self.blocks, found, strict=True)]

    def column(self, j: int) -> np.ndarray:
        """Column j of W with its changes, on the host."""
        changes = self.T[:, : self.count] @ host(self.images[0][: self.count, j])
        return np.where(self.emptied, 0.0, host(self.blocks[0][:, j])) + changes

    def weights(self, j: int) -> Array:
        """Row j of B: how far each change that waits touches column j."""
        return self.images[0][: self.count, j]

    def dots(self, x: Array) -> Array:
        """BᵀΩx."""
        return self.images[0][: self.count, :] @ self.pair.weighed(x)

    def correction(self, weights: Array, power: int = 0) -> Array:
        """(CΩ)^p B S weights."""
        signed = like(self.signs[: self.count], weights) * weights
        return signed @ self.images[power][: self.count, :]

    def residual_column(self, j: int) -> Array:
        """C_:j as it was: K_:j − Wᵀ K_Sj."""
        if self._column[0] != j:
            self._column = (j, self.without_members(self.operator.columns([j])[:, 0]))
        return self._column[1]

    def without_members(self, u: Array) -> Array:
        """u − Wᵀu_S; without noise again where rounding in W left something of u at S."""
        places = np.maximum(self.seated, 0)
        if self.pair.noise is not None:
            return u - take(u, places) @ self.blocks[0]
        largest = 0.0
        for _ in range(2):
            at_members = take(u, places)
            size = float(namespace(u).max(namespace(u).abs(at_members)))
            if size <= CLEAN * largest:
                break
            largest = max(largest, size)
            u = u - at_members @ self.blocks[0]
        return u
