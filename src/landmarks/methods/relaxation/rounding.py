"""From weights t to indices."""

from __future__ import annotations

import numpy as np


def above(t: np.ndarray, threshold: float) -> np.ndarray:
    """The indices with t > τ, as in Algorithm 1."""
    return np.flatnonzero(t > threshold)


def largest(t: np.ndarray, k: int) -> np.ndarray:
    """The k indices of largest weight, largest first; ties go to the lowest index."""
    return np.argsort(-t, kind="stable")[:k]
