"""Where the ascent of the dual bound begins: an analytic centre, then reweighted least squares."""

import math
import time

import numpy as np

from ..._array import (
    Array,
    add_diagonal,
    cholesky,
    diagonal,
    host,
    identity,
    like,
    namespace,
    solve_cholesky,
    zeros,
)
from .bound import Dual, Point, rows, water_filling

SINGULAR = 1e-11  # least eigenvalue, at a unit diagonal, of columns that count as independent
NEWTON, STEPS = 30, 12  # steps to the analytic centre, and of the reweighting
MARGIN = 1.1  # a step is shortened unless a step longer by this factor is allowed
FLOOR = 1e-6  # least weight that the reweighting divides by


def analytic_centre(K: Array, end: float = math.inf) -> Array | None:
    """D > 0 that maximises log det(K − D) + Σ log D, by Newton's method; None if K is singular.

    end : the time after which there are no more steps, apart from the first five.
    """
    xp = namespace(K)
    scale = xp.sqrt(diagonal(K))
    if not bool(xp.all(scale > 0)):
        return None
    K = K / scale[:, None] / scale[None, :]
    if float(xp.linalg.eigvalsh(K)[0]) < SINGULAR:
        return None
    D = 0.5 / diagonal(xp.linalg.inv(K)) / K.shape[0]
    for number in range(NEWTON):
        if number >= 5 and time.monotonic() > end:
            break
        Q = xp.linalg.inv(add_diagonal(K, -D))
        gradient = 1 - D * diagonal(Q)
        curvature = add_diagonal((D[:, None] * Q) * (Q * D), 1.0)
        factor = cholesky(curvature)
        if factor is None:
            break
        change = solve_cholesky(factor, gradient[:, None])[:, 0]
        step = damped(K, D, change)
        D = D * xp.exp(step * change)
        if step == 0.0 or float(xp.max(xp.abs(change))) < 1e-3:
            break
    return D * scale**2


def damped(K: Array, D: Array, change: Array) -> float:
    """The largest of 1, ½, ¼ … by which log D may move so that K − D stays positive definite.

    A move longer by MARGIN must do so too: at the edge the next step would be lost to rounding.
    """
    xp = namespace(K)
    step = 1.0 / max(1.0, float(xp.max(xp.abs(change))))
    while step > 1e-6:
        if cholesky(add_diagonal(K, -D * xp.exp(MARGIN * step * change))) is not None:
            return step
        step /= 2
    return 0.0


def starting_point(dual: Dual, end: float = math.inf, angle: float = 0.3) -> Point | None:
    """A dual point from a dozen steps (z, Y) → B → (z, Y) of the primal relaxation.

    end : the time after which there are no more steps, apart from the first three.
    """
    c, n, k, xp = dual.candidates, dual.K.shape[0], dual.k, namespace(dual.K)
    own = dual.K[:c, :c]
    D = analytic_centre(own, end)
    if D is None:
        return None
    G, V = add_diagonal(own, -D), identity(n, n, own)
    z, y = zeros(c, own) + k / c, zeros(n, own) + k / n
    for step in range(STEPS):
        if step >= 3 and time.monotonic() > end:
            break
        B = coefficients(D / z, G, y, V, dual.K[:c, :])
        z = filled(D * rows(B, B), k)
        values, V = xp.linalg.eigh(B.T @ G @ B)
        y = filled(values, k)
    B = coefficients(D / z, G, y, V, dual.K[:c, :])
    R = xp.sqrt(D)[:, None] * B / z[:, None] * (1 - dual.own)
    mu, theta = D * rows(B, dual.own) / z, zeros(c, own) + angle
    point = Point(xp.log(D), theta, mu, R, zeros((c, n), own))
    pieces = dual.pieces(point)
    return None if pieces is None else point._replace(E=math.tan(angle) * pieces.H)


def filled(squares: Array, k: int) -> Array:
    """The weights that water filling gives to the roots of some squares, at least FLOOR."""
    roots = np.sqrt(np.maximum(host(squares), 0.0))
    return like(np.maximum(water_filling(roots, k), FLOOR), squares)


def coefficients(d: Array, G: Array, y: Array, V: Array, K: Array) -> Array:
    """B with Diag(d) B + G B Y⁻¹ = K, Y = V diag(y) Vᵀ."""
    xp = namespace(K)
    root = xp.sqrt(d)
    values, P = xp.linalg.eigh(G / root[:, None] / root[None, :])
    inner = P.T @ ((K @ V) / root[:, None])
    inner = inner / (1 + xp.where(values > 0, values, 0.0)[:, None] / y[None, :])
    return ((P @ inner) / root[:, None]) @ V.T
