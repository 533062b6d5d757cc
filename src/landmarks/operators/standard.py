"""Centred and scaled columns: what is taken out of them, and the arrays that remain."""

from dataclasses import dataclass

import numpy as np

from .._array import Array, eps, like
from .base import Operator
from .sums import Moments, moments_of


@dataclass(frozen=True, eq=False)
class Prepared:
    """The operator of the columns, what was subtracted, the scale, and the degrees of freedom.

    mean_share : the share of the sum of squares that the means hold, if they were not subtracted;
        None where the operator has the columns from which to compute it.
    constant : the columns that are zero once centred, since they hold one value.
    rows : the rows that were kept; None for all.
    left_out : how many rows were left out, and of how many.
    filled : how many missing values were filled in.
    given : whether the user gave the operator. left_open : whether nothing was said about scales.
    symmetric : whether X was a symmetric matrix and not diagonal, so that it may be meant as a
        kernel matrix.
    """

    operator: Operator
    mean: np.ndarray
    scale: np.ndarray
    degrees: float
    mean_share: float | None = None
    constant: tuple[int, ...] = ()
    rows: np.ndarray | None = None
    left_out: tuple[int, int] = (0, 0)
    filled: int = 0
    given: bool = False
    left_open: bool = False
    symmetric: bool = False


def unprepared(operator: Operator) -> Prepared:
    """An operator whose columns stay as they are."""
    zeros, ones = (np.broadcast_to(value, operator.n) for value in (0.0, 1.0))  # no memory
    return Prepared(operator, zeros, ones, operator.m or 0)


@dataclass(frozen=True)
class Standard:
    """Whether each column is centred, and whether it is divided by its standard deviation."""

    center: bool = False
    scale: bool = False

    @property
    def plain(self) -> bool:
        """Whether the columns stay as they are."""
        return not (self.center or self.scale)

    def parts(
        self, mean: np.ndarray, variance: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean to subtract, the factor of each column (0 if it is constant), and the scale."""
        constant = variance <= (16 * accuracy * np.abs(mean)) ** 2
        scale = np.ones(len(mean))
        if self.scale:
            scale = np.where(constant, 1.0, np.sqrt(variance))
        if not self.center:
            return np.zeros(len(mean)), 1 / scale, scale
        return mean, np.where(constant, 0.0, 1 / scale), scale

    def of_array(
        self, X: Array, weights: np.ndarray | None = None
    ) -> tuple[Array, np.ndarray, np.ndarray]:
        """The prepared columns of an array, the mean and the scale; rows are times √weight."""
        mean, factor, scale = self.measured(X, weights)
        return self.applied(X, mean, factor, weights), mean, scale

    def measured(
        self, X: Array, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`parts` of the columns of an array of any library."""
        moments, power = moments_of(X, weights)
        mean, factor, scale = self.parts(moments.mean, moments.variance, eps(X))
        if self.scale:
            factor, scale = np.ldexp(factor, -power), np.ldexp(scale, power)
        return np.ldexp(mean, power), factor, scale

    def applied(
        self, X: Array, mean: np.ndarray, factor: np.ndarray, weights: np.ndarray | None = None
    ) -> Array:
        """The columns of an array less the mean, times the factor and √weight."""
        Z = np.ascontiguousarray(X) if type(X) is np.ndarray else X
        if self.center:
            Z = Z - like(mean, X)
        if not np.all(factor == 1.0):
            Z = Z * like(factor, X)
        if weights is not None:
            Z = Z * like(np.sqrt(weights), X)[:, None]
        return Z


def scaled_gram(moments: Moments, center: bool, factor: np.ndarray) -> np.ndarray:
    """The Gram matrix of the columns times their factors, symmetric to the last bit.

    If the moments have the diagonal of the scatter alone, so has the result.
    """
    K = moments.gram(center)
    if K.ndim == 1:
        return K * factor**2
    if np.any(factor != 1.0):
        K = K * factor[:, None] * factor[None, :]
    return (K + K.T) / 2


def zero_columns(factor: np.ndarray) -> tuple[int, ...]:
    """The columns whose factor is zero: they are constant."""
    return tuple(int(j) for j in np.flatnonzero(factor == 0))


def mean_share(moments: Moments) -> float:
    """The share of the mean squares of the columns that is due to their means."""
    means = float(np.sum(moments.mean**2))
    total = float(np.sum(moments.variance)) + (0.0 if moments.about_zero else means)
    return means / total if total > 0 else 0.0
