"""K² (and K³) of a stored K, formed once, so that a move needs no product with K.

With the rows W, CW (and C²W) of a choice S,

    C²e_j = (K²)_:j − Wᵀ(K²)_Sj − (CW)ᵀK_Sj,
    C³e_j = (K³)_:j − Wᵀ(K³)_Sj − (CW)ᵀ(K²)_Sj − (C²W)ᵀK_Sj,

in O(nk) operations instead of O(n²). The price is digits: C² is found by subtraction from K², so
this is for residuals that are not much smaller than K.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .._array import Array, on_gpu, take
from ..operators.base import Operator
from ..operators.dense import Dense

# A power of K costs the time of n/16 products with a vector: 0.55 s and 2.9 ms at n = 3000, one
# thread.
SPEED = 16
LEFT = {1: 1e-8, 2: 1e-7}  # of tr K² or tr K³: below it, C² or C³ has too few digits


class StoredPowers:
    """K, K² (and K³) of a stored K.

    highest : how many powers beyond K there are.
    """

    def __init__(self, operator: Dense, highest: int):
        self.operator = operator
        self.highest = highest

    @property
    def squared(self) -> Array:
        """K²."""
        return self.operator.powers(2)[1]

    def usable(self, traces: list[float], totals: list[float]) -> list[Array]:
        """K and those of its powers that have the digits of the same powers of C.

        traces : of C and its powers. totals : of K and its powers.
        """
        power = 0
        while power < self.highest and traces[power + 1] >= LEFT[power + 1] * totals[power + 1]:
            power += 1
        return self.operator.powers(power + 1)

    def column(self, power: int, j: int, rows: list[Array], members: np.ndarray) -> Array:
        """C to the power + 1, times e_j."""
        self.operator.ledger.add(entries=self.operator.n * power)
        matrices = self.operator.powers(power + 1)
        found = matrices[power][j, :]
        for p in range(power + 1):
            found = found - take(matrices[power - p][j, :], members) @ rows[p]
        return found


@contextmanager
def expecting(operator: Operator, moves: int) -> Iterator[None]:
    """While the block runs, searches on a stored K will make so many moves in all."""
    if not isinstance(operator, Dense):
        yield
        return
    before, operator.moves = operator.moves, moves
    try:
        yield
    finally:
        operator.moves = before


def stored_powers(operator: Operator, powers: int, moves: int) -> StoredPowers | None:
    """K² (and K³, for two powers) where they cost less than the products of so many moves.

    Each power beyond K saves one product at each move. For diag K³ there is K² in any case.
    """
    if not isinstance(operator, Dense) or not operator.keeps_powers:
        return None
    paid = SPEED * max(moves, operator.moves) >= operator.n
    highest = int(paid or (powers == 2 and not on_gpu(operator.like)))
    if powers == 2 and SPEED * moves >= operator.n:
        highest = 2
    return StoredPowers(operator, highest) if highest else None
