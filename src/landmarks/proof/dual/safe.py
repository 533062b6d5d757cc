"""The dual bound evaluated so that rounding can only lower it.

The point is taken as given: D, L̂, J, T and the angles are floats, and nothing about them need be
exact. Conditions that must hold exactly are enforced: D is lowered until K − D − L̂L̂ᵀ is positive
semidefinite whatever the rounding errors, cos² + sin² is brought below 1, and μ and R are the
entries of K − L̂(cos θ J + sin θ T). A bound on its rounding error is then subtracted from each
sum. All of this is done on the host, wherever the point was found.
"""

from dataclasses import replace

import numpy as np

from ..._array import host
from ..conditioned import EPS
from .bound import Dual, Point


def safe_value(dual: Dual, point: Point, doubt: np.ndarray) -> float:
    """A bound that holds for every matrix within `doubt` of K, entry by entry; −∞ without one."""
    pieces = dual.pieces(point)
    if pieces is None:
        return -np.inf
    J, T, Lhat = host(pieces.J), host(pieces.T), host(pieces.Lhat)
    dual, theta = replace(dual, K=host(dual.K)), host(point.theta)
    rounding = 4 * (len(dual.K) + 8) * EPS
    D = lowered(dual, np.exp(host(point.logD)), Lhat, doubt, rounding)
    if np.any(D <= 0):
        return -np.inf
    shrink = 1 - 2.0**-50
    s, c = np.sin(theta) * shrink, np.cos(theta) * shrink
    M, error = remainder(dual, Lhat, s[:, None] * T, c[:, None] * J, doubt, rounding)
    costs = upper_costs(D, Lhat, s, T, M, error, rounding)
    whole = np.diagonal(dual.K)
    start = float(np.sum(whole) * (1 - rounding) - np.sum(np.diagonal(doubt)))
    bound = start - float(np.sum(T * T)) * (1 + rounding) - top_sum(J, dual.k, rounding)
    dearest, weights = dual.chosen(costs)
    size = abs(start) + float(np.sum(weights * np.abs(costs)))
    return bound - dearest - rounding * size


def lowered(
    dual: Dual, D: np.ndarray, Lhat: np.ndarray, doubt: np.ndarray, rounding: float
) -> np.ndarray:
    """D less what makes sure that K − D − L̂L̂ᵀ is positive semidefinite."""
    n = dual.candidates
    K, size = dual.K[:n, :n], np.abs(Lhat)
    scale = np.sqrt(np.diagonal(K))
    left = np.abs(K - np.diag(D) - Lhat @ Lhat.T) + doubt[:n, :n]
    left += rounding * (np.abs(K) + np.diag(D) + size @ size.T)
    shift = float(np.linalg.norm(left / scale[:, None] / scale[None, :])) * (1 + rounding)
    return D - shift * scale**2 * (1 + rounding)


def remainder(
    dual: Dual,
    Lhat: np.ndarray,
    sT: np.ndarray,
    cJ: np.ndarray,
    doubt: np.ndarray,
    rounding: float,
) -> tuple[np.ndarray, np.ndarray]:
    """K − L̂H at the candidates' rows, H = cos θ J + sin θ T, and how far off it may be."""
    K = dual.K[: dual.candidates]
    size = np.abs(Lhat) @ (np.abs(sT) + np.abs(cJ))
    error = doubt[: dual.candidates] + rounding * (np.abs(K) + size)
    return K - Lhat @ (cJ + sT), error


def upper_costs(
    D: np.ndarray,
    Lhat: np.ndarray,
    s: np.ndarray,
    T: np.ndarray,
    M: np.ndarray,
    error: np.ndarray,
    rounding: float,
) -> np.ndarray:
    """Upper bounds of c: 2μ + ‖R_j:‖² − D + 2(L̂ s T)_jj − (L̂ s² L̂ᵀ)_jj − ‖T_:j‖²."""
    own = np.diag_indices(len(D))
    mu, slack = M[own], error[own]
    squares = (np.abs(M) + error) ** 2
    squares[own] = 0.0
    R2 = np.sum(squares, axis=1) / D
    T = T[:, : len(D)]
    cross = Lhat * (s[:, None] * T).T
    known = np.sum((Lhat * s) ** 2, axis=1) + np.sum(T * T, axis=0)
    size = 2 * np.abs(mu) + R2 + D + 2 * np.sum(np.abs(cross), axis=1) + known
    return 2 * (mu + slack) + R2 - D + 2 * np.sum(cross, axis=1) - known + rounding * size


def top_sum(J: np.ndarray, k: int, rounding: float) -> float:
    """An upper bound of the sum of the k largest eigenvalues of JJᵀ."""
    values = np.maximum(np.linalg.eigvalsh(J @ J.T)[::-1], 0.0)
    product = np.sqrt(len(J)) * float(np.sum(J * J))
    return float(np.sum(values[:k])) + rounding * (4 * k * float(values[0]) + product)
