"""A point of the dual problem, and the matrices that its bound is made of."""

from __future__ import annotations

from typing import NamedTuple

from ..._array import Array, namespace


class Point(NamedTuple):
    """A point of the dual problem: log D, θ, μ (by candidate), R and E (candidates × n)."""

    logD: Array
    theta: Array
    mu: Array
    R: Array
    E: Array

    def flat(self) -> Array:
        """All numbers in one vector."""
        xp = namespace(self.E)
        return xp.concat([xp.reshape(part, (-1,)) for part in self])

    @classmethod
    def of(cls, x: Array, candidates: int) -> Point:
        """The point of a vector."""
        xp, c = namespace(x), candidates
        rest = xp.reshape(x[3 * c :], (2, c, -1))
        return cls(x[:c], x[c : 2 * c], x[2 * c : 3 * c], rest[0, ...], rest[1, ...])


class Pieces(NamedTuple):
    """What the bound is made of: L, L̂ = UL, Q = L⁻¹Uᵀ, H = Q(K − Diag μ − D^½R), and J, T, c."""

    L: Array
    Lhat: Array
    Q: Array
    H: Array
    J: Array
    T: Array
    c: Array


def rows(A: Array, B: Array) -> Array:
    """The inner products of the rows of A with those of B."""
    return namespace(A).sum(A * B, axis=1)


def weights(point: Point, D: Array, Lhat: Array, T: Array) -> Array:
    """c: what choosing each candidate costs the bound."""
    xp = namespace(D)
    s, T = xp.sin(point.theta), T[:, : D.shape[0]]
    c = 2 * point.mu - D + rows(point.R, point.R)
    c = c + 2 * rows(Lhat, (s[:, None] * T).T) - rows(Lhat * s, Lhat * s)
    return c - xp.sum(T * T, axis=0)
