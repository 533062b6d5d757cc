"""What an estimator knows of a source of row blocks before reading: width, names, weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operators.base import DENSE_MEMORY
from ..operators.rows.base import RowBlocks
from ._common import weights


def check_source(source: RowBlocks, least: int) -> None:
    """Raise when there are known to be too few rows."""
    if source.m is not None and source.m < least:
        raise ValueError(
            f"Found array with {source.m} sample(s) (shape=({source.m}, {source.n})) while a "
            f"minimum of {least} is required."
        )


def set_features(estimator: Any, source: RowBlocks) -> None:
    """Set n_features_in_, and feature_names_in_ when the source has names."""
    estimator.n_features_in_ = source.n
    estimator.__dict__.pop("feature_names_in_", None)
    if source.names is not None:
        estimator.feature_names_in_ = np.asarray(source.names, dtype=object)


def source_weights(sample_weight: Any, source: RowBlocks) -> np.ndarray | None:
    """The weights of the rows in float64, or None when every row counts alike."""
    if sample_weight is None:
        return None
    if source.m is None:
        raise ValueError(
            "sample_weight needs to know the number of rows, which an iterator does not know; add "
            "up batches with partial_fit instead"
        )
    return weights(sample_weight, np.broadcast_to(np.float64(0.0), (source.m, 1)))


def check_gram_fits(n: int) -> None:
    """Raise when the Gram matrix of n columns is too large to keep."""
    if n * n * 8 > DENSE_MEMORY:
        raise MemoryError(
            f"partial_fit keeps the Gram matrix, which needs {n * n * 8 / 2**30:.1f} GiB for {n} "
            "features; use fit on all rows instead"
        )
