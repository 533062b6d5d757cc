"""Factors of the chosen columns, without those that the columns before them represent already."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .._array import Array, Indices, host, like, solve_from_right, take
from ..operators.pair import Pair


class Factors(NamedTuple):
    """K̂ = F Fᵀ from independent columns: their indices, F = K_S L⁻ᵀ, L, L⁻¹ and K_SS⁻¹."""

    order: np.ndarray
    F: Array
    factor: np.ndarray
    inverse_factor: np.ndarray
    inverse: np.ndarray

    @property
    def volume(self) -> float:
        """log det L Lᵀ."""
        return 2 * float(np.sum(np.log(np.diag(self.factor))))


def factorise(pair: Pair, indices: Indices, floor: np.ndarray) -> Factors:
    """Factors of the columns at the indices that those before them do not represent.

    With noise L Lᵀ = K_SS + N.

    floor : what is left of each squared column when it counts as represented.
    """
    indices = np.asarray(indices, dtype=np.int64)
    columns = pair.operator.columns(indices)
    K = noisy(host(take(columns, indices)).astype(np.float64), pair, indices)
    kept, L = independent(K, floor)
    inverse_factor = scipy.linalg.solve_triangular(
        L, np.eye(len(L)), lower=True, check_finite=False
    )
    chosen = take(columns, kept, axis=1)
    F = solve_from_right(chosen, like(L, chosen))
    return Factors(indices[kept], F, L, inverse_factor, inverse_factor.T @ inverse_factor)


def noisy(K: np.ndarray, pair: Pair, indices: np.ndarray) -> np.ndarray:
    """K_SS with the noise of each measurement on the diagonal."""
    return K if pair.noise is None else K + np.diag(pair.noise[indices])


def pivoted_order(pair: Pair, indices: np.ndarray) -> np.ndarray:
    """The positions in the order of a pivoted Cholesky factorisation of K_SS."""
    K = host(take(pair.operator.columns(indices), indices)).astype(np.float64)
    K = noisy(K, pair, indices)
    return scipy.linalg.lapack.dpstrf(K, lower=1)[1] - 1


def independent(K: np.ndarray, floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positions of the columns that those before do not represent, and their factor."""
    try:
        L = np.linalg.cholesky(K)
        if np.all(np.diag(L) ** 2 > floor):
            return np.arange(len(K)), L
    except np.linalg.LinAlgError:
        pass
    return _independent_one_by_one(K, floor)


def _independent_one_by_one(K: np.ndarray, floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row by row of the Cholesky factor.

    To factorise again what was kept could fail: near the rank the pivots are rounding.
    """
    L, kept = np.zeros_like(K), list[int]()
    for i in range(len(K)):
        r = len(kept)
        row = scipy.linalg.solve_triangular(L[:r, :r], K[i, kept], lower=True, check_finite=False)
        pivot = K[i, i] - row @ row
        if pivot > floor[i]:
            L[r, :r], L[r, r] = row, np.sqrt(pivot)
            kept.append(i)
    return np.asarray(kept, dtype=np.int64), L[: len(kept), : len(kept)]
