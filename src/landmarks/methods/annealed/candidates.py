"""Candidates on a matrix too large to store: columns that could take the place of a chosen one."""

from __future__ import annotations

import numpy as np

from ..._array import host, like
from ...operators.base import Operator
from ...operators.pair import Pair
from ...residual.base import Base
from ...residual.exchange import Exchange
from ...residual.pairs import Pairs


class Replacements:
    """Proposes columns by the trace gain that each would have once one chosen column is dropped.

    The diagonals of K and K² are read once; each proposal costs |S| columns and |S| products.
    """

    def __init__(self, operator: Operator, k: int):
        self.base = Base(Pair(operator, operator.n), 1, k)

    def propose(self, chosen: np.ndarray, allowed: np.ndarray, each: int) -> np.ndarray:
        """For each chosen column the few allowed ones that gain most from its leaving."""
        scores = self.gains(chosen)[:, allowed].T
        owner, best = np.argmax(scores, axis=1), np.max(scores, axis=1)
        best = np.where(np.isin(allowed, chosen), 0.0, best)
        order = np.argsort(-best, kind="stable")[: np.count_nonzero(best > 0)]
        proposed = [order[owner[order] == i][:each] for i in range(len(chosen))]
        return allowed[np.concatenate(proposed)]

    def gains(self, chosen: np.ndarray) -> np.ndarray:
        """(C'²)_jj/C'_jj of the residual C' without the i-th chosen column, one row per i."""
        state = Exchange(self.base, len(chosen))
        state.load(chosen)
        n, r = self.base.operator.n, len(state.chosen)
        pairs = Pairs(state, like(np.ones(n), self.base.operator.like))
        found = np.zeros((len(chosen), n))
        places = np.flatnonzero(np.isin(chosen, state.chosen))
        halves = host(pairs.half_gains(slice(0, r))).astype(np.float64)
        found[places] = 2 * halves + pairs.cost[:r, None]
        return found
