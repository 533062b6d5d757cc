"""A lower bound for noisy measurements by convex design: weights instead of a choice.

With M(w) = I + Σ w_j x_j x_jᵀ/σ_j² the error is f(w) = tr Bᵀ M(w)⁻¹ B at the weights 0 and 1 of a
choice (Woodbury), and f is convex. So every w with the gains g_j = ‖BᵀM⁻¹x_j‖²/σ_j² bounds every
choice: f(v) ≥ f(w) + Σ g_j w_j − the k largest g_j, or k times the largest where places may repeat
(Pukelsheim, Optimal Design of Experiments, 1993). The weights are raised where the gains are large.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .explicit_aim import Rebuilding

STEPS = 60
WORK = 2e10  # multiplications that the steps may take
ENOUGH = 5  # steps that are worth a start
SETTLED = 1e-3  # of the error: a bound that came this close to f(w) is not raised further


def design_bound(base: Rebuilding, k: int, repeats: bool = False) -> float:
    """What no choice of k measurements can go below; 0 where it would cost too much."""
    if base.sigma is None or np.any(base.sigma == 0) or (base.n < k and not repeats):
        return 0.0
    r, p = base.B.shape
    steps = int(min(STEPS, WORK / (base.n * r * (r + p) + r**3)))
    if steps < ENOUGH:
        return 0.0
    Y, w, best = base.A / base.sigma, np.full(base.n, k / base.n), 0.0
    for _ in range(steps):
        error, gains, doubt = _values(Y, base.B, w)
        largest = k * gains.max() if repeats else np.sum(np.sort(gains)[-k:])
        bound = error + float(gains @ w) - float(largest) - doubt
        best = max(best, bound)
        if bound >= error * (1 - SETTLED):
            break
        w = _weights(w * np.sqrt(gains), k, np.inf if repeats else 1.0)
    return base.outside + best if best > 0 else 0.0


def _values(Y: np.ndarray, B: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray, float]:
    """f(w), the gains, and by how much rounding may have moved the bound."""
    used = w > 0
    M = np.eye(len(Y)) + (Y[:, used] * w[used]) @ Y[:, used].T
    L = scipy.linalg.cholesky(M, lower=True, check_finite=False)
    half = scipy.linalg.solve_triangular(L, B, lower=True, check_finite=False)
    solved = scipy.linalg.solve_triangular(L, half, lower=True, trans="T", check_finite=False)
    gains = np.sum((solved.T @ Y) ** 2, axis=0)
    error = float(np.sum(half * half))
    spread = float(np.trace(M))  # at least the condition of M, whose smallest eigenvalue is 1
    doubt = 64 * np.finfo(np.float64).eps * spread * (error + float(gains @ w))
    return error, gains, doubt


def _weights(raised: np.ndarray, k: int, most: float) -> np.ndarray:
    """The raised weights times a factor, cut at the most, so that they add up to k."""
    ordered = np.sort(raised)[::-1]
    left = np.cumsum(ordered[::-1])[::-1]
    for full in range(len(ordered)):  # so many are at the most
        factor = (k - full * most if full else k) / max(left[full], np.finfo(float).tiny)
        if factor * ordered[full] <= most:
            return np.minimum(raised * factor, most)
    return np.minimum(raised * np.inf, most)
