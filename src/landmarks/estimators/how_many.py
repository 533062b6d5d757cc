"""How many columns: the fewest of one greedy path that explain a share of the variance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg

import landmarks as lm

from .._array import host, rank_tolerance
from ..errors import RankWarning
from ..operators.base import Operator


def fewest(operator: Operator, share: float, include: list[Any], exclude: list[Any]) -> int:
    """The smallest k for which greedy selection explains the share of tr K; the path is prolonged until it does."""
    most = operator.n - len(exclude)
    k = min(most, max(8, 2 * len(include)))
    while True:
        explained = explained_shares(operator, _greedy(operator, k, include, exclude))
        reached = np.flatnonzero(explained >= share - rank_tolerance(operator.like))
        if len(reached):
            return max(1, len(include), int(reached[0]) + 1)
        if k == most or len(explained) < k:
            return _all_that_help(explained, share, include)
        k = min(most, 2 * k)


def _greedy(operator: Operator, k: int, include: list[Any], exclude: list[Any]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # what lies beyond the rank is cut off below
        return lm.select(operator, k, method="greedy", include=include, exclude=exclude).indices


def explained_shares(operator: Operator, picks: np.ndarray) -> np.ndarray:
    """The share of tr K that the first 1, 2, … picks explain, as far as the picks are independent."""
    total = float(np.sum(host(operator.diagonal()).astype(np.float64)))
    if total <= 0:
        return np.ones(1)
    columns = host(operator.columns(picks)).astype(np.float64)
    factor, info = scipy.linalg.lapack.dpotrf(columns[picks], lower=1)
    rank = info - 1 if info > 0 else len(picks)
    F = scipy.linalg.solve_triangular(factor[:rank, :rank], columns[:, :rank].T, lower=True)
    return np.cumsum(np.sum(F**2, axis=1)) / total


def _all_that_help(explained: np.ndarray, share: float, include: list[Any]) -> int:
    best = float(explained[-1]) if len(explained) else 0.0
    if best < share * (1 - 1e-6):
        warnings.warn(
            f"explained_variance={share} cannot be reached: the columns that exclude leaves explain {best:.4f}; all that help are selected",
            UserWarning,
            stacklevel=2,
        )
    return max(1, len(include), len(explained))
