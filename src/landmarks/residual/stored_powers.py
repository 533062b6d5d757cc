"""KΩK (and KΩKΩK) of a stored K, formed once, so that a move needs no product with K.

With the rows W, CΩW (and CΩCΩW) of a choice S,

    CΩC e_j = (KΩK)_:j − Wᵀ(KΩK)_Sj − (CΩW)ᵀK_Sj,
    CΩCΩC e_j = (KΩKΩK)_:j − Wᵀ(KΩKΩK)_Sj − (CΩW)ᵀ(KΩK)_Sj − (CΩCΩW)ᵀK_Sj,

in O(nk) operations instead of O(n²). The price is digits: CΩC is found by subtraction from KΩK, so
this is for residuals that are not much smaller than K.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._array import on_gpu
from ..operators.base import Operator, product_seconds
from ..operators.dense import Dense
from ..operators.pair import Pair

# A power of K costs the time of n/16 products with a vector: 0.55 s and 2.9 ms at n = 3000, one
# thread.
SPEED = 16
LEFT = {1: 1e-8, 2: 1e-7}  # of tr K² or tr K³: below it, C² or C³ has too few digits


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


def powers_seconds(operator: Operator, depth: int) -> float:
    """An estimate of the seconds that the powers of a stored K beyond K itself take."""
    if not isinstance(operator, Dense) or not operator.keeps_powers:
        return 0.0
    return depth * operator.n / SPEED * product_seconds(operator)


def highest_power(pair: Pair, depth: int, moves: int | None) -> int:
    """1 or 2 if KΩK (and KΩKΩK) cost less than the products of so many moves, else 0.

    Each power beyond K saves one product at each move. For diag K³ there is K² in any case.

    moves : None where there is no time to form them.
    """
    operator = pair.operator
    if moves is None or depth == 0 or not isinstance(operator, Dense) or not operator.keeps_powers:
        return 0
    paid = SPEED * max(moves, operator.moves) >= operator.n
    if depth == 2 and SPEED * moves >= operator.n:
        return 2
    return int(paid or (depth == 2 and not on_gpu(operator.like)))
