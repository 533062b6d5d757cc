"""Exact probes other than the identity: all columns of a Hadamard matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from landmarks._array import Array, like


@dataclass(frozen=True)
class Hadamard:
    """Columns of a Hadamard matrix with random signs and order: exact when all are used.

    count : how many of the 2^p ≥ n columns to draw; None takes all.
    """

    count: int | None = None

    def draw(self, n: int, rng: np.random.Generator, reference: Array) -> Array:
        order = 1 << max(0, (n - 1).bit_length())
        columns = rng.permutation(order)[: self.count]
        parity = np.bitwise_count(np.arange(n)[:, None] & columns[None, :]) & 1
        signs = 2.0 * rng.integers(0, 2, size=(n, 1)) - 1.0
        return like(signs * (1.0 - 2.0 * parity), reference)
