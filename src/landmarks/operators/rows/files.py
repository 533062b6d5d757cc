"""Sources of rows, from what a user has: stored arrays, Arrow tables, iterators and functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._array import is_array
from .arrays import ArrayRows, IterableRows
from .arrow import ArrowRows, is_arrow
from .base import RowBlocks

IN_MEMORY = (
    *("__array__", "__array_interface__", "__dataframe__", "__dask_graph__"),
    *("to_numpy", "tocsc"),
)


def as_rows(X: Any, places: Sequence[int] | None = None) -> RowBlocks | None:
    """X as a source of rows, or None if X is an array or table in memory.

    places : which columns of an Arrow table or a stored array, counted from 0; all when None.
    """
    if isinstance(X, RowBlocks):
        return X
    if is_arrow(X):
        return ArrowRows(X, places)
    if isinstance(X, np.memmap) or _is_stored(X):
        return ArrayRows(X, places) if len(X.shape) == 2 and 0 not in X.shape else None
    return IterableRows(X) if _gives_blocks(X) else None


def _is_stored(X: Any) -> bool:
    """Whether X is sliced like an array but stored in chunks, as Zarr and HDF5 arrays are."""
    return (
        not is_array(X)
        and all(hasattr(X, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
        and not hasattr(X, "__dask_graph__")
    )


def _gives_blocks(X: Any) -> bool:
    """Whether X is an iterator, a function, a list of blocks, or another iterable of blocks."""
    if is_array(X) or any(hasattr(X, name) for name in IN_MEMORY):
        return False
    if hasattr(X, "__next__") or (callable(X) and not hasattr(X, "shape")):
        return True
    if isinstance(X, list | tuple):
        return len(X) > 0 and (is_arrow(X[0]) or len(getattr(X[0], "shape", ())) == 2)
    return hasattr(X, "__iter__") and not hasattr(X, "__len__") and not hasattr(X, "keys")
