"""All columns from the selected ones, with the coefficients that were fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..linalg.reconstruction import reconstruct
from ..operators.standard import Prepared

BLOCK = 2**22  # entries of X that are made dense at a time


@dataclass(frozen=True, eq=False)
class Rebuilder:
    """x ≈ mean + (x_S − mean_S) B for the selected columns S.

    coefficients : B, in the units of the data.
    mean, scale : what was subtracted from the columns, and what they were divided by.
    support : mask of the selected columns.
    """

    coefficients: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    support: np.ndarray

    @classmethod
    def fitted(
        cls, prepared: Prepared, support: np.ndarray, dtype: Any
    ) -> tuple[Rebuilder, np.ndarray]:
        """The coefficients in the units of the data, and the loss without each selected column."""
        chosen, scale = np.flatnonzero(support), prepared.scale
        rebuilt = reconstruct(prepared.operator, chosen)
        B = rebuilt.coefficients * scale[None, :] / scale[chosen, None]
        losses = np.zeros(len(scale))
        losses[chosen] = rebuilt.losses
        mean = prepared.mean.astype(dtype)
        return cls(B.astype(dtype), mean, scale.astype(dtype), support), losses

    def rebuild(self, selected: Any) -> np.ndarray:
        """All columns from the selected ones, which stay as they are, in their dtype."""
        B = self.coefficients.astype(selected.dtype)
        mean = self.mean.astype(selected.dtype)
        rebuilt = selected @ B + (mean - mean[self.support] @ B)
        rebuilt[:, self.support] = _dense(selected)
        return rebuilt

    def explained(self, X: Any, weights: np.ndarray | None) -> float:
        """The share of the weighted squares of the scaled X − mean that is rebuilt; at most 1."""
        w = np.ones(X.shape[0]) if weights is None else weights
        height = max(1, BLOCK // X.shape[1])
        left = total = 0.0
        for start in range(0, X.shape[0], height):
            rows = slice(start, start + height)
            block_left, block_total = self._squares(X[rows], w[rows])
            left += block_left
            total += block_total
        return float(1 - left / total) if total > 0 else 0.0

    def _squares(self, X: Any, w: np.ndarray) -> tuple[float, float]:
        """The weighted squares of what is not rebuilt, and of X − mean; NaN count as absent."""
        X = _dense(X).astype(np.float64)
        filled = np.where(np.isnan(X), self.mean, X)
        left = (X - self.rebuild(filled[:, self.support])) / self.scale
        centred = (X - self.mean) / self.scale
        return float(w @ np.nansum(left**2, axis=1)), float(w @ np.nansum(centred**2, axis=1))


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
