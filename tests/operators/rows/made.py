"""Rows to read."""

from __future__ import annotations

import numpy as np

SMALL = 2**16  # bytes: less than X takes, so that it is not loaded


def correlated(m: int, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)) @ rng.standard_normal((n, n)) + rng.standard_normal(n)


X = correlated(3000, 7)
