"""The strategies of the relaxation in dense NumPy with exact gradients, and no care for cost.

With d = t²/(δ(1 − t²)) the residual of the weights t is C = (K⁻¹ + diag d)⁻¹.
"""

from __future__ import annotations

import numpy as np

CAP = 1 - 1e-6  # the largest weight that is used


def evaluated(
    K: np.ndarray, t: np.ndarray, delta: float, criterion: str
) -> tuple[float, np.ndarray]:
    """The value −tr(K − C), or ‖C‖²_F, and the gradient; zero where t is."""
    d = t**2 / (delta * (1 - t**2))
    C = np.linalg.inv(np.linalg.inv(K) + np.diag(d))
    change = 2 * t / (delta * (1 - t**2) ** 2)
    if criterion == "trace":
        return np.trace(C) - np.trace(K), -np.diag(C @ C) * change
    return np.sum(C**2), -2 * np.diag(C @ C @ C) * change


def uniform_weight(K: np.ndarray, delta: float, k: int) -> float:
    """The weight of all columns with the effective dimension k: eight halvings of its logit."""
    low, high = -12.0, 12.0
    values = np.linalg.eigvalsh(K)
    for _ in range(8):
        t = 1 / (1 + np.exp(-(low + high) / 2))
        if np.sum(values * t**2 / (values * t**2 + delta * (1 - t**2))) >= k:
            high = (low + high) / 2
        else:
            low = (low + high) / 2
    return min(1 / (1 + np.exp(-(low + high) / 2)), 0.99)


def penalty_unit(K: np.ndarray, delta: float, t: float, criterion: str) -> float:
    return float(np.median(np.abs(evaluated(K, np.full(len(K), t), delta, criterion)[1])))


def descended(
    K: np.ndarray, w: np.ndarray, delta: float, penalty: float, criterion: str
) -> tuple[np.ndarray, float]:
    """w after one step of 0.1 that no w takes by more than 0.1, and the value before it."""
    t = np.minimum(1 - np.exp(-w * w), CAP)
    value, gradient = evaluated(K, t, delta, criterion)
    step = 0.1 * (gradient / penalty + 1) * 2 * w * np.exp(-w * w)
    return np.maximum(w - np.clip(step, -0.1, 0.1), 0.0), value


def warm_path(
    K: np.ndarray, k: int, delta: float, criterion: str
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """λ rises by a hundredth after each step, until k columns or fewer would be left."""
    epsilon = min(0.05, 0.1 * (delta / np.mean(np.diag(K))) ** 0.5)
    penalty = penalty_unit(K, delta, uniform_weight(K, delta, k), criterion)
    w = np.full(len(K), np.sqrt(np.log(2.0)))
    rows, values = [], []
    while True:
        before = np.minimum(1 - np.exp(-w * w), CAP)
        w, value = descended(K, w, delta, penalty, criterion)
        rows.append(before)
        values.append(value)
        w[1 - np.exp(-w * w) <= epsilon] = 0.0
        if np.count_nonzero(w) <= k:
            return np.argsort(-before, kind="stable")[:k].tolist(), np.array(rows), np.array(values)
        penalty *= 1.01


def frank_wolfe(
    K: np.ndarray, k: int, delta: float, criterion: str
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Forty steps of a fifth of the way to the best corner, while δ rises a hundredfold."""
    n = len(K)
    t, q = uniform_weight(K, delta, k), min(k / n, 0.99)
    unit = q**2 / (1 - q**2) * delta * (1 - t**2) / t**2
    weights, rows, values = np.full(n, k / n), [], []
    for i in range(40):
        used = np.where(weights > min(1e-3, k / n / 2), np.minimum(weights, CAP), 0.0)
        value, gradient = evaluated(K, used, 0.3 * unit * 100 ** (i / 39), criterion)
        rows.append(used)
        values.append(value)
        corner = np.zeros(n)
        corner[np.argsort(gradient, kind="stable")[:k]] = 1.0
        weights = weights + 0.2 * (corner - weights)
    return np.argsort(-weights, kind="stable")[:k].tolist(), np.array(rows), np.array(values)
