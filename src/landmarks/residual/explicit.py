"""The residual of columns kept as a matrix of its own: C = RᵀR with R = (I − QQᵀ)X.

There is no cancellation: a column is accurate to the rounding of its own length, and C_jj to twice
that, even if the error is far below the rounding of K.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._array import (
    Array,
    Indices,
    add_outer,
    add_product,
    column_dots,
    host,
    like,
    namespace,
    take,
    zeros,
)
from ..linalg.rebuilding import independent_basis
from ..operators.forms import Factored, gram_powers
from ..operators.pair import Pair
from ..runs.state import State


class Explicit(State):
    """R while columns are chosen and dropped; D holds the dual vectors, with DᵀX_S = I.

    With noise X has a row of zeros more for each of `size` places, and a member has its σ there, so
    that one chosen twice has two. sigma : √ν; None without noise.
    """

    def __init__(self, operator: Factored, size: int, pair: Pair | None = None):
        self.operator = operator
        self.pair = pair or Pair(operator, operator.n)
        self.sigma = None if self.pair.noise is None else np.sqrt(self.pair.noise)
        self.size = 0 if self.sigma is None else size
        self.R = self._padded()
        self.D = zeros((self.R.shape[0], size), operator.like)

    def _padded(self) -> Array:
        """X with the rows of the noise, which are zero."""
        X = self.operator.X
        if self.sigma is None:
            return X
        return namespace(X).concat([X, zeros((self.size, X.shape[1]), X)])

    def columns(self, indices: Indices) -> Array:
        """The columns of C at the indices."""
        self.operator.ledger.add(columns=len(indices), entries=self.R.shape[0] * self.R.shape[1])
        return self.R.T @ take(self.R, indices, axis=1)

    def matmul(self, block: Array) -> Array:
        """C @ block."""
        entries = 2 * self.R.shape[0] * self.R.shape[1]
        self.operator.ledger.add(products=block.shape[1], entries=entries)
        return self.R.T @ (self.R @ block)

    def diagonals(self, depth: int) -> list[Array]:
        """diag C, diag CΩC and, for depth 2, diag CΩCΩC: sums of squares or of products."""
        return gram_powers(self.R, depth, self.pair.omega)

    def lengths(self) -> Array:
        """diag C."""
        return column_dots(self.R, self.R)

    def member(self, j: int, place: int) -> Array:
        """The column of candidate j as a member at a place, with its noise."""
        X = self.operator.X[:, j]
        if self.sigma is None:
            return X
        own = zeros((self.size,), X)
        own[place] = float(self.sigma[j])
        return namespace(X).concat([X, own])

    def members(self, indices: np.ndarray, places: np.ndarray) -> Array:
        """The columns of some members."""
        if self.sigma is None:
            return take(self.operator.X, indices, axis=1)
        columns = [
            self.member(int(j), int(p))[:, None] for j, p in zip(indices, places, strict=True)
        ]
        empty = zeros((self.R.shape[0], 0), self.operator.like)
        return namespace(empty).concat([empty, *columns], axis=1)

    def deflate(self, q: Array, v: Array) -> None:
        """R loses what lies along the unit vector q; v = Rᵀq."""
        self.own()
        add_outer(self.R, -q, v)

    def own(self) -> None:
        """Let R be a matrix of its own, which may change."""
        if self.R is self.operator.X:
            self.R = self.R + 0.0

    def direction(self, j: int, place: int, basis: Array | None = None) -> Array:
        """The unit vector of the residual of column j as a member at a place.

        basis : of the members; it is made orthogonal to that once more.
        """
        xp = namespace(self.R)
        q = self.R[:, j]
        if self.sigma is not None:
            q = q + 0.0
            q[self.operator.m + place] += float(self.sigma[j])
        q = q / xp.sqrt(xp.sum(q * q))
        if basis is None:
            return q
        q = q - basis @ (basis.T @ q)
        return q / xp.sqrt(xp.sum(q * q))

    def add(
        self, j: int, place: int, chosen: np.ndarray, places: np.ndarray, t: np.ndarray
    ) -> None:
        """Column j is chosen: its direction leaves R and joins the dual vectors as D + q tᵀ."""
        xp = namespace(self.R)
        q = self.direction(j, place)
        if len(chosen):
            dual = take(self.D, places, axis=1)
            q = q - self.members(chosen, places) @ (dual.T @ q)
            q = q / xp.sqrt(xp.sum(q * q))
        self.deflate(q, self.R.T @ q)
        add_outer(self.D, q, like(t, q))

    def drop(self, place: int, v: Array, t: np.ndarray) -> None:
        """The member at a place is dropped: what it alone explained, u vᵀ, comes back."""
        xp = namespace(self.R)
        u = self.D[:, place]
        u = u / xp.sqrt(xp.sum(u * u))
        add_outer(self.R, u, v)
        add_outer(self.D, u, like(t, u))
        self.D[:, place] = 0.0
        if self.sigma is not None:  # the row of its noise is free again
            self.R[self.operator.m + place, :] = 0.0
            self.D[self.operator.m + place, :] = 0.0

    def move(self, come_from: np.ndarray) -> None:
        """Each place gets what is kept of the one that it comes from."""
        self.D = take(self.D, come_from, axis=1)
        if self.sigma is not None:
            m = self.operator.m
            rows = np.concatenate([np.arange(m), m + come_from])
            self.R, self.D = take(self.R, rows), take(self.D, rows)

    def load(self, indices: np.ndarray, floor: np.ndarray, size: int) -> tuple[np.ndarray, Array]:
        """Recompute the residual for indices: the independent ones, and W = DᵀX of them."""
        X = host(self.members(indices, np.arange(len(indices))))
        kept, Q, T = independent_basis(X, floor[indices])
        if self.sigma is not None and len(kept) < len(indices):
            return self.load(indices[kept], floor, size)  # the rows of the noise follow the places
        dual = scipy.linalg.solve_triangular(T, Q.T, check_finite=False).T if len(kept) else Q
        whole = self._padded()
        self.D = zeros((whole.shape[0], size), self.operator.like)
        dual, basis = like(dual, self.operator.like), like(Q, self.operator.like)
        self.D[:, : len(kept)] = dual
        self.R = whole + 0.0
        for _ in range(2):
            add_product(self.R, -basis, basis.T @ self.R)
        return indices[kept], dual.T @ whole
