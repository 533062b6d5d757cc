"""The residual C = (K⁻¹ + D)⁻¹ of a weighted choice: leverages, and what each column would gain.

docs/annealed.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._array import (
    Array,
    Indices,
    add_outer,
    cholesky,
    double,
    host,
    like,
    namespace,
    solve_triangular,
    take,
)
from ...operators.base import Operator
from ...operators.forms import Factored, densify
from ...operators.pair import Pair
from ...residual.powers import gain
from ...residual.residual import floor
from ...runs.state import State


@dataclass(frozen=True)
class Diagonals:
    """c = diag C, a = diag C² and, for the Frobenius criterion, b = diag C³, on the host.

    error : of a target, which the diagonals do not give; None otherwise.
    """

    c: np.ndarray
    a: np.ndarray
    b: np.ndarray | None = None
    error: float | None = None


class Covariance(Protocol):
    """A matrix K that gives the diagonals of C for its n weights d ≥ 0, and can be conditioned.

    floor : the diagonal entries at which a column counts as represented.
    """

    n: int
    diagonal: np.ndarray
    floor: np.ndarray

    def diagonals(
        self, d: np.ndarray, at: np.ndarray | None = None, *, cubes: bool = False
    ) -> Diagonals:
        """diag C, diag C² and, with cubes, diag C³, at some columns or at all.

        at : rising; columns of positive weight are among them.
        """
        ...

    def condition(self, j: int, cubes: bool) -> float:
        """Column j is chosen: K becomes K − v vᵀ, v = K_:j/√K_jj; returns what the error loses."""
        ...


def jump_gains(
    diagonals: Diagonals, d: np.ndarray, lengths: np.ndarray | float | None = None
) -> np.ndarray:
    """By how much the objective differs between column j out and in, the others as they are.

    lengths : of which the rounding is left of a column that the others represent; None is the
        largest residual.
    """
    rho = without_own(diagonals.c, d)
    c0 = diagonals.c / rho
    lengths = float(np.max(c0)) if lengths is None else lengths
    rounding = np.finfo(float).eps * np.asarray(lengths)
    c0 = np.maximum(c0, np.where(rounding > 0, rounding, 1.0))
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

    def __init__(self, K: Array, floor: np.ndarray, pair: Pair):
        self.K = K + 0.0
        self.n = K.shape[0]
        self.pair = pair
        self.noise = np.zeros(self.n) if pair.noise is None else pair.noise
        self.diagonal = self._measured()
        self.floor = floor

    def _measured(self) -> np.ndarray:
        return _float64(namespace(self.K).linalg.diagonal(self.K)) + self.noise

    def diagonals(
        self, d: np.ndarray, at: np.ndarray | None = None, *, cubes: bool = False
    ) -> Diagonals:
        G, xp = self._factor(counting(d, self.noise)), namespace(self.K)
        weighed, rows = self.pair.weighed, slice(None) if at is None else at
        if at is None or len(at) == self.n:
            C = self.K - G.T @ G
            third = _dots(C, weighed(C).T @ weighed(C)) if cubes else None
            c = xp.linalg.diagonal(C)
        else:
            C = take(self.K, at, axis=1) - G.T @ take(G, at, axis=1)
            W = weighed(C)
            third = _dots(W, self.K @ W - G.T @ (G @ W)) if cubes else None
            c = xp.linalg.diagonal(take(C, at))
        found = _on_host(c, _dots(C, weighed(C)), third)
        if self.pair.plain:
            return found
        error = None
        if not cubes:
            own = xp.linalg.diagonal(self.K) - xp.sum(G * G, axis=0)
            error = self.pair.total(own)
        return measured(found, d[rows], self.noise[rows], error)

    def _factor(self, d: np.ndarray) -> Array:
        """G with C = K − GᵀG."""
        active = np.flatnonzero(d > 0)
        r = like(np.sqrt(d[active]), self.K)
        rows = r[:, None] * take(self.K, active)
        return solve_triangular(shifted_factor(take(rows, active, axis=1) * r[None, :]), rows)

    def condition(self, j: int, cubes: bool) -> float:
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        column, pair = self.K[:, j] + 0.0, self.pair
        squares = float(pair.dot(column, column))
        third = None
        if cubes:
            third = float(pair.dot(column, self.K @ pair.weighed(column)))
        pivot = float(column[j]) + float(self.noise[j])
        fall = gain(pivot, squares, third)
        v = column / pivot**0.5
        add_outer(self.K, -v, v)
        self.diagonal = self._measured()
        self.diagonal[j] = 0.0
        return fall


class Explicit(State):
    """K = XᵀX by a factor of few rows: C = PᵀP with P = L⁻¹X, LLᵀ = I + X D Xᵀ."""

    def __init__(self, X: Array, floor: np.ndarray, pair: Pair):
        self.X = X
        self.n = X.shape[1]
        self.floor = floor
        self.pair = pair
        self.noise = np.zeros(self.n) if pair.noise is None else pair.noise
        self.diagonal = _float64(_dots(X, X)) + self.noise
        self._gram: tuple[Array, Array] | None = None

    @property
    def gram(self) -> Array:
        """XΩXᵀ, made once for each X."""
        if self._gram is None or self._gram[0] is not self.X:
            self._gram = self.X, self.X @ self.pair.weighed(self.X.T)
        return self._gram[1]

    def diagonals(
        self, d: np.ndarray, at: np.ndarray | None = None, *, cubes: bool = False
    ) -> Diagonals:
        active, e = np.flatnonzero(d > 0), counting(d, self.noise)
        weighted = take(self.X, active, axis=1) * like(np.sqrt(e[active]), self.X)[None, :]
        L = shifted_factor(weighted @ weighted.T)
        P = solve_triangular(L, self.X if at is None else take(self.X, at, axis=1))
        inner = solve_triangular(L, solve_triangular(L, self.gram).T)  # PΩPᵀ
        Q = inner @ P
        found = _on_host(_dots(P, P), _dots(P, Q), _dots(Q, Q) if cubes else None)
        if self.pair.plain:
            return found
        rows = slice(None) if at is None else at
        error = None if cubes else float(np.trace(host(inner)))
        return measured(found, d[rows], self.noise[rows], error)

    def condition(self, j: int, cubes: bool) -> float:
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        xp = namespace(self.X)
        x = self.X[:, j]
        image = self.X @ self.pair.weighed(x @ self.X)
        third = float(xp.sum(image * image)) if cubes else None
        fall = gain(self.diagonal[j], float(xp.sum(x * image)), third)
        length, share = xp.sum(x * x), 1.0
        if self.noise[j] > 0:  # (I − β x xᵀ)² = I − x xᵀ/pivot
            share = 1 - float(np.sqrt(self.noise[j] / self.diagonal[j]))
        if float(length) > 0:
            q = x / xp.sqrt(length)
            self.X = self.X - _outer(share * q, q @ self.X)
        self.diagonal = _float64(_dots(self.X, self.X)) + self.noise
        self.diagonal[j] = 0.0
        return fall


class Candidates(State):
    """Some columns B, rising, of a K that is not stored.

    The diagonals over B follow exactly from K_BB, (K²)_BB and (K³)_BB. The squares cost |B| columns
    of K, the cubes also |B| products; later work has no part of length n. It is done on the device
    of K.
    """

    def __init__(self, operator: Operator, indices: Indices, floor: np.ndarray, cubes: bool):
        self.n = len(indices)
        self.floor = floor
        self.powers = powers(operator, np.asarray(indices), cubes=cubes)
        self.diagonal = self._measured()

    def _measured(self) -> np.ndarray:
        return _float64(namespace(self.powers[0]).linalg.diagonal(self.powers[0]))

    def diagonals(
        self, d: np.ndarray, at: np.ndarray | None = None, *, cubes: bool = False
    ) -> Diagonals:
        active = np.flatnonzero(d > 0)
        at = np.arange(self.n) if at is None else at
        r = like(np.sqrt(d[active]), self.powers[0])[:, None]
        squares = [take(take(power, at), at, axis=1) for power in self.powers]
        own = np.searchsorted(at, active)
        rows = [r * take(square, own) for square in squares]
        L = shifted_factor(take(rows[0], own, axis=1) * r.T)
        G, H, *H3 = _solve_all(L, rows)
        T, *T3 = _solve_all(L, [r * take(block, own, axis=1).T for block in (H, *H3)])
        c, a, *b = (namespace(r).linalg.diagonal(square) for square in squares)
        TG = T @ G  # T = L⁻¹R(K²)_AA R L⁻ᵀ
        c, a = c - _dots(G, G), a - _dots(G, 2 * H - TG)
        if not cubes:
            return _on_host(c, a, None)
        E = H - TG
        return _on_host(c, a, b[0] - _dots(G, 2 * H3[0] - T3[0] @ G) - _dots(E, E))

    def condition(self, j: int, cubes: bool) -> float:
        if self.diagonal[j] <= self.floor[j]:
            return 0.0
        fall = gain(*(float(power[j, j]) for power in self.powers))
        self.powers = conditioned(self.powers, j)
        self.diagonal = self._measured()
        self.diagonal[j] = 0.0
        return fall


def conditioned(powers: list[Array], j: int) -> list[Array]:
    """The blocks of C, C² (and C³) after C became C − v vᵀ, v = C_:j/√C_jj.

    C²: C² − v xᵀ − x vᵀ + ‖v‖² v vᵀ with x = Cv; C³ follows in the same way with y = C²v.
    """
    s = powers[0][j, j]
    v, x, *rest = (power[:, j] / s**0.5 for power in powers)
    vv = powers[1][j, j] / s
    cross = _outer(v, x - 0.5 * vv * v)
    found = [powers[0] - _outer(v, v), powers[1] - (cross + cross.T)]
    if rest:
        vCv = powers[2][j, j] / s
        cross = _outer(v, rest[0] - vv * x - 0.5 * (vCv - vv * vv) * v)
        found.append(powers[2] - _outer(x, x) - (cross + cross.T))
    return found


def powers(operator: Operator, indices: Indices, *, cubes: bool = False) -> list[Array]:
    """The blocks K_SS, (K²)_SS and, with cubes, (K³)_SS, in float64."""
    columns = operator.columns(indices)
    parts = [take(columns, indices), columns.T @ columns]
    if cubes:
        parts.append(columns.T @ operator.matmul(columns))
    parts = [double(part) for part in parts]
    return [(part + part.T) / 2 for part in parts]


def covariance(pair: Pair, k: int) -> Covariance:
    """K in the form that costs least: by its factor where that has few rows, else stored."""
    operator = pair.operator
    floors = host(floor(operator, k)).astype(np.float64)
    if isinstance(operator, Factored) or (operator.m is not None and 2 * operator.m < operator.n):
        return Explicit(operator.factor(), floors, pair)
    return Stored(densify(operator), floors, pair)


def counting(d: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """By how much candidates count that are measured with noise of variance ν + 1/d."""
    return d / (1 + d * noise)


def measured(found: Diagonals, d: np.ndarray, noise: np.ndarray, error: float | None) -> Diagonals:
    """The diagonals as `jump_gains` takes them, where a candidate has noise of its own.

    Without its own weight a candidate has the variance v = c/(1 − e c) + ν, and choosing it gains
    (CΩC)_jj/(1 − e c)²/v.
    """
    e = counting(d, noise)
    own = without_own(found.c, e)
    alone = found.c / own + noise
    rho = 1 / (1 + d * alone)
    a = found.a * (rho / own) ** 2
    if found.b is None:
        return Diagonals(alone * rho, a, None, error)
    b = (rho / own) ** 2 * (found.b + e * found.a**2 / own) - d * a**2 / rho
    return Diagonals(alone * rho, a, b, error)


def shifted_factor(matrix: Array) -> Array:
    """The Cholesky factor of I + matrix; of 10 I, 100 I, … where rounding left it indefinite."""
    identity = like(np.eye(matrix.shape[0]), matrix)
    factor, shift = cholesky(matrix + identity), 1.0
    while factor is None:
        shift *= 10.0
        factor = cholesky(matrix + shift * identity)
    return factor


def _solve_all(L: Array, blocks: list[Array]) -> list[Array]:
    """L⁻¹ times each of the blocks, which are equally wide: one solve."""
    width = blocks[0].shape[1]
    solved = solve_triangular(L, namespace(L).concat(blocks, axis=1))
    return [solved[:, i * width : (i + 1) * width] for i in range(len(blocks))]


def _dots(left: Array, right: Array) -> Array:
    """The inner products of the columns."""
    return namespace(left).sum(left * right, axis=0)


def _outer(left: Array, right: Array) -> Array:
    return left[:, None] * right[None, :]


def _float64(array: Array) -> np.ndarray:
    return np.maximum(host(array).astype(np.float64), 0.0)


def _on_host(c: Array, a: Array, b: Array | None) -> Diagonals:
    return Diagonals(_float64(c), _float64(a), None if b is None else _float64(b))
