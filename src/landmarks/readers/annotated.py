"""AnnData files (h5ad) and Zarr stores: a matrix, dense or sparse, with gene and cell names."""

from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import FormatError
from .arrays import as_table, as_texts, sparse_table
from .limit import as_format_error, check_size
from .table import FileTable, Reading


def read_h5ad(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an AnnData file: cells are rows, genes are columns."""
    import h5py

    with as_format_error("the h5ad file cannot be read"), h5py.File(file, "r") as store:
        return _of_annotated(store, reading)


def read_zarr(path: Path, reading: Reading) -> FileTable:
    """The table of a Zarr store in a folder: a matrix, or a group that holds one."""
    import zarr

    with as_format_error("the Zarr store cannot be read"):
        store = zarr.open(str(path), mode="r")
        if hasattr(store, "dtype"):
            return _dense(store, None, reading)
        if "var" in store or "obs" in store:
            return _of_annotated(store, reading)
        arrays = [name for name in store if hasattr(store[name], "dtype")]
        only = arrays[0] if len(arrays) == 1 else None
        chosen = reading.array or ("X" if "X" in arrays else only)
        if chosen not in arrays:
            raise FormatError(
                f"the store holds the arrays {', '.join(map(repr, arrays)) or 'none'}; name one "
                "with --array"
            )
        return _dense(store[chosen], None, reading)


def _of_annotated(store: Any, reading: Reading) -> FileTable:
    layer = reading.array or "X"
    if layer not in store:
        raise FormatError(
            f"the file has no matrix {layer!r}; it holds "
            f"{', '.join(map(repr, list(store)[:8])) or 'nothing'}: name one with --array"
        )
    X, genes, cells = store[layer], _index(store, "var"), _index(store, "obs")
    table = _dense(X, genes, reading) if hasattr(X, "dtype") else _sparse(X, genes, reading)
    return replace(table, rows=cells)


def _dense(X: Any, names: tuple[str, ...] | None, reading: Reading) -> FileTable:
    entries = int(np.prod(X.shape, dtype=object))
    check_size(entries * max(X.dtype.itemsize, 4), reading.max_bytes, "the matrix")
    return as_table(np.asarray(X[...]), names, reading)


def _sparse(X: Any, genes: tuple[str, ...] | None, reading: Reading) -> FileTable:
    layout = str(X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", "")))
    parts = [X[name] for name in ("data", "indices", "indptr")]
    size = sum(int(part.shape[0]) * part.dtype.itemsize for part in parts)
    check_size(size, reading.max_bytes, "the matrix")
    shape = X.attrs["shape"] if "shape" in X.attrs else X.attrs["h5sparse_shape"]
    arrays = tuple(np.asarray(part[...]) for part in parts)
    return sparse_table(layout[:3], arrays, np.asarray(shape), genes, reading)


def _index(store: Any, axis: str) -> tuple[str, ...] | None:
    """The names of an axis, where the file has them."""
    if axis not in store or hasattr(store[axis], "dtype"):
        return None
    key = store[axis].attrs.get("_index", "_index")
    if key not in store[axis] or not hasattr(store[axis][key], "dtype"):
        return None
    return as_texts(np.asarray(store[axis][key][...]))
