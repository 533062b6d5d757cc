"""HDF5 and AnnData (h5ad) files and Zarr stores: a matrix, dense or sparse, perhaps with names."""

from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import FormatError, named
from .arrays import as_table, as_texts, sparse_table
from .limit import as_format_error, check_size
from .table import FileTable, Reading


def read_h5(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an HDF5 file; of an AnnData file, cells are rows and genes are columns."""
    import h5py

    with as_format_error("the HDF5 file cannot be read"):
        store = h5py.File(getattr(file, "name", file), "r")
        table = _of_store(store, reading)
        if not table.stored:
            store.close()
        return table


def read_zarr(path: Path, reading: Reading) -> FileTable:
    """The table of a Zarr store in a folder: a matrix, or a group that holds one."""
    import zarr

    with as_format_error("the Zarr store cannot be read"):
        store = zarr.open(str(path), mode="r")
        return (
            _dense(store, None, reading) if hasattr(store, "dtype") else _of_store(store, reading)
        )


def _of_store(store: Any, reading: Reading) -> FileTable:
    """The matrix that is asked for, or X, or the only one; X of AnnData may be sparse."""
    annotated = "var" in store or "obs" in store
    listed = [name for name in store if annotated] or _matrices(store)
    wanted = reading.array or ("X" if annotated or "X" in listed else None)
    chosen = listed[0] if wanted is None and len(listed) == 1 else wanted
    if chosen not in listed:
        problem = f"no matrix {chosen!r}" if chosen else "not one matrix"
        held = named([repr(name) for name in listed]) or "none"
        raise FormatError(f"the file has {problem}; it holds {held}: name one with --array")
    X, genes, cells = store[chosen], _index(store, "var"), _index(store, "obs")
    table = _dense(X, genes, reading) if hasattr(X, "dtype") else _sparse(X, genes, reading)
    return replace(table, rows=cells)


def _matrices(store: Any) -> list[str]:
    """The names of all matrices in a store, also in groups of groups."""
    found: list[str] = []
    for name in store:
        item = store[name]
        if len(getattr(item, "shape", ())) == 2:
            found.append(name)
        elif not hasattr(item, "dtype"):
            found += [f"{name}/{inner}" for inner in _matrices(item)]
    return found


def _dense(X: Any, names: tuple[str, ...] | None, reading: Reading) -> FileTable:
    size = int(np.prod(X.shape, dtype=object)) * max(X.dtype.itemsize, 4)
    if reading.stays(size):
        return as_table(X, names, reading)
    check_size(size, reading.max_bytes, "the matrix")
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
