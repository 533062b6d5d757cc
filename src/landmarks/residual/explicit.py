"""The residual of columns kept as a matrix of its own: C = RᵀR with R = (I − QQᵀ)X.

There is no cancellation: a column is accurate to the rounding of its own length, and C_jj to twice
that, even if the error is far below the rounding of K.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._array import Array, Indices, add_outer, column_dots, host, like, namespace, take, zeros
from ..operators.forms import Factored, gram_powers
from ..runs.state import State


class Explicit(State):
    """R while columns are chosen and dropped; D holds the dual vectors, with DᵀX_S = I."""

    def __init__(self, operator: Factored, size: int):
        self.operator = operator
        self.R = operator.X
        self.D = zeros((operator.m, size), operator.like)

    def copy_to(self, other: Explicit) -> None:
        """Put the same numbers into the memory of another residual."""
        if other.R is other.operator.X:
            other.R = self.R + 0.0
        else:
            other.R[:, :] = self.R
        other.D[:, :] = self.D

    def columns(self, indices: Indices) -> Array:
        """The columns of C at the indices."""
        self.operator.ledger.add(columns=len(indices), entries=self.R.shape[0] * self.R.shape[1])
        return self.R.T @ take(self.R, indices, axis=1)

    def matmul(self, block: Array) -> Array:
        """C @ block."""
        entries = 2 * self.R.shape[0] * self.R.shape[1]
        self.operator.ledger.add(products=block.shape[1], entries=entries)
        return self.R.T @ (self.R @ block)

    def diagonals(self, powers: int) -> list[Array]:
        """diag C, diag C² and, for two powers, diag C³, each a sum of squares or of products."""
        return gram_powers(self.R, powers)

    def lengths(self) -> Array:
        """diag C."""
        return column_dots(self.R, self.R)

    def deflate(self, q: Array, v: Array) -> None:
        """R loses what lies along the unit vector q; v = Rᵀq."""
        self.own()
        add_outer(self.R, -q, v)

    def own(self) -> None:
        """Let R be a matrix of its own, which may change."""
        if self.R is self.operator.X:
            self.R = self.R + 0.0

    def direction(self, j: int, basis: Array) -> Array:
        """The unit vector of the residual of column j, orthogonal to the basis once more."""
        xp = namespace(self.R)
        q = self.R[:, j]
        q = q / xp.sqrt(xp.sum(q * q))
        q = q - basis @ (basis.T @ q)
        return q / xp.sqrt(xp.sum(q * q))

    def add(self, j: int, chosen: np.ndarray, places: np.ndarray, t: np.ndarray) -> None:
        """Column j is chosen: its direction leaves R and joins the dual vectors as D + q tᵀ."""
        xp = namespace(self.R)
        q = self.R[:, j]
        q = q / xp.sqrt(xp.sum(q * q))
        if len(chosen):
            dual = take(self.D, places, axis=1)
            q = q - take(self.operator.X, chosen, axis=1) @ (dual.T @ q)
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

    def load(self, indices: np.ndarray, floor: np.ndarray, size: int) -> tuple[np.ndarray, Array]:
        """Recompute the residual for indices: the independent ones, and W = DᵀX of them."""
        X = host(take(self.operator.X, indices, axis=1))
        kept, Q, T = independent_basis(X, floor[indices])
        dual = scipy.linalg.solve_triangular(T, Q.T, check_finite=False).T if len(kept) else Q
        self.D = zeros((self.operator.m, size), self.operator.like)
        if len(kept):
            self.D[:, : len(kept)] = like(dual, self.operator.like)
        basis = like(Q, self.operator.like)
        R = self.operator.X - basis @ (basis.T @ self.operator.X)
        self.R = R - basis @ (basis.T @ R)
        return indices[kept], like(dual, self.operator.like).T @ self.operator.X


def independent_basis(
    X: np.ndarray, floor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns that those before them do not represent: positions, and the factors Q T.

    floor : the squared length up to which the residual of each column is rounding.
    """
    Q, T = scipy.linalg.qr(X, mode="economic", check_finite=False)
    if X.shape[1] <= X.shape[0] and np.all(np.diag(T) ** 2 > floor):
        return np.arange(X.shape[1]), Q, T
    kept = list[int]()
    basis = np.zeros((X.shape[0], 0))
    for j in range(X.shape[1]):
        r = X[:, j] - basis @ (basis.T @ X[:, j])
        r = r - basis @ (basis.T @ r)
        if r @ r > floor[j]:
            kept.append(j)
            basis = np.column_stack([basis, r / np.sqrt(r @ r)])
    chosen = np.asarray(kept, dtype=np.int64)
    return chosen, basis, np.triu(basis.T @ X[:, chosen])
