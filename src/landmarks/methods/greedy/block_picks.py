"""Nuclear scores in blocks: many picks for one pass over the factor of what is chosen already.

The scores of a few columns depend on C and CZ at these columns alone. So the columns of the highest
scores are followed pick by pick on a small matrix, as if there were no others. A block ends where a
column outside may be better: its score can hardly have risen since the block began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._array import Array, host, take
from ...residual.residual import Residual

if TYPE_CHECKING:
    from .nuclear import ProbedGains

FOLLOWED = 1024  # columns that a block chooses from
WIDTH = 128  # picks in a block at most


def pick_block(residual: Residual, gains: ProbedGains, allowed: Array, limit: int) -> bool:
    """Make up to `limit` picks at once; returns False where no column is worth it."""
    scores = host(gains.scores() * allowed).astype(np.float64)
    followed, outside = highest_scores(scores, FOLLOWED)
    if len(followed) == 0:
        return False
    C = residual.principal(followed)
    floor = host(residual.floor).astype(np.float64)[followed]
    CZ = host(take(gains.CZ, followed)).astype(np.float64)
    picks, L = follow(C, CZ, floor, outside, min(limit, WIDTH))
    residual.clear(followed[np.diag(C) <= floor])  # or rounding could propose them for ever
    if len(picks) > 0:
        gains.take_in(residual.pick_block(followed[picks], L))
    return True


def highest_scores(scores: np.ndarray, count: int) -> tuple[np.ndarray, float]:
    """The columns of the highest positive scores, and the highest score of any other."""
    order = np.argsort(-scores, kind="stable")[: count + 1]
    order = order[scores[order] > 0]
    outside = float(scores[order[count]]) if len(order) > count else 0.0
    return order[:count], outside


def follow(
    C: np.ndarray, CZ: np.ndarray, floor: np.ndarray, outside: float, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pick by pick on a small C, while the best is at least as good as what is outside.

    Returns the positions of the picks and the Cholesky factor of C at them.
    """
    c, CZ, V = np.diag(C).copy(), CZ.copy(), np.zeros((len(C), limit))
    picks: list[int] = []
    while len(picks) < limit:
        left = c > floor
        squares = np.maximum(np.einsum("ij,ij->i", CZ, CZ) / CZ.shape[1], c * c)
        scores = np.where(left, squares / np.where(left, c, 1.0), 0.0)
        i = int(np.argmax(scores))
        if scores[i] <= 0 or (picks and scores[i] < outside):
            break
        r = len(picks)
        v = (C[:, i] - V[:, :r] @ V[i, :r]) / np.sqrt(c[i])
        v[picks] = 0.0
        V[:, r] = v
        CZ -= np.multiply.outer(v, CZ[i] / np.sqrt(c[i]))
        c = np.maximum(c - v * v, 0.0)
        c[i] = 0.0
        picks.append(i)
    return np.asarray(picks, dtype=np.int64), np.tril(V[picks, : len(picks)])
