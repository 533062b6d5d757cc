"""K² (and K³) of a stored K, formed once, so that a move needs no product with K.

With the rows W, CW (and C²W) of a choice S,

    C²e_j = (K²)_:j − Wᵀ(K²)_Sj − (CW)ᵀK_Sj,
    C³e_j = (K³)_:j − Wᵀ(K³)_Sj − (CW)ᵀ(K²)_Sj − (C²W)ᵀK_Sj,

in O(nk) operations instead of O(n²). The price is digits: C² is found by subtraction from K², so
this is for residuals that are not much smaller than K.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from .._array import Array, take
from ..operators.base import MEMORY, Operator
from ..operators.dense import Dense

# K² costs the time of n/11 products with a vector: 1.8 s and 6.7 ms at n = 3000, one thread.
SPEED = 11
LEFT = {1: 1e-8, 2: 1e-7}  # of tr K² or tr K³: below it, C² or C³ has too few digits

_matrices: WeakKeyDictionary[Operator, list[Array]] = WeakKeyDictionary()


class StoredPowers:
    """K, K² (and K³) of a stored K; each is formed when first needed and kept with the operator.

    The ledger does not count their making: a resumed run makes them again and must count the same.

    highest : how many powers beyond K there may be.
    """

    def __init__(self, operator: Dense, highest: int):
        self.operator = operator
        self.highest = highest
        self.matrices = _matrices.setdefault(operator, [operator.K])

    def column(self, power: int, j: int, rows: list[Array], members: np.ndarray) -> Array:
        """C to the power + 1, times e_j."""
        self.operator.ledger.add(entries=self.operator.n * power)
        matrices = self.upto(power)
        found = matrices[power][j, :]
        for p in range(power + 1):
            found = found - take(matrices[power - p][j, :], members) @ rows[p]
        return found

    def upto(self, power: int) -> list[Array]:
        """K, K², up to K to the power + 1."""
        while len(self.matrices) <= power:
            self.matrices.append(self.matrices[-1] @ self.operator.K)
        return self.matrices[: power + 1]


def stored_powers(operator: Operator, highest: int, moves: int) -> StoredPowers | None:
    """The powers of K where they cost less than the products of so many moves; else None.

    Each power beyond K saves one product at each move.
    """
    if not isinstance(operator, Dense) or 8 * operator.n**2 > MEMORY // 2:
        return None
    return StoredPowers(operator, highest) if SPEED * moves >= operator.n else None
