"""Centred and scaled columns: what is taken out of them, and the arrays that remain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._array import Array, eps, host, like, namespace
from .base import Operator


@dataclass(frozen=True)
class Prepared:
    """The operator of the columns, the mean and scale that were taken out of them, and the degrees of freedom left."""

    operator: Operator
    mean: np.ndarray
    scale: np.ndarray
    degrees: float


@dataclass(frozen=True)
class Standard:
    """Whether the mean of each column is subtracted, and whether columns are divided by their standard deviation."""

    center: bool = False
    scale: bool = False

    @property
    def plain(self) -> bool:
        """Whether the columns stay as they are."""
        return not (self.center or self.scale)

    def parts(
        self, mean: np.ndarray, variance: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean to take out, the factor of each column (0 for one that is constant once centred), the scale."""
        constant = variance <= (16 * accuracy * np.abs(mean)) ** 2
        scale = np.where(constant, 1.0, np.sqrt(variance)) if self.scale else np.ones(len(mean))
        factor = np.where(constant, 0.0, 1 / scale) if self.center else 1 / scale
        return (mean if self.center else np.zeros(len(mean))), factor, scale

    def of_array(
        self, X: Array, weights: np.ndarray | None = None
    ) -> tuple[Array, np.ndarray, np.ndarray]:
        """The prepared columns of an array in memory, the mean and the scale; weights multiply the rows by their roots."""
        average = _average(X, weights)
        centred = X - like(average, X)
        variance = _average(centred * centred, weights)
        mean, factor, scale = self.parts(average, variance, eps(X))
        Z = centred if self.center else X
        Z = Z if np.all(factor == 1.0) else Z * like(factor, X)
        return (Z if weights is None else Z * like(np.sqrt(weights), X)[:, None]), mean, scale


def _average(X: Array, weights: np.ndarray | None) -> np.ndarray:
    """The weighted mean of the rows, in float64."""
    xp = namespace(X)
    rows = X if weights is None else X * like(weights, X)[:, None]
    return host(xp.sum(rows, axis=0, dtype=xp.float64)) / (
        X.shape[0] if weights is None else weights.sum()
    )
