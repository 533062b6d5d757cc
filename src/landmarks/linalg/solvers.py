"""Solvers of the systems L_t x = b: Cholesky, Woodbury, block conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
import scipy

from .._array import (
    Array,
    add_diagonal,
    cholesky,
    eps,
    host,
    like,
    namespace,
    solve_cholesky,
    zeros,
)
from ..errors import NotPSDError


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of a block of right-hand sides.

    steps : iterations, each one product per right-hand side.
    """

    x: Array
    steps: int = 0
    converged: bool = True


class Products(Protocol):
    """A symmetric positive definite system by its products alone."""

    def matmul(self, block: Array) -> Array: ...


class LinearSystem(Products, Protocol):
    """A system by its order, its products, and more where a solver asks for it."""

    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int | None: ...
    @property
    def ridge(self) -> Array: ...
    def dense(self) -> Array: ...
    def factor(self) -> Array: ...


Solve = Callable[[Array], Solution]


class Solver(Protocol):
    """A way to solve: `prepare` does what depends on the system only, and returns a solve."""

    def prepare(self, system: LinearSystem) -> Solve: ...


# Direct solvers: Cholesky of L_t, or Woodbury in the dimension of the rows of X.


@dataclass(frozen=True)
class Cholesky:
    """Solve by the Cholesky factor of the stored system."""

    def prepare(self, system: LinearSystem) -> Solve:
        L = shifted_cholesky(system.dense())
        return lambda block: Solution(solve_cholesky(L, block))


def shifted_cholesky(A: Array) -> Array:
    """The Cholesky factor; if rounding makes the matrix singular, it is shifted a little."""
    xp = namespace(A)
    largest = float(xp.max(xp.linalg.diagonal(A)))
    for lift in (0.0, 10.0, 1e3, 1e5):
        shift = lift * A.shape[0] * eps(A) * largest
        L = cholesky(A if lift == 0 else add_diagonal(A, shift))
        if L is not None:
            return L
    least = float(np.linalg.eigvalsh(host(A).astype(np.float64))[0])
    raise NotPSDError(
        "K is not positive semidefinite: L_t, definite for such a K, has the eigenvalue "
        f"{least:.3g}; check that K is a Gram or kernel matrix"
    )


@dataclass(frozen=True)
class Woodbury:
    """(BᵀB + R)⁻¹ = R⁻¹ − R⁻¹Bᵀ(I + BR⁻¹Bᵀ)⁻¹BR⁻¹ with B = XT (m × n) and R = δ(I − T²)."""

    def prepare(self, system: LinearSystem) -> Solve:
        B = system.factor()
        inverse = 1 / system.ridge
        L = shifted_cholesky(add_diagonal((B * inverse[None, :]) @ B.T, 1.0))

        def apply(block: Array) -> Array:
            scaled = inverse[:, None] * block
            return scaled - inverse[:, None] * (B.T @ solve_cholesky(L, B @ scaled))

        def solve(block: Array) -> Solution:
            x = apply(block)
            product = B.T @ (B @ x) + system.ridge[:, None] * x
            return Solution(x + apply(block - product))  # refined: R⁻¹ is large where t is near 1

        return solve


# Block conjugate gradients: all right-hand sides share one Krylov space; only products are needed.
#
# O'Leary, Linear Algebra Appl. 29 (1980); with orthonormal residuals as in Dubrulle, ETNA 12
# (2001), so that dependent or converged right-hand sides do no harm. SciPy's cg takes one right-
# hand side and does not tell an indefinite matrix from a solved system.


@dataclass(frozen=True)
class BlockCG:
    """Block conjugate gradients to a relative residual, from zero.

    The default of 1e-2 is far below the noise of ten probes; set it lower when the probes are
    exact.

    Examples
    --------
    >>> from landmarks.methods.relaxation.relaxed import System
    >>> from landmarks.linalg.solvers import BlockCG
    >>> system = System(lm.psd(np.diag([1.0, 2.0, 4.0])), t=np.full(3, 0.5), delta=1.0)
    >>> BlockCG(tolerance=1e-12).prepare(system)(np.eye(3)).x.round(6)
    array([[1.      , 0.      , 0.      ],
           [0.      , 0.8     , 0.      ],
           [0.      , 0.      , 0.571429]])
    """

    tolerance: float = 1e-2
    max_steps: int = 500

    def prepare(self, system: Products) -> Solve:
        return partial(self._solve, system)

    def _solve(self, system: Products, block: Array) -> Solution:
        xp = namespace(block)
        x = zeros(tuple(block.shape), block)
        scale = host(_column_norms(block)).astype(np.float64)
        scale[scale == 0] = 1.0
        Q, zeta = xp.linalg.qr(block)  # the residual is Q ζ, with orthonormal Q
        S, step = Q, 0
        residual = 1.0 if float(xp.max(xp.abs(zeta))) > 0 else 0.0
        while residual > self.tolerance and step < self.max_steps:
            step += 1
            AS = system.matmul(S)
            xi = like(_inverse_curvature(S, AS), S)
            x = x + S @ (xi @ zeta)
            Q, tau = xp.linalg.qr(Q - AS @ xi)
            S = Q + S @ tau.T
            zeta = tau @ zeta
            residual = float(np.max(host(_column_norms(zeta)) / scale))
        return Solution(x, step, residual <= self.tolerance)


def _column_norms(block: Array) -> Array:
    xp = namespace(block)
    return xp.sqrt(xp.sum(block * block, axis=0))


def _inverse_curvature(S: Array, AS: Array) -> np.ndarray:
    """(SᵀAS)⁻¹; a clearly negative eigenvalue of it shows that A is indefinite."""
    curvature = host(S.T @ AS).astype(np.float64)
    values, vectors = scipy.linalg.eigh((curvature + curvature.T) / 2, check_finite=False)
    largest = float(np.max(np.abs(values)))
    floor = S.shape[0] * eps(S) * largest
    if values[0] < -floor:
        raise NotPSDError(
            "K is not positive semidefinite: conjugate gradients met a direction of curvature "
            f"{values[0]:.3g} (the largest is {largest:.3g}); check the matrix or the product, or "
            "add a multiple of the identity"
        )
    return (vectors / np.maximum(values, max(floor, np.finfo(np.float64).tiny))) @ vectors.T


# The solver by the shape of the system: Woodbury, Cholesky or block conjugate gradients.


@dataclass(frozen=True)
class Automatic:
    """Choose again for every system, because it shrinks as columns drop out (Lemma 3.3)."""

    direct_below: int = 2000
    iterative: BlockCG = field(default_factory=BlockCG)

    def prepare(self, system: LinearSystem) -> Solve:
        if system.m is not None and 2 * system.m < system.n and system.m <= self.direct_below:
            return Woodbury().prepare(system)
        if system.n <= self.direct_below:
            return Cholesky().prepare(system)
        return self.iterative.prepare(system)
