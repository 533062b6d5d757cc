"""The change of the error for every pair at once: drop a member, add a candidate.

It follows from the rows of W, CW (and C²W) and the diagonals of C, C² (and C³) that an exchange keeps, in O(n) per
member. The best pair is taken, not the first that improves: with the same time both end equally low.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array import Array, cache_entries, first_argmax, host, like, namespace
from .exchange import Exchange


class Swapping(NamedTuple):
    """Drop the member at a place, add candidate j: what the error loses by it, and what the drop alone costs."""

    place: int
    j: int
    gain: float
    cost: float


class Pairs:
    """What the error loses when member i is dropped and candidate j added, in blocks of places.

    With p = W_i/√g_i a drop gives C' = C + p pᵀ; the addition then gains (C'²)_jj/C'_jj in the trace, and
    2(C'³)_jj/C'_jj − ((C'²)_jj/C'_jj)² in ‖C‖²_F.

    allowed : positive for the candidates that may be added; None takes all, and their diagonals as they are.
    pairs : whether each candidate may take each place, one row per place; None allows all.
    """

    def __init__(self, state: Exchange, allowed: Array | None, pairs: Array | None = None):
        self.c, *self.higher = state.diagonals
        xp = namespace(self.c)
        self.state, self.careful, self.pairs = state, False, pairs
        self.floor = xp.clip(
            state.base.floor, min=float(np.finfo(np.float32).tiny) * state.base.largest
        )
        g = np.diag(state.H)
        W, Y = state.rows[0], state.rows[1]
        self.d = host(xp.vecdot(W, W)).astype(np.float64) / g
        self.e = host(xp.vecdot(W, Y)).astype(np.float64) / g if state.base.powers == 2 else self.d
        self.cost = self.d if state.base.powers == 1 else 2 * self.e + self.d**2
        self.scale = like(1 / g, self.c)[:, None]
        if allowed is not None:
            self._mask(allowed > 0)

    def _mask(self, allowed: Array) -> None:
        """Diagonals that make every candidate that is not allowed a loss, and divide by no zero."""
        xp, largest = namespace(allowed), self.state.base.largest
        self.c = xp.where(allowed, xp.maximum(self.c, self.floor), largest)
        worst = -1e3 * self.state.operator.n * largest
        self.higher = [
            xp.where(allowed, h, worst * largest ** (p + 1))
            for p, h in enumerate(self.state.powers.bounded(self.c))
        ]

    def best_swap(self, unlocked: np.ndarray) -> Swapping:
        """The pair of the largest gain, ties to the first place and the lowest index."""
        height = max(1, cache_entries(self.c) // self.state.operator.n)
        starts = range(0, len(self.d), height)
        best = np.concatenate([self._best(slice(a, min(a + height, len(self.d)))) for a in starts])
        place = int(unlocked[first_argmax(best[unlocked])])
        j = first_argmax(self.halves(slice(place, place + 1))[0, :])
        return Swapping(place, j, float(best[place]), float(self.cost[place]))

    def independent(self, swap: Swapping) -> bool:
        """Whether the candidate is not represented by the members that stay."""
        w = float(self.state.rows[0][swap.place, swap.j])
        c = float(self.state.diagonals[0][swap.j])
        pivot = c + w * w / self.state.H[swap.place, swap.place]
        return pivot > 2 * float(self.floor[swap.j])

    def _best(self, places: slice) -> np.ndarray:
        """The largest gain of each place."""
        halves = self.halves(places)
        return 2 * host(namespace(halves).max(halves, axis=1)).astype(np.float64)

    def halves(self, places: slice) -> Array:
        """Half the gains of a block of places with every candidate: one pass over the block less than the gains."""
        W = self.state.rows[0][places, :]
        weighted = W * self.scale[places, :]
        new_c = weighted * W
        new_c += self.c
        halves = (
            self._trace(weighted, new_c, places)
            if self.state.base.powers == 1
            else self._frobenius(weighted, new_c, places)
        )
        if self.pairs is not None:
            halves = namespace(halves).where(self.pairs[places, :], halves, -np.inf)
        return (
            namespace(halves).where(new_c > 4 * self.floor, halves, -1.0)
            if self.careful
            else halves
        )

    def _trace(self, weighted: Array, new_c: Array, places: slice) -> Array:
        """(A_j + 2 p_j (Cp)_j − d_i c_j)/(c_j + p_j²)/2, which is half the gain of j less the cost d_i of i."""
        weighted *= self.state.rows[1][places, :]
        weighted += 0.5 * self.higher[0]
        weighted -= like(0.5 * self.d[places], self.c)[:, None] * self.c
        weighted /= new_c
        return weighted

    def _frobenius(self, weighted: Array, new_c: Array, places: slice) -> Array:
        """(C'³)_jj/C'_jj − ((C'²)_jj/C'_jj)²/2 less half the cost of i."""
        W, Y, Z = (rows[places, :] for rows in self.state.rows)
        d, e, cost = (like(x[places], self.c)[:, None] for x in (self.d, self.e, self.cost))
        pq = weighted * Y
        ratio = self.higher[0] + 2 * pq
        B = weighted * Z
        weighted *= W
        ratio += d * weighted
        ratio /= new_c
        B *= 2
        B += self.higher[1]
        B += self.scale[places, :] * Y * Y
        pq *= 2 * d
        B += pq
        weighted *= e + d * d
        B += weighted
        B /= new_c
        ratio *= ratio
        ratio *= 0.5
        B -= ratio
        B -= 0.5 * cost
        return B


def best_swap(
    state: Exchange, allowed: Array, unlocked: np.ndarray, allowed_pairs: Array | None = None
) -> Swapping:
    """The pair that lowers the error most: over the members at unlocked places and the allowed candidates."""
    pairs = Pairs(state, allowed, allowed_pairs)
    best = pairs.best_swap(unlocked)
    if not pairs.independent(best):
        pairs.careful = True
        best = pairs.best_swap(unlocked)
    return best


def confirmed_gain(state: Exchange, swap: Swapping) -> tuple[float, float]:
    """The gain in the trace from the column of C itself, and the size of its terms.

    The state takes in what it finds.

    With p = W_i/√g_i it is (A_j + 2 p_j (Cp)_j − ‖p‖² c_j)/(c_j + p_j²): no large numbers cancel.
    """
    u = state.residual_column(swap.j)
    xp = namespace(u)
    w = state.rows[0][swap.place, :]
    g = float(state.H[swap.place, swap.place])
    c, squares, along = max(float(u[swap.j]), 0.0), float(xp.sum(u * u)), float(xp.sum(w * u))
    state.powers.correct(swap.j, [c, squares])
    state.rows[1][swap.place, swap.j] = along
    p = float(w[swap.j])
    length = float(xp.sum(w * w))
    terms = [squares, 2 * p * along / g, -length * c / g]
    pivot = c + p * p / g
    return sum(terms) / pivot, sum(abs(term) for term in terms) / pivot
