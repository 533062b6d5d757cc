"""The change of the error for every pair at once: drop a member, add a candidate.

It follows from the rows of W, CW (and C²W) and the diagonals of C, C² (and C³) that an exchange
keeps, in O(n) per member. The best pair is taken, not the first that improves: in the same time
both reach equally low errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array import Array, add_product, first_argmax, host, like, namespace, on_gpu, take
from .base import Base
from .exchange import Exchange

CACHED = 2**15  # entries of a part that stay in the cache of a CPU
FILLING = 2**22  # entries of a part that fill a graphics card


class Swapping(NamedTuple):
    """A member to drop, a candidate to add: what the error loses, what the drop alone costs."""

    place: int
    j: int
    gain: float
    cost: float


class Pairs:
    """What the error loses when the member at a place is dropped and candidate j added.

    H = K_SS⁻¹ and W are those of `exchange`, and g_i = H_ii. With p = W_i/√g_i a drop gives
    C' = C + p pᵀ. The addition then gains (C'²)_jj/C'_jj in the trace, and
    2(C'³)_jj/C'_jj − ((C'²)_jj/C'_jj)² in ‖C‖²_F. The drop costs d = pᵀp or 2e + d², e = pᵀCp. The
    difference of the two is computed from c, A and B, the diagonals of C, C² and C³.

    allowed : positive for the candidates that may be added; None takes all, and their diagonals as
        they are.
    places : those to look at; None looks at all of them.
    pairs : whether each candidate may take each place, one row per place; None allows all.
    side : −1 for what a swap gains at least, +1 for what it may gain at most.
    """

    def __init__(
        self,
        state: Exchange,
        allowed: Array | None,
        places: np.ndarray | None = None,
        pairs: Array | None = None,
        side: float = -1.0,
    ):
        self.side = side
        self.c, self.higher = state.powers.pivots, state.diagonals[1:]
        self.open: Array | None = None
        self.state = state
        self.careful = False
        self.pairs = pairs
        self.floor = state.base.divisor
        self.g = np.diag(state.H)
        self.places = None
        if places is not None and len(places) < len(self.g):
            self.g = self.g[places]
            self.places = places
            self.pairs = None if pairs is None else take(pairs, places)
        self.cost = np.zeros(len(self.g))
        if allowed is not None:
            self._mask(allowed > 0)
        self.diagonals = namespace(self.c).stack([self.c, *self.higher])

    def _mask(self, allowed: Array) -> None:
        """Diagonals that make every candidate that is not allowed a loss, and divide by no zero."""
        base, xp = self.state.base, namespace(allowed)
        powers, largest = self.state.powers, base.largest
        if base.depth == 0:
            self.c, self.open = xp.maximum(self.c, self.floor), allowed
            return
        self.c = xp.where(allowed, xp.maximum(self.c, self.floor), largest)
        worst = -1e3 * base.operator.n * largest**2 * base.heaviest
        c = self.c if base.pair.noise is None else powers.diagonals[0]
        bounded = powers.bounded(c, self.side)
        if len(bounded) == 1:
            self.higher = [xp.where(allowed, bounded[0], worst)]
        else:
            worst = worst * base.operator.n * largest * base.heaviest
            self.higher = [xp.where(allowed, bounded[0], 0.0), xp.where(allowed, bounded[1], worst)]

    def best(self) -> tuple[np.ndarray, int]:
        """The largest gain of each place, and the candidate of the largest of all.

        Ties go to the first place and the lowest index.
        """
        entries = FILLING if on_gpu(self.c) else CACHED
        height = max(1, entries // self.state.operator.n)
        count = len(self.g)
        parts = [slice(a, min(a + height, count)) for a in range(0, count, height)]
        best = np.concatenate([self._best(part) for part in parts])
        return best, first_argmax(self._row(first_argmax(best)))

    def _best(self, part: slice) -> np.ndarray:
        """The largest gain of each place of a part."""
        self._last = part, self.half_gains(part)
        largest = namespace(self.c).max(self._last[1], axis=1)
        return 2 * host(largest).astype(np.float64)

    def _row(self, i: int) -> Array:
        """Half the gains of one place; from the last part if it holds them."""
        part, gains = self._last
        if part.start <= i < part.stop:
            return gains[i - part.start, :]
        return self.half_gains(slice(i, i + 1))[0, :]

    def half_gains(self, part: slice) -> Array:
        """Half the gains of a part of the places with every candidate; the half saves a pass."""
        rows, g = self._rows(part), self.g[part]
        d, e, self.cost[part] = _drops(rows, g, self.state.base)
        weights = like(np.stack([-g * e, -g * d, g], axis=1), self.c)
        pivots = rows[0] * rows[0]  # g_i (c_j + p_j²)
        add_product(pivots, weights[:, 2:], self.diagonals[:1, :])
        depth, xp = self.state.base.depth, namespace(pivots)
        if depth == 0:  # the determinant is multiplied by g_i (s_j + p_j²)
            gains = 0.5 * xp.log(xp.clip(pivots, min=float(np.finfo(float).tiny)))
            gains = gains if self.open is None else xp.where(self.open, gains, -np.inf)
        else:  # (A_j + 2 p_j (Cp)_j − d_i c_j)/(c_j + p_j²)/2: of the trace, less the cost d_i
            gains = rows[0] * rows[1]
            add_product(gains, 0.5 * weights[:, 1:], self.diagonals[:2, :])
            gains /= pivots
        if depth == 2:
            # (B_j + 2 p_j (C²p)_j + (Cp)_j² − d_i A_j − e_i c_j)/(c_j + p_j²) − τ²/2, τ that of the
            # trace: no large numbers cancel, however much a drop costs
            trace, gains = gains, rows[0] * rows[2]
            gains *= 2
            gains += rows[1] * rows[1]
            add_product(gains, weights, self.diagonals)
            gains /= pivots
            trace *= trace
            trace *= 2
            gains -= trace
        if self.pairs is not None:
            gains = xp.where(self.pairs[part, :], gains, -np.inf)
        if not self.careful:
            return gains
        return xp.where(pivots > 4 * weights[:, 2:] * self.floor, gains, -1.0)

    def _rows(self, part: slice) -> list[Array]:
        """W, CW (and C²W) at a part of the places."""
        if self.places is None:
            return [rows[part, :] for rows in self.state.rows]
        return [take(rows, self.places[part]) for rows in self.state.rows]


def drop_costs(state: Exchange) -> np.ndarray:
    """By how much the error rises when the member at each place is dropped; zero at free places."""
    g = np.diag(state.H)
    return _drops(state.rows, np.where(g > 0, g, 1.0), state.base)[2]


def _drops(rows: list[Array], g: np.ndarray, base: Base) -> tuple[np.ndarray, ...]:
    """pᵀΩp, pᵀΩCΩp and the cost of the drop C + p pᵀ for each row of W, p = W_i/√g_i.

    The cost is pᵀΩp in the trace, 2pᵀΩCΩp + (pᵀΩp)² in the Frobenius error and −log g in the log
    determinant.
    """
    if base.depth == 0:
        return 0 * g, 0 * g, -np.log(g)
    vecdot = namespace(rows[0]).vecdot
    weighted = rows[0] if base.pair.omega is None else rows[0] * base.pair.omega[None, :]
    d = host(vecdot(weighted, rows[0])).astype(np.float64) / g
    if base.depth == 1:
        return d, d, d
    e = host(vecdot(weighted, rows[1])).astype(np.float64) / g
    return d, e, 2 * e + d**2


def best_swap(
    state: Exchange,
    allowed: Array,
    places: np.ndarray,
    allowed_pairs: Array | None = None,
    side: float = -1.0,
) -> Swapping:
    """The pair that lowers the error most: a member at the places, an allowed candidate.

    side : −1 compares what swaps gain at least, +1 what they may gain at most.
    """
    pairs = Pairs(state, allowed, places, allowed_pairs, side)
    swap = _swapping(pairs, places)
    if not _independent(state, swap, pairs.floor):
        pairs.careful = True
        swap = _swapping(pairs, places)
    return swap


def _swapping(pairs: Pairs, places: np.ndarray) -> Swapping:
    best, j = pairs.best()
    i = first_argmax(best)
    return Swapping(int(places[i]), j, float(best[i]), float(pairs.cost[i]))


def _independent(state: Exchange, swap: Swapping, floor: Array) -> bool:
    """Whether the candidate is not represented by the members that stay."""
    w = float(state.rows[0][swap.place, swap.j])
    s = float(state.powers.pivots[swap.j])
    pivot = s + w * w / state.H[swap.place, swap.place]
    return pivot > 2 * float(floor[swap.j])


def confirmed_gain(state: Exchange, swap: Swapping) -> tuple[float, float]:
    """The gain from the column of C itself, and the size of its terms: see `Pairs`.

    It also corrects the state with what it finds.
    """
    i, j = swap.place, swap.j
    pair, depth = state.base.pair, state.base.depth
    g = float(state.H[i, i])
    w = state.rows[0][i, :]
    u = state.residual_column(j)
    column = [u, state.residual_product(u)][:depth]
    c, *higher = [max(float(u[j]), 0.0), *(float(pair.dot(u, v)) for v in column)]
    state.powers.correct(j, [c, *higher])
    along = [float(pair.dot(w, v)) for v in column]
    for rows, value in zip(state.rows[1:], along, strict=True):
        rows[i, j] = value
    p = float(w[j])
    s = c if pair.noise is None else c + float(pair.noise[j])
    pivot = s + p * p / g
    if pivot <= float(state.base.floor[j]):  # the members that stay represent the candidate
        return (0.0, 0.0) if depth else (-np.inf, 0.0)
    if depth == 0:
        return float(np.log(g * pivot)), abs(float(np.log(pivot))) + abs(float(np.log(g)))
    d = float(pair.dot(w, w)) / g
    terms = [higher[0], 2 * p * along[0] / g, -d * s]
    gain, size = sum(terms) / pivot, sum(map(abs, terms)) / pivot
    if depth == 1:
        return gain, size
    e = float(pair.dot(w, state.rows[1][i, :])) / g
    terms = [higher[1], 2 * p * along[1] / g, along[0] ** 2 / g, -d * higher[0], -e * s]
    return 2 * sum(terms) / pivot - gain**2, 2 * sum(map(abs, terms)) / pivot + size**2
