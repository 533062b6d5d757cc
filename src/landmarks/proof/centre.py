"""Where the ascent of the dual bound begins: an analytic centre, then reweighted least squares."""

from __future__ import annotations

import numpy as np

from .dual import Dual, Point
from .fermi import water_filling

SINGULAR = 1e-11  # least eigenvalue at a unit diagonal for which columns count as independent
FLOOR = 1e-6  # of the weights that the reweighting divides by


def analytic_centre(K: np.ndarray, steps: int = 30) -> np.ndarray | None:
    """D > 0 that maximises log det(K − D) + Σ log D, by Newton's method; None if K is singular."""
    scale = np.sqrt(np.diagonal(K))
    if not np.all(scale > 0):
        return None
    K = K / scale[:, None] / scale[None, :]
    if np.linalg.eigvalsh(K)[0] < SINGULAR:
        return None
    D = 0.5 / np.diagonal(np.linalg.inv(K)) / len(K)
    for _ in range(steps):
        Q = np.linalg.inv(K - np.diag(D))
        gradient = 1 - D * np.diagonal(Q)
        curvature = np.eye(len(D)) + (D[:, None] * Q) * (Q * D)
        change = np.linalg.solve(curvature, gradient)
        step = damped(K, D, change)
        D = D * np.exp(step * change)
        if step == 0.0 or np.max(np.abs(change)) < 1e-3:
            break
    return D * scale**2


def damped(K: np.ndarray, D: np.ndarray, change: np.ndarray) -> float:
    """The largest of 1, ½, ¼ … by which log D may move so that K − D stays positive definite."""
    step = 1.0 / max(1.0, float(np.max(np.abs(change))))
    while step > 1e-6:
        try:
            np.linalg.cholesky(K - np.diag(D * np.exp(step * change)))
        except np.linalg.LinAlgError:
            step /= 2
        else:
            return step
    return 0.0


def starting_point(dual: Dual, steps: int = 12, angle: float = 0.3) -> Point | None:
    """A dual point from a dozen steps (z, Y) → B → (z, Y) of the primal relaxation."""
    c, n, k = dual.candidates, len(dual.K), dual.k
    own = dual.K[:c, :c]
    D = analytic_centre(own)
    if D is None:
        return None
    G, z, y, V = own - np.diag(D), np.full(c, k / c), np.full(n, k / n), np.eye(n)
    for _ in range(steps):
        B = coefficients(D / z, G, y, V, dual.K[:c])
        z = np.maximum(water_filling(np.sqrt(D) * np.linalg.norm(B, axis=1), k), FLOOR)
        values, V = np.linalg.eigh(B.T @ G @ B)
        y = np.maximum(water_filling(np.sqrt(np.maximum(values, 0.0)), k), FLOOR)
    B = coefficients(D / z, G, y, V, dual.K[:c])
    R, mu = np.sqrt(D)[:, None] * B / z[:, None], D * np.diagonal(B) / z
    R[np.diag_indices(c)] = 0.0
    point = Point(np.log(D), np.full(c, angle), mu, R, np.zeros((c, n)))
    pieces = dual.pieces(point)
    return None if pieces is None else point._replace(E=np.tan(angle) * pieces.H)


def coefficients(
    d: np.ndarray, G: np.ndarray, y: np.ndarray, V: np.ndarray, K: np.ndarray
) -> np.ndarray:
    """B with Diag(d) B + G B Y⁻¹ = K, Y = V diag(y) Vᵀ."""
    root = np.sqrt(d)
    values, P = np.linalg.eigh(G / root[:, None] / root[None, :])
    inner = P.T @ ((K @ V) / root[:, None])
    inner /= 1 + np.maximum(values, 0.0)[:, None] / y[None, :]
    return ((P @ inner) / root[:, None]) @ V.T
