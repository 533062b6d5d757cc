"""The sum of the k largest numbers, smoothed from above by Fermi weights."""

from __future__ import annotations

import numpy as np


def fermi(values: np.ndarray, k: int, tau: float) -> tuple[float, np.ndarray]:
    """An upper bound of the sum of the k largest values, at most n·τ·log 2 above it, and weights.

    It is the largest Σ w·values + τ·entropy(w) over 0 ≤ w ≤ 1, Σ w = k; w is its gradient.
    """
    if k >= len(values):
        return float(np.sum(values)), np.ones(len(values))
    if k <= 0:
        return 0.0, np.zeros(len(values))
    low, high = float(np.min(values)) - 40 * tau, float(np.max(values)) + 40 * tau
    for _ in range(60):
        level = (low + high) / 2
        low, high = (level, high) if np.sum(occupied(values, level, tau)) > k else (low, level)
    w = occupied(values, high, tau)
    excess = np.logaddexp(0.0, (values - high) / tau)
    return float(k * high + tau * np.sum(excess)), w


def largest(values: np.ndarray, k: int, tau: float = 0.0) -> tuple[float, np.ndarray]:
    """The sum of the k largest values, and 1 where they are."""
    w = np.zeros(len(values))
    w[np.argsort(-values, kind="stable")[:k]] = 1.0
    return float(np.sum(values[w > 0])), w


def occupied(values: np.ndarray, level: float, tau: float) -> np.ndarray:
    """1/(1 + exp((level − value)/τ))."""
    return 0.5 * (1 + np.tanh((values - level) / (2 * tau)))


def water_filling(costs: np.ndarray, k: int) -> np.ndarray:
    """0 ≤ z ≤ 1 with Σ z = k that minimises Σ costs²/z: z = min(1, costs/ν)."""
    order = np.sort(np.maximum(costs, 0.0))[::-1]
    left = np.cumsum(order[::-1])[::-1]
    full = next((i for i in range(k) if order[i] * (k - i) <= left[i]), k)
    level = left[full] / (k - full) if full < k and left[full] > 0 else 1.0
    return np.minimum(1.0, np.maximum(costs, 0.0) / level)
