"""Errors on rows that were held out, by fold and k, and the k that they suggest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Errors on held-out rows as a part of their total: one row per fold, one column per k.

    Attributes
    ----------
    ks : the sizes, rising.
    errors : the errors, of shape (folds, sizes).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12))
    >>> X += 0.05 * rng.standard_normal((60, 12))
    >>> curve = lm.held_out(X, range(1, 7))
    >>> curve.ks.tolist(), curve.errors.shape
    ([1, 2, 3, 4, 5, 6], (5, 6))
    >>> bool(curve.mean[2] < 0.02 < curve.mean[1])
    True
    """

    ks: np.ndarray
    errors: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean over the folds, for each k."""
        return self.errors.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """The standard error of the mean, for each k."""
        return self.errors.std(axis=0, ddof=1) / np.sqrt(len(self.errors))

    @property
    def best(self) -> int:
        """The k of the lowest mean."""
        return int(self.ks[np.argmin(self.mean)])

    @property
    def one_standard_error(self) -> int:
        """The smallest k whose mean is within one standard error of the lowest (Breiman et al.,
        CART, 1984).
        """
        lowest = int(np.argmin(self.mean))
        return int(self.ks[np.argmax(self.mean <= self.mean[lowest] + self.standard_error[lowest])])
