"""The residual C = (K⁻¹ + D)⁻¹ of a weighted choice: leverages, and what each column would gain (docs/annealed.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from ..._array import (
    Array,
    Indices,
    add_outer,
    cholesky,
    host,
    like,
    namespace,
    solve_triangular,
    take,
)
from ...operators.base import Operator, densify
from ...residual.explicit import Factored
from ...residual.powers import gain
from ...residual.residual import floor
from ...runs.state import State


@dataclass(frozen=True)
class Diagonals:
    """c = diag C, a = diag C² and, for the Frobenius criterion, b = diag C³, on the host."""

    c: np.ndarray
    a: np.ndarray
    b: np.ndarray | None = None


class Covariance(Protocol):
    """A matrix K that gives the diagonals of C for its n weights d ≥ 0, and can be conditioned.

    floor : the diagonal entries at which a column counts as represented.
    """

    n: int
    diagonal: np.ndarray
    floor: np.ndarray

    def diagonals(self, d: np.ndarray, *, cubes: bool = False) -> Diagonals:
        """diag C, diag C² and, with cubes, diag C³."""
        ...

    def condition(self, j: int, cubes: bool) -> float:
        """Column j is chosen: K becomes K − v vᵀ, v = K_:j/√K_jj; returns what the error loses."""
        ...


def jump_gains(diagonals: Diagonals, d: np.ndarray) -> np.ndarray:
    """By how much the objective differs between column j out and column j in, the other columns as they are."""
    rho = without_own(diagonals.c, d)
    c0 = diagonals.c / rho
    c0 = np.maximum(
        c0, np.finfo(float).eps * float(np.max(c0)) or 1.0
    )  # of a column that the others represent only rounding is left
    gains = diagonals.a / (rho**2 * c0)
    if diagonals.b is None:
        return gains
    return 2 * (diagonals.b + d * diagonals.a**2 / rho) / (rho**2 * c0) - gains**2


def without_own(c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """ρ = 1 − d c, so that c/ρ is diag C with the column's own weight taken away."""
    return np.maximum(1 - d * c, 1e-6)


class Stored(State):
    """K as a stored matrix: C = K − GᵀG with G = L⁻¹ R K_A.

    A are the columns of positive weight, R² = D and LLᵀ = I + R K_AA R.
    """

    def __init__(self, K: Array, floor: np.ndarray):
        self.K = K + 0.0
        self.n = K.shape[0]
        self.diagonal = _float64(namespace(K).linalg.diagonal(K))
        self.floor = floor

    def diagonals(self, d: np.ndarray, *, cubes: bool = False) -> Diagonals:
        C = self.residual(d)
        xp = namespace(C)
        squares = xp.sum(C * C, axis=0)
        third = xp.sum(C * (C.T @ C), axis=0) if cubes else None
        return _on_host(xp.linalg.diagonal(C), squares, third)

    def residual(self, d: np.ndarray) -> Array:
        """C itself."""
        active = np.flatnonzero(d > 0)
        r = like(np.sqrt(d[active]), self.K)
        rows = r[:, None] * take(self.K, active)
        G = solve_triangular(shifted_factor(take(rows, active, axis=1) * r[None, :]), rows)
        return self.K - G.T @ G

    def condition(self, j: int, cubes: bool) -> float:
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        column = self.K[:, j] + 0.0
        xp = namespace(column)
        squares = float(xp.sum(column * column))
        third = float(xp.sum(column * (self.K @ column))) if cubes else None
        fall = gain(float(column[j]), squares, third)
        v = column / float(column[j]) ** 0.5
        add_outer(self.K, -v, v)
        self.diagonal = _float64(xp.linalg.diagonal(self.K))
        self.diagonal[j] = 0.0
        return fall


class Explicit(State):
    """K = XᵀX by a factor of few rows: C = PᵀP with P = L⁻¹X, LLᵀ = I + X D Xᵀ."""

    def __init__(self, X: Array, floor: np.ndarray):
        self.X = X
        self.n = X.shape[1]
        self.floor = floor
        self._measure()

    def _measure(self) -> None:
        self.diagonal = _float64(namespace(self.X).sum(self.X * self.X, axis=0))
        self.gram = self.X @ self.X.T

    def diagonals(self, d: np.ndarray, *, cubes: bool = False) -> Diagonals:
        xp = namespace(self.X)
        active = np.flatnonzero(d > 0)
        weighted = take(self.X, active, axis=1) * like(np.sqrt(d[active]), self.X)[None, :]
        L = shifted_factor(weighted @ weighted.T)
        P = solve_triangular(L, self.X)
        Q = solve_triangular(L, solve_triangular(L, self.gram).T) @ P  # PPᵀP
        third = xp.sum(Q * Q, axis=0) if cubes else None
        return _on_host(xp.sum(P * P, axis=0), xp.sum(P * Q, axis=0), third)

    def condition(self, j: int, cubes: bool) -> float:
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        xp = namespace(self.X)
        x = self.X[:, j]
        image = self.gram @ x
        third = float(xp.sum(image * image)) if cubes else None
        fall = gain(self.diagonal[j], float(xp.sum(x * image)), third)
        q = x / xp.sqrt(xp.sum(x * x))
        self.X = self.X - q[:, None] * (q @ self.X)[None, :]
        self._measure()
        self.diagonal[j] = 0.0
        return fall


class Candidates(State):
    """Some columns B, rising, of a K that is not stored.

    The diagonals over B are exact from K_BB, (K²)_BB and (K³)_BB alone. The squares cost |B| columns
    of K, the cubes |B| products besides; later work has no part of length n.
    """

    def __init__(self, operator: Operator, indices: Indices, floor: np.ndarray, cubes: bool):
        self.n = len(indices)
        self.floor = floor
        self.powers = powers(operator, np.asarray(indices), cubes=cubes)
        self.diagonal = np.maximum(np.diag(self.powers[0]), 0.0)

    def diagonals(self, d: np.ndarray, *, cubes: bool = False) -> Diagonals:
        active = np.flatnonzero(d > 0)
        r = np.sqrt(d[active])[:, None]
        L = shifted_factor(r * self.powers[0][np.ix_(active, active)] * r.T)
        G, H, *H3 = (_solve(L, r * power[active]) for power in self.powers)
        T, *T3 = (_solve(L, r * block[:, active].T) for block in (H, *H3))  # L⁻¹R(K²)_AA R L⁻ᵀ
        c = self.diagonal - _dots(G, G)
        a = np.diag(self.powers[1]) - 2 * _dots(G, H) + _dots(G, T @ G)
        if not cubes:
            return _on_host(c, a, None)
        b = np.diag(self.powers[2]) - 2 * _dots(G, H3[0]) + _dots(G, T3[0] @ G)
        E = H - T @ G
        return _on_host(c, a, b - _dots(E, E))

    def condition(self, j: int, cubes: bool) -> float:
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        entries = [float(power[j, j]) for power in self.powers]
        fall = gain(*entries)
        self.powers = conditioned(self.powers, j)
        self.diagonal = np.maximum(np.diag(self.powers[0]), 0.0)
        self.diagonal[j] = 0.0
        return fall


def conditioned(powers: list[np.ndarray], j: int) -> list[np.ndarray]:
    """The blocks of C, C² (and C³) after C became C − v vᵀ, v = C_:j/√C_jj.

    C²: C² − v xᵀ − x vᵀ + ‖v‖² v vᵀ with x = Cv; C³ follows in the same way with y = C²v.
    """
    s = powers[0][j, j]
    v, x, *rest = (power[:, j] / np.sqrt(s) for power in powers)
    vv = powers[1][j, j] / s
    cross = np.multiply.outer(v, x - 0.5 * vv * v)
    found = [powers[0] - np.multiply.outer(v, v), powers[1] - cross - cross.T]
    if rest:
        vCv = powers[2][j, j] / s
        cross = np.multiply.outer(v, rest[0] - vv * x - 0.5 * (vCv - vv * vv) * v)
        found.append(powers[2] - np.multiply.outer(x, x) - cross - cross.T)
    return found


def powers(operator: Operator, indices: Indices, *, cubes: bool = False) -> list[np.ndarray]:
    """The blocks K_SS, (K²)_SS and, with cubes, (K³)_SS, in float64 on the host."""
    columns = operator.columns(indices)
    parts = [take(columns, indices), columns.T @ columns]
    if cubes:
        parts.append(columns.T @ operator.matmul(columns))
    parts = [host(part).astype(np.float64) for part in parts]
    return [(part + part.T) / 2 for part in parts]


def covariance(operator: Operator, k: int) -> Covariance:
    """K in the form that costs least: by its factor where that has few rows, else stored."""
    floors = host(floor(operator, k)).astype(np.float64)
    if isinstance(operator, Factored) or (operator.m is not None and 2 * operator.m < operator.n):
        return Explicit(operator.factor(), floors)
    return Stored(densify(operator), floors)


def shifted_factor(matrix: Array) -> Array:
    """The Cholesky factor of I + matrix; a larger multiple of I where rounding left the matrix indefinite."""
    identity = like(np.eye(matrix.shape[0]), matrix)
    factor, shift = cholesky(matrix + identity), 1.0
    while factor is None:
        shift *= 10.0
        factor = cholesky(matrix + shift * identity)
    return factor


def _solve(L: np.ndarray, block: np.ndarray) -> np.ndarray:
    return scipy.linalg.solve_triangular(L, block, lower=True, check_finite=False)


def _dots(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", left, right)


def _float64(array: Array) -> np.ndarray:
    return np.maximum(host(array).astype(np.float64), 0.0)


def _on_host(c: Array, a: Array, b: Array | None) -> Diagonals:
    return Diagonals(_float64(c), _float64(a), None if b is None else _float64(b))
