"""Changes of C and W that wait to be put into the rows, all by one matrix product.

A drop or an addition changes C by ± b bᵀ and W by t bᵀ. With the vectors in B, their signs in S and
the t in T, the residual is C + B S Bᵀ and the rows are W + T Bᵀ. The rows W, CW (and C²W) are
large, so they take in several changes at a time.
"""

from __future__ import annotations

import numpy as np

from .._array import Array, add_product, host, like, zeros
from ..runs.state import State

MOST = 32  # changes that may wait, and no more than a quarter of the members


class Pending(State):
    """The waiting changes, with C as it was when the rows last took any in.

    images : B, CB (and C²B), one row per change.
    T : one row per place. emptied : the places whose member was dropped.
    """

    def __init__(self, size: int, n: int, powers: int, reference: Array):
        capacity = min(MOST, max(2, size // 4))
        self.images = [zeros((capacity, n), reference) for _ in range(powers + 1)]
        self.signs = np.zeros(capacity)
        self.T = np.zeros((size, capacity))
        self.emptied = np.zeros(size, dtype=bool)
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether no other change can wait."""
        return self.count == len(self.signs)

    def append(self, sign: float, x: list[Array], t: np.ndarray) -> None:
        """C also changes by sign · x₀x₀ᵀ and W by t x₀ᵀ; x = [b, Cb, (C²b)]."""
        for block, image in zip(self.images, x, strict=True):
            block[self.count, :] = image
        self.signs[self.count] = sign
        self.T[:, self.count] = t
        self.count += 1

    def empty(self, place: int) -> None:
        """The row of that place becomes zero."""
        self.emptied[place] = True
        self.T[place] = 0.0

    def row(self, rows: list[Array], place: int) -> list[Array]:
        """The rows of one place with the changes of W, but with C as it was."""
        t = like(self.T[place, : self.count], rows[0])
        found = [t @ block[: self.count, :] for block in self.images]
        if self.emptied[place]:
            return found
        return [row[place, :] + change for row, change in zip(rows, found, strict=True)]

    def column(self, W: Array, j: int) -> np.ndarray:
        """Column j of W with its changes, on the host."""
        changes = self.T[:, : self.count] @ host(self.images[0][: self.count, j])
        return np.where(self.emptied, 0.0, host(W[:, j])) + changes

    def correction(self, weights: Array, power: int = 0) -> Array:
        """C^p B S weights."""
        signed = like(self.signs[: self.count], weights) * weights
        return signed @ self.images[power][: self.count, :]

    def dots(self, x: Array) -> Array:
        """Bᵀx."""
        return self.images[0][: self.count, :] @ x

    def put_into(self, rows: list[Array]) -> None:
        """Change the rows, after which no change waits.

        W + T Bᵀ; then CW + T (CB)ᵀ + M Bᵀ with M = W B S, the new W; then C²W in the same way.
        """
        r = self.count
        B = [block[:r, :] for block in self.images]
        signs = like(self.signs[:r], B[0])
        factors = [like(self.T[:, :r], B[0])]
        for p, block in enumerate(rows):
            for place in np.flatnonzero(self.emptied):
                block[int(place), :] = 0.0
            for factor, image in zip(factors, reversed(B[: p + 1]), strict=True):
                add_product(block, factor, image)
            if p + 1 < len(rows):
                factors.append((block @ B[0].T) * signs)
        self.clear()

    def clear(self) -> None:
        """Forget the waiting changes."""
        self.count = 0
        self.T[:] = 0.0
        self.emptied[:] = False
