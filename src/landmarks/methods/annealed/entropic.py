"""The entropic map: probabilities of independent columns that follow scores at a given spread.

p_j = 1/(1 + exp(−(β x_j − ν))) maximises Σ p_j x_j plus entropy/β under Σ p = k. Here the spread
Σ p(1 − p), which falls as β rises, is given instead of the temperature 1/β, so that the scores need
no scale. Both are found by bisection, with Newton's step in place of the middle where it stays in
the bracket.
"""

from __future__ import annotations

import numpy as np
import scipy

STEPS = 80  # most steps of a bracketed search


def entropic(scores: np.ndarray, k: int, spread: float) -> np.ndarray:
    """Probabilities p with Σ p = k and Σ p(1 − p) = spread · k (1 − k/n).

    Parameters
    ----------
    scores : the n scores x; only their differences matter, and not their scale.
    k : the sum of the probabilities, from 0 to n.
    spread : from near 0, where the k largest scores have p = 1, to 1, where every p is k/n. Where
        ties at the k-th score do not let the spread fall so far, it is the least there is.

    Examples
    --------
    >>> from landmarks.methods.annealed.entropic import entropic
    >>> entropic(np.array([3.0, 2.0, 1.0, 0.0]), 2, spread=1e-4).round(2).tolist()
    [1.0, 1.0, 0.0, 0.0]
    >>> entropic(np.array([3.0, 2.0, 1.0, 0.0]), 2, spread=1.0).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    n = len(scores)
    if k in (0, n) or spread >= 1 or np.ptp(scores) == 0:
        return np.full(n, k / max(1, n))
    x = (scores - np.mean(scores)) / np.std(scores)
    wanted = spread * k * (1 - k / n)
    low, high, log_beta, nu = -10.0, 30.0, 1.0, 0.0
    for _ in range(STEPS):
        p, nu = _at_temperature(np.exp(log_beta) * x, k, nu)
        v = p * (1 - p)
        total = max(float(np.sum(v)), np.finfo(float).tiny)
        excess = np.log(total / wanted)
        if abs(excess) < 1e-4 or high - low < 1e-9:
            break
        low, high = (log_beta, high) if excess > 0 else (low, log_beta)
        slope = (
            np.exp(log_beta) * float(np.sum((1 - 2 * p) * v * (x - np.sum(v * x) / total))) / total
        )
        log_beta = _newton(log_beta, excess, slope, low, high)
    return p


def _at_temperature(u: np.ndarray, k: int, nu: float) -> tuple[np.ndarray, float]:
    """p = σ(u − ν) with Σ p = k, and ν, sought from the one given."""
    n = len(u)
    low, high = (
        float(np.min(u)) - np.log(k / (n - k)) - 1,
        float(np.max(u)) - np.log(k / (n - k)) + 1,
    )
    nu = min(max(nu, low), high)
    for _ in range(STEPS):
        p = scipy.special.expit(u - nu)
        excess = float(np.sum(p)) - k
        if abs(excess) < 1e-10 * k:
            break
        low, high = (nu, high) if excess > 0 else (low, nu)
        nu = _newton(nu, excess, -float(np.sum(p * (1 - p))), low, high)
    return p, nu


def _newton(x: float, value: float, slope: float, low: float, high: float) -> float:
    """Newton's step to the root of a falling function; the middle where it leaves the bracket."""
    step = x - value / slope if slope < 0 else low
    return step if low < step < high else (low + high) / 2
