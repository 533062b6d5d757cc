"""The rows W, CΩW (and CΩCΩW) of a choice, with pending changes that one product applies.

A drop or an addition changes C by ± b bᵀ and W by t bᵀ. With the vectors in B, their signs in S and
the t in T, the residual is C + B S Bᵀ and the rows are W + T Bᵀ. The rows are large, so several
changes are applied at a time.
"""

from __future__ import annotations

import numpy as np

from .._array import Array, add_product, host, like, namespace, take, zeros
from ..operators.pair import Pair
from ..runs.state import State

MOST = 32  # most pending changes; also at most a quarter of the members
CLEAN = 1e-10  # relative to a column: what rounding may leave of it at the members


class Rows(State):
    """The rows of the places, and the waiting changes, with C as it was when none waited.

    blocks : W, CΩW (and CΩCΩW), one row per place, zero where it is free.
    seated : the member at each place when the blocks last took in changes.
    images : B, CΩB (and CΩCΩB), one row per change.
    T : one row per place. emptied : the places whose member was dropped.
    """

    def __init__(self, size: int, depth: int, pair: Pair):
        self.pair = pair
        self.operator = operator = pair.operator
        reference, n = operator.like, operator.n
        self.blocks = [zeros((size, n), reference) for _ in range(depth + 1)]
        self.seated = np.full(size, -1, dtype=np.int64)
        capacity = min(MOST, max(2, size // 4))
        self.images = [zeros((capacity, n), reference) for _ in range(depth + 1)]
        self.signs = np.zeros(capacity)
        self.T = np.zeros((size, capacity))
        self.emptied = np.zeros(size, dtype=bool)
        self.count = 0
        self._column: tuple[int, Array] = (-1, None)  # the last column of C that was computed

    @property
    def full(self) -> bool:
        """Whether no other change can wait."""
        return self.count == len(self.signs)

    def set(self, found: list[Array], members: np.ndarray) -> None:
        """Set the rows of the first places; the others become zero."""
        for block, rows in zip(self.blocks, found, strict=True):
            block[: rows.shape[0], :] = rows
            block[rows.shape[0] :, :] = 0.0
        self.seat(members)

    def copy_to(self, other: Rows) -> None:
        """Put the same rows into the memory of another, which waits for nothing."""
        for block, mine in zip(other.blocks, self.blocks, strict=True):
            block[:, :] = mine
        other.seat(self.seated)

    def move(self, i: int, place: int) -> None:
        """Move the row at place i to a free place."""
        for block in self.blocks:
            block[place, :] = block[i, :] + 0.0
            block[i, :] = 0.0
        self.seated[place], self.seated[i] = self.seated[i], -1

    def append(self, sign: float, x: list[Array], t: np.ndarray) -> None:
        """C also changes by sign · x₀x₀ᵀ and W by t x₀ᵀ; x = [b, CΩb, (CΩCΩb)]."""
        for block, image in zip(self.images, x, strict=True):
            block[self.count, :] = image
        self.signs[self.count] = sign
        self.T[:, self.count] = t
        self.count += 1

    def empty(self, place: int) -> None:
        """The row of that place becomes zero."""
        self.emptied[place] = True
        self.T[place] = 0.0

    def settle(self, members: np.ndarray) -> None:
        """Put the changes in, after which no change waits.

        W + T Bᵀ; then CΩW + T (CΩB)ᵀ + M Bᵀ with M = WΩB S, the new W; then the last likewise.
        """
        if self.count == 0:
            return
        B = [block[: self.count, :] for block in self.images]
        signs = like(self.signs[: self.count], B[0])
        factors = [like(self.T[:, : self.count], B[0])]
        for p, block in enumerate(self.blocks):
            for place in np.flatnonzero(self.emptied):
                block[int(place), :] = 0.0
            for factor, image in zip(factors, reversed(B[: p + 1]), strict=True):
                add_product(block, factor, image)
            if p + 1 < len(self.blocks):
                factors.append((block @ self.pair.weighed(B[0].T)) * signs)
        self.seat(members)

    def seat(self, members: np.ndarray) -> None:
        """The blocks are those of the members; no change waits."""
        self.count = 0
        self.T[:] = 0.0
        self.emptied[:] = False
        self.seated = members.copy()
        self._column = (-1, None)

    def row(self, place: int) -> list[Array]:
        """The rows of one place with the changes of W, but with C as it was."""
        t = like(self.T[place, : self.count], self.blocks[0])
        found = [t @ block[: self.count, :] for block in self.images]
        if self.emptied[place]:
            return found
        return [block[place, :] + change for block, change in zip(self.blocks, found, strict=True)]

    def column(self, j: int) -> np.ndarray:
        """Column j of W with its changes, on the host."""
        changes = self.T[:, : self.count] @ host(self.images[0][: self.count, j])
        return np.where(self.emptied, 0.0, host(self.blocks[0][:, j])) + changes

    def weights(self, j: int) -> Array:
        """Row j of B: how far each change that waits touches column j."""
        return self.images[0][: self.count, j]

    def dots(self, x: Array) -> Array:
        """BᵀΩx."""
        return self.images[0][: self.count, :] @ self.pair.weighed(x)

    def correction(self, weights: Array, power: int = 0) -> Array:
        """(CΩ)^p B S weights."""
        signed = like(self.signs[: self.count], weights) * weights
        return signed @ self.images[power][: self.count, :]

    def residual_column(self, j: int) -> Array:
        """C_:j as it was: K_:j − Wᵀ K_Sj."""
        if self._column[0] != j:
            self._column = (j, self.without_members(self.operator.columns([j])[:, 0]))
        return self._column[1]

    def without_members(self, u: Array) -> Array:
        """u − Wᵀu_S; without noise again where rounding in W left something of u at S."""
        places = np.maximum(self.seated, 0)
        if self.pair.noise is not None:
            return u - take(u, places) @ self.blocks[0]
        largest = 0.0
        for _ in range(2):
            at_members = take(u, places)
            size = float(namespace(u).max(namespace(u).abs(at_members)))
            if size <= CLEAN * largest:
                break
            largest = max(largest, size)
            u = u - at_members @ self.blocks[0]
        return u
