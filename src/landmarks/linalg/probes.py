"""Probes: blocks Z with E[ZZᵀ]/M = I, from which traces and diagonals are estimated.

Signs give the least variance among independent entries; the identity gives the exact value by the
same code. A row of signs depends only on a key and its number (`operators.parts`).
"""

from dataclasses import dataclass

import numpy as np

from .._array import Array, like
from ..operators.parts import signs


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
        """A fresh block of n rows, of the library and device of the reference."""
        return like(signs(self.key(rng), self.count, 0, n), reference)

    def key(self, rng: np.random.Generator) -> int:
        """A fresh key: blocks of two keys are independent."""
        return int(rng.integers(2**63))


@dataclass(frozen=True)
class Identity:
    """The scaled identity √n · I, for which ZZᵀ/M = I holds exactly: values have no noise."""

    def draw(self, n: int, rng: np.random.Generator, reference: Array) -> Array:
        return like(np.sqrt(n) * np.eye(n), reference)


Probes = Rademacher | Identity
