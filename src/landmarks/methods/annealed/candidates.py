"""Candidates for a choice on a matrix too large to store: columns that could take the place of a chosen one."""

from __future__ import annotations

import numpy as np

from ..._array import Array, host, like, namespace, rank_tolerance, take
from ...operators.base import Operator, squared_diagonal


class Replacements:
    """Proposes columns by the trace gain that each would have once one chosen column is dropped.

    The diagonals of K and K² are read once; each proposal costs |S| columns and |S| products.
    """

    def __init__(self, operator: Operator):
        xp = namespace(operator.like)
        self.operator = operator
        self.diagonal = operator.diagonal()
        self.squares = squared_diagonal(operator)
        self.floor = rank_tolerance(operator.digits) * float(xp.max(self.diagonal))

    def propose(self, chosen: np.ndarray, allowed: np.ndarray, each: int) -> np.ndarray:
        """For each chosen column the best few of the allowed ones that gain most from its leaving."""
        scores = host(self.gains(chosen)).astype(np.float64)[allowed]
        owner, best = np.argmax(scores, axis=1), np.max(scores, axis=1)
        best = np.where(np.isin(allowed, chosen), 0.0, best)
        order = np.argsort(-best, kind="stable")[: np.count_nonzero(best > 0)]
        proposed = [order[owner[order] == i][:each] for i in range(len(chosen))]
        return allowed[np.concatenate(proposed)]

    def gains(self, chosen: np.ndarray) -> Array:
        """(C'²)_jj/C'_jj of the residual C' without the i-th chosen column, one column per i."""
        columns = self.operator.columns(chosen)
        xp = namespace(columns)
        W, g = self._weights(columns, chosen)
        product, WW = self.operator.matmul(W), W.T @ W
        c = self.diagonal - xp.sum(columns * W, axis=1)
        a = self.squares + xp.sum((columns @ WW - 2 * product) * columns, axis=1)
        CW = product - columns @ WW
        squares = (
            xp.clip(a, min=0.0)[:, None] + (2 * W * CW + W * W * xp.linalg.diagonal(WW) / g) / g
        )
        own = xp.clip(c, min=0.0)[:, None] + W * W / g
        return xp.where(
            own > self.floor, squares / xp.clip(own, min=self.floor), xp.zeros_like(own)
        )

    def _weights(self, columns: Array, chosen: np.ndarray) -> tuple[Array, Array]:
        """W = K_S K_SS⁻¹ and the diagonal of K_SS⁻¹."""
        K = host(take(columns, chosen)).astype(np.float64)
        H = np.linalg.inv(K + max(self.floor, np.finfo(float).tiny) * np.eye(len(chosen)))
        return columns @ like(H, columns), like(np.diag(H), columns)
