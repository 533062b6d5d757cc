"""AnnData files (h5ad), by h5py: the matrix X, dense or sparse, with gene and cell names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

import h5py
import numpy as np
import scipy.sparse

from ..errors import FormatError
from .arrays import as_table, sparse_table
from .limit import as_format_error, check_size
from .table import FileTable

if TYPE_CHECKING:
    from .read import Reading


def read_h5ad(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an AnnData file: cells are rows, genes are columns."""
    with as_format_error("the h5ad file cannot be read"), h5py.File(file, "r") as store:
        return of_annotated(store, reading)


def of_annotated(store: Any, reading: Reading) -> FileTable:
    """The table of an AnnData group, in an h5ad file or a Zarr store."""
    layer = reading.array or "X"
    if layer not in store:
        raise FormatError(
            f"the file has no matrix {layer!r}; it holds "
            f"{', '.join(map(repr, list(store)[:8])) or 'nothing'}: name one with --array"
        )
    X, genes, cells = store[layer], _index(store, "var"), _index(store, "obs")
    table = _dense(X, genes, reading) if hasattr(X, "dtype") else _sparse(X, genes, reading)
    return replace(table, rows=cells)


def _dense(X: Any, genes: tuple[str, ...] | None, reading: Reading) -> FileTable:
    check_size(
        int(np.prod(X.shape, dtype=object)) * max(X.dtype.itemsize, 4),
        reading.max_bytes,
        "the matrix",
    )
    return as_table(np.asarray(X[...]), genes, reading)


def _sparse(X: Any, genes: tuple[str, ...] | None, reading: Reading) -> FileTable:
    layout = str(X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", "")))
    make = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}.get(layout[:3])
    if make is None:
        raise FormatError(
            f"the matrix is stored as {layout or 'a group'!r}; only dense, csr and csc are read"
        )
    parts = [X[name] for name in ("data", "indices", "indptr")]
    check_size(
        sum(int(part.shape[0]) * part.dtype.itemsize for part in parts),
        reading.max_bytes,
        "the matrix",
    )
    shape = X.attrs["shape"] if "shape" in X.attrs else X.attrs["h5sparse_shape"]
    return sparse_table(
        make, tuple(np.asarray(part[...]) for part in parts), np.asarray(shape), genes, reading
    )


def _index(store: Any, axis: str) -> tuple[str, ...] | None:
    """The names of an axis, where the file has them."""
    if axis not in store or hasattr(store[axis], "dtype"):
        return None
    key = store[axis].attrs.get("_index", "_index")
    if key not in store[axis] or not hasattr(store[axis][key], "dtype"):
        return None
    return tuple(
        name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
        for name in np.asarray(store[axis][key][...])
    )
