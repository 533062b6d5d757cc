"""Backward elimination: from a few columns too many, drop one by one the column whose loss costs least.

With H = K_SS⁻¹ and W = K_S H, dropping i adds v vᵀ to the residual C, v = w_i/√H_ii. The error rises by ‖v‖² (trace)
or 2 vᵀCv + ‖v‖⁴ (Frobenius), so H, Q = WᵀW and U = WᵀCW are all that is needed, and all are |S| × |S|.
"""

from __future__ import annotations

import numpy as np

RIDGE = 1e-6  # what is nearer than that to the span of others counts as in it: H Q H rounds like the square of its inverse


def eliminate(
    blocks: list[np.ndarray], k: int, *, keep: int = 0, ridge: float = RIDGE
) -> np.ndarray:
    """The positions of the k columns that are left.

    Parameters
    ----------
    blocks : K_SS, (K²)_SS and, for the Frobenius criterion, (K³)_SS of the columns to start from.
    keep : so many columns at the beginning are never dropped.
    ridge : relative to the largest diagonal entry, added to K_SS so that duplicates have an inverse.
    """
    left = np.arange(len(blocks[0]))
    forms = _forms(blocks, ridge)
    while len(left) > k:
        costs = _drop_costs(*forms)
        costs[:keep] = np.inf
        i = int(np.argmin(costs))
        forms = [np.delete(np.delete(form, i, axis=0), i, axis=1) for form in _drop(i, *forms)]
        left = np.delete(left, i)
    return left


def explained(blocks: list[np.ndarray], *, ridge: float = RIDGE) -> float:
    """By how much the error of choosing these columns is below that of choosing none."""
    H, squares = _inverse(blocks[0], ridge), blocks[1]
    if len(blocks) == 2:
        return float(np.sum(H * squares))
    return float(2 * np.sum(H * blocks[2]) - np.sum((H @ squares) * (H @ squares).T))


def _inverse(K: np.ndarray, ridge: float) -> np.ndarray:
    largest = max(float(np.max(np.diag(K))), 0.0) or 1.0
    return np.linalg.inv(K + ridge * largest * np.eye(len(K)))


def _forms(blocks: list[np.ndarray], ridge: float) -> list[np.ndarray]:
    """H, Q = H (K²)_SS H and, when (K³)_SS is given, U = H ((K³)_SS − (K²)_SS H (K²)_SS) H."""
    K, squares = blocks[:2]
    H = _inverse(K, ridge)
    forms = [H, H @ squares @ H]
    return forms + [H @ (cubes - squares @ H @ squares) @ H for cubes in blocks[2:]]


def _drop_costs(H: np.ndarray, Q: np.ndarray, U: np.ndarray | None = None) -> np.ndarray:
    """How much the error rises when each column is dropped."""
    length = np.diag(Q) / np.diag(H)
    return length if U is None else 2 * np.diag(U) / np.diag(H) + length**2


def _drop(i: int, H: np.ndarray, Q: np.ndarray, U: np.ndarray | None = None) -> list[np.ndarray]:
    """The forms after column i was dropped; row and column i are left to be deleted."""
    g, h = max(H[i, i], np.finfo(float).tiny), H[:, i] / H[i, i]
    y = (Q[:, i] - h * Q[i, i]) / np.sqrt(g)
    forms = [_project(form, i, h) for form in (H, Q)]
    return forms if U is None else [*forms, _project(U, i, h) + np.outer(y, y)]


def _project(form: np.ndarray, i: int, h: np.ndarray) -> np.ndarray:
    """(I − h eᵢᵀ) form (I − h eᵢᵀ)ᵀ."""
    cross = np.outer(h, form[i])
    return form - cross - cross.T + form[i, i] * np.outer(h, h)
