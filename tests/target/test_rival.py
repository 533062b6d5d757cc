"""Never above backward elimination, by which OSSCAR prunes layers, on real Gram matrices."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import landmarks as lm

from .plain import least_squares

FOLDER = os.environ.get("LANDMARKS_DATA")


def backward(G: np.ndarray, H: np.ndarray, k: int) -> list[int]:
    """Drop the column whose loss raises the error least, computed again at every step."""
    left = list(range(len(G)))
    while len(left) > k:
        inverse = np.linalg.pinv(G[np.ix_(left, left)], hermitian=True)
        W = inverse @ H[left]
        costs = np.sum(W * W, axis=1) / np.maximum(np.diag(inverse), 1e-300)
        left.pop(int(np.argmin(costs)))
    return left


def standard(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_auto_is_not_above_backward_elimination(load) -> None:
    _compare(standard(load().data), (2, 4, 6))


@pytest.mark.skipif(not FOLDER, reason="LANDMARKS_DATA names no folder of data")
@pytest.mark.parametrize("name", ["residential", "arrhythmia"])
def test_auto_is_not_above_backward_elimination_on_real_data(name: str) -> None:
    with np.load(Path(FOLDER or "") / f"{name}.npz") as file:
        _compare(standard(np.asarray(file["X"], dtype=np.float64))[:, :80], (5, 12))


def _compare(X: np.ndarray, ks: tuple[int, ...]) -> None:
    middle = X.shape[1] // 2
    A, B = X[:, :middle], X[:, middle:]
    error = least_squares(A, B)
    for k in ks:
        rival = error(backward(A.T @ A, A.T @ B, k))
        assert lm.select(A, k, target=B, scale=False).error() <= rival * (1 + 1e-9)
