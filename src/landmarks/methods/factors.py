"""Factors of the chosen columns, without those that the columns before them represent already."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .._array import Array, Indices, host, like, take
from ..operators.base import Operator


class Factors(NamedTuple):
    """K̂ = F Fᵀ from independent columns: their indices, F = K_S L⁻ᵀ, L⁻¹ and K_SS⁻¹."""

    order: np.ndarray
    F: Array
    inverse_factor: np.ndarray
    inverse: np.ndarray


def factorise(operator: Operator, indices: Indices, tolerance: float) -> Factors:
    """Factors of the columns at the indices that those before them do not represent already."""
    indices = np.asarray(indices, dtype=np.int64)
    columns = operator.columns(indices)
    K = host(take(columns, indices)).astype(np.float64)
    kept = independent(K, tolerance)
    L = np.linalg.cholesky(K[np.ix_(kept, kept)])
    inverse_factor = scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    F = take(columns, kept, axis=1) @ like(inverse_factor.T, operator.like)
    return Factors(indices[kept], F, inverse_factor, inverse_factor.T @ inverse_factor)


def independent(K: np.ndarray, tolerance: float) -> np.ndarray:
    """The positions of the columns, first come first served, that those before them do not represent already."""
    try:
        L = np.linalg.cholesky(K)
        if np.all(np.diag(L) ** 2 > tolerance):
            return np.arange(len(K))
    except np.linalg.LinAlgError:
        pass
    return _independent_one_by_one(K, tolerance)


def _independent_one_by_one(K: np.ndarray, tolerance: float) -> np.ndarray:
    C, kept = K.copy(), []
    for i in range(len(C)):
        if C[i, i] > tolerance:
            kept.append(i)
            C -= np.outer(C[:, i], C[i] / C[i, i])
    return np.asarray(kept, dtype=np.int64)
