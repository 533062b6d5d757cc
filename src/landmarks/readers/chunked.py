"""Zarr stores in a folder: a matrix, or a group that holds one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr

from ..errors import FormatError
from .annotated import of_annotated
from .arrays import as_table
from .limit import as_format_error, check_size
from .table import FileTable

if TYPE_CHECKING:
    from .read import Reading


def read_zarr(path: Path, reading: Reading) -> FileTable:
    """The table of a Zarr store."""
    with as_format_error("the Zarr store cannot be read"):
        store = zarr.open(str(path), mode="r")
        return _of_array(store, reading) if hasattr(store, "dtype") else _of_group(store, reading)


def _of_array(array: Any, reading: Reading) -> FileTable:
    check_size(
        int(np.prod(array.shape, dtype=object)) * max(array.dtype.itemsize, 4),
        reading.max_bytes,
        "the array",
    )
    return as_table(np.asarray(array[...]), None, reading)


def _of_group(group: Any, reading: Reading) -> FileTable:
    if "var" in group or "obs" in group:
        return of_annotated(group, reading)
    arrays = [name for name in group if hasattr(group[name], "dtype")]
    only = arrays[0] if len(arrays) == 1 else None
    chosen = reading.array or ("X" if "X" in arrays else only)
    if chosen not in arrays:
        raise FormatError(
            f"the store holds the arrays {', '.join(map(repr, arrays)) or 'none'}; name one with "
            "--array"
        )
    return _of_array(group[chosen], reading)
