"""Probes: blocks Z with E[ZZᵀ]/M = I, from which traces and diagonals are estimated.

Signs give the least variance among independent entries; a complete Hadamard block or the identity
gives the exact value by the same code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._array import Array, like


class Probes(Protocol):
    """A way to draw an n × M block of probes."""

    def draw(self, n: int, rng: np.random.Generator, reference: Array) -> Array:
        """A fresh block, of the library and device of the reference."""
        ...


@dataclass(frozen=True)
class Rademacher:
    """Independent random signs.

    They are the probes z of Lemma 3.1 and Lemma 3.2.

    Examples
    --------
    >>> from landmarks.linalg.probes import Rademacher
    >>> np.unique(Rademacher(4).draw(6, np.random.default_rng(0), np.zeros(0))).tolist()
    [-1.0, 1.0]
    """

    count: int = 10

    def draw(self, n: int, rng: np.random.Generator, reference: Array) -> Array:
        return like(2.0 * rng.integers(0, 2, size=(n, self.count)) - 1.0, reference)


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


@dataclass(frozen=True)
class Identity:
    """The scaled identity √n · I, for which ZZᵀ/M = I holds exactly: values have no noise."""

    def draw(self, n: int, rng: np.random.Generator, reference: Array) -> Array:
        return like(np.sqrt(n) * np.eye(n), reference)
