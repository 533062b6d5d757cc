"""Synthetic data whose best choice is known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Known:
    """A matrix, its best choice of k columns, and the error ‖X − P_S X‖²_F of that choice."""

    X: np.ndarray
    best: tuple[int, ...]
    error: float


def planted(m: int = 60, n: int = 40, k: int = 5, seed: int = 0) -> Known:
    """k independent columns and n − k mixtures of all of them: the k are the best choice.

    Each mixture also has a small direction of its own, orthogonal to all else; without it any k
    mixtures would do as well as the planted columns.

    Examples
    --------
    >>> from landmarks.datasets import planted
    >>> known = planted()
    >>> set(lm.select(known.X, 5).indices.tolist()) == set(known.best)
    True
    """
    if not 0 < k < n <= m:
        raise ValueError(f"0 < k < n <= m must hold, got k = {k}, n = {n}, m = {m}")
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((m, n)))[0]
    best = np.sort(rng.permutation(n)[:k])
    rest = np.setdiff1d(np.arange(n), best)
    X = np.empty((m, n))
    X[:, best] = directions[:, :k]
    X[:, rest] = directions[:, :k] @ rng.uniform(0.2, 0.6, (k, n - k)) + 0.05 * directions[:, k:]
    return Known(X, tuple(int(j) for j in best), float(0.05**2 * (n - k)))


def blocks(size: int = 6, k: int = 4, seed: int = 0) -> Known:
    """k groups of columns, each one direction at different lengths plus independent noise.

    Groups are orthogonal, so the best choice takes from each the column that explains its group
    best.

    Examples
    --------
    >>> from landmarks.datasets import blocks
    >>> len(blocks().best)
    4
    """
    rng = np.random.default_rng(seed)
    m = k * (size + 1)
    X = np.zeros((m, k * size))
    best: list[int] = []
    error = 0.0
    for group in range(k):
        rows = slice(group * (size + 1), (group + 1) * (size + 1))
        columns = slice(group * size, (group + 1) * size)
        part = np.vstack([rng.uniform(1, 2, size), 0.3 * np.diag(rng.uniform(0.5, 1.5, size))])
        X[rows, columns] = part
        left = [np.sum((part - np.outer(x, x @ part) / (x @ x)) ** 2) for x in part.T]
        best.append(group * size + int(np.argmin(left)))
        error += float(min(left))
    return Known(X, tuple(best), error)


SYNTHETIC: dict[str, Callable[[], Known]] = {"planted": planted, "blocks": blocks}
