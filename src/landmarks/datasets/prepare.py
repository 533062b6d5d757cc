"""Preprocessing as in the paper: every column with mean zero and variance one."""

from __future__ import annotations

import numpy as np

from ..operators.prepare.preparation import mean_imputed
from ..operators.standard import Standard


def standardise(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The standardised columns of X and their places in it.

    Missing values take the mean of their column; constant columns are dropped, since they have no
    variance to scale.

    Examples
    --------
    >>> from landmarks.datasets import standardise
    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]]))[0].tolist()
    [[-1.0], [1.0]]
    """
    X = np.array(X, dtype=np.float64, order="C")
    X = mean_imputed(np.where(np.isfinite(X), X, np.nan), None)
    Z, _, _ = Standard(center=True, scale=True).of_array(X)
    varying = np.flatnonzero(np.any(Z != 0, axis=0))
    return Z[:, varying], varying
