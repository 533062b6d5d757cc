"""What the first one, two, … of the chosen columns explain."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._array import Indices, host
from ..operators.base import Operator


def explained_shares(operator: Operator, picks: Indices) -> np.ndarray:
    """The share of tr K that the first 1, 2, … picks explain, up to the first dependent pick."""
    total = float(np.sum(host(operator.diagonal()).astype(np.float64)))
    if total <= 0:
        return np.ones(1)
    columns = host(operator.columns(picks)).astype(np.float64)
    factor, info = scipy.linalg.lapack.dpotrf(columns[np.asarray(picks)], lower=1)
    rank = info - 1 if info > 0 else len(picks)
    F = scipy.linalg.solve_triangular(factor[:rank, :rank], columns[:, :rank].T, lower=True)
    return np.cumsum(np.sum(F**2, axis=1)) / total
