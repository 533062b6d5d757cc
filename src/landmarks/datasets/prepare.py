"""Preprocessing as in the paper: every column with mean zero and variance one."""

from __future__ import annotations

import numpy as np


def standardise(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The standardised columns of X and their places in it.

    Missing values take the mean of their column; constant columns are dropped, since they have no
    variance to scale.

    Examples
    --------
    >>> import numpy as np
    >>> from landmarks.datasets import standardise
    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]]))[0].tolist()
    [[-1.0], [1.0]]
    """
    X = np.array(X, dtype=np.float64, order="C")
    known = np.isfinite(X)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, X, 0.0).sum(axis=0) / counts
    X = np.where(known, X, mean) - mean
    scale = np.sqrt(np.mean(X**2, axis=0))
    varying = np.flatnonzero(scale > 1e-12 * np.maximum(np.abs(mean), 1.0))
    return X[:, varying] / scale[varying], varying
