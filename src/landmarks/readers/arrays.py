"""Files of arrays: npy, npz, HDF5, AnnData (h5ad) and Zarr stores, dense or sparse.

Sizes are read from headers first, and pickles are refused.
"""

import io
import math
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse

from ..errors import FormatError, named
from .frames import float_dtype
from .table import FileTable, Reading, as_format_error, check_bytes, table_of, wanted

NAMES = ("feature_names", "names", "columns")  # arrays of an npz that name the columns of another
SPARSE = {"format", "shape", "data", "indices", "indptr"}  # what scipy.sparse.save_npz writes


def read_npy(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an npy file."""
    limit = reading.max_bytes if reading.in_blocks is None else math.inf
    shape, fortran, dtype = _npy_header(file, limit)
    if len(shape) == 2 and 0 not in shape and hasattr(file, "name"):
        with as_format_error("the npy file is damaged"):
            order: Any = "F" if fortran else "C"
            return as_table(np.memmap(file, dtype, "r", file.tell(), shape, order), None, reading)
    file.seek(0)
    return as_table(read_array(file, reading.max_bytes), None, reading)


def read_npz(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an npz file: its only matrix, or the one named X, or the one asked for."""
    with as_format_error("the npz file is damaged"), zipfile.ZipFile(file) as archive:
        return _of_archive(archive, reading)


def _npy_header(
    file: BinaryIO, limit: float = math.inf, available: int | None = None
) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and dtype; the size is checked against the limit and against the file."""
    with as_format_error("the npy header cannot be read"):
        version = np.lib.format.read_magic(file)
        header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = header(file)
    if dtype.hasobject or dtype.names is not None or dtype.itemsize == 0:
        what = "records" if dtype.names is not None else "Python objects"
        what = what if dtype.itemsize else str(dtype)
        raise FormatError(f"the array holds {what}; save plain numbers")
    if any(length < 0 for length in shape):
        raise FormatError(f"the npy header claims the shape {shape}")
    size = math.prod(shape) * dtype.itemsize
    check_bytes(size, limit, "the array")
    if available is None:
        start = file.tell()
        available = file.seek(0, io.SEEK_END) - start
        file.seek(start)
    if size > available:
        raise FormatError(
            f"the npy file is cut short: its header says {size} bytes, it has {available}"
        )
    return shape, fortran, dtype


def read_array(file: BinaryIO, limit: int, available: int | None = None) -> np.ndarray:
    """One array in the npy format.

    available : the bytes of the file, if it cannot be asked.
    """
    shape, fortran, dtype = _npy_header(file, limit, available)
    size = math.prod(shape) * dtype.itemsize
    raw = file.read(size)
    if len(raw) < size:
        raise FormatError(
            f"the npy file is cut short: its header says {size} bytes, it has {len(raw)}"
        )
    return np.frombuffer(raw, dtype).reshape(shape, order="F" if fortran else "C")


def as_table(X: Any, names: tuple[str, ...] | None, reading: Reading) -> FileTable:
    """The wanted columns of a matrix as floats; of one that stays in its file, all as they are.

    X : an array, a sparse matrix, or what is read where it does not stay: a map, a dataset.
    """
    if X.ndim != 2 or 0 in X.shape:
        raise FormatError(f"the array must have rows and columns, got shape {X.shape}")
    if X.dtype.kind not in "fiub":
        raise FormatError(f"the array must hold real numbers, got {X.dtype}")
    n, sparse = X.shape[1], scipy.sparse.issparse(X)
    if names is not None and len(names) != n:
        raise FormatError(f"the file names {len(names)} columns, the array has {n}")
    kept, aside = wanted(names, n, reading)
    every = kept == list(range(n))
    stored = False
    if not sparse and type(X) is not np.ndarray:
        size = math.prod(X.shape) * max(X.dtype.itemsize, 4)
        if not (stored := reading.stays(size)):
            check_bytes(size, reading.max_bytes, "the array")
            X = np.array(X[...])
    texts = {}
    for name, j in aside.items():
        column = X[:, [j]].toarray()[:, 0] if sparse else X[:, j].tolist()
        texts[name] = tuple(map(str, column))
    if not stored:
        X = X if every else X[:, kept]
        dtype = float_dtype(X.dtype)
        X = X.astype(dtype) if sparse else np.asarray(X, dtype)
    return table_of(X, names, kept, n, aside=texts)


def _of_archive(archive: zipfile.ZipFile, reading: Reading) -> FileTable:
    sizes = {
        member.filename.removesuffix(".npy"): member.file_size
        for member in archive.infolist()
        if member.filename.endswith(".npy")
    }
    limit = reading.max_bytes
    if set(sizes) >= SPARSE and reading.array is None:
        check_bytes(sum(sizes.values()), limit, "the sparse matrix")
        parts = {name: _member(archive, name, limit) for name in SPARSE}
        layout = bytes(parts["format"].tobytes()).replace(b"\0", b"").decode("ascii", "replace")
        arrays = (parts["data"], parts["indices"], parts["indptr"])
        return sparse_table(layout, arrays, parts["shape"], None, reading)
    chosen = _chosen([name for name in sizes if name not in NAMES], reading.array, sizes)
    check_bytes(sizes[chosen], limit, f"the array {chosen!r}")
    X, names = _member(archive, chosen, limit), None
    for key in NAMES:
        if X.ndim == 2 and names is None and key in sizes and sizes[key] <= limit:
            found = _member(archive, key, limit)
            if found.shape == X.shape[1:] and found.dtype.kind in "US":
                names = as_texts(found)
    return as_table(X, names, reading)


def _chosen(candidates: list[str], asked: str | None, held: Iterable[str]) -> str:
    """The array that is asked for, or X, or the only candidate."""
    held = list(held)
    only = candidates[0] if len(candidates) == 1 else None
    chosen = asked or ("X" if "X" in held else only)
    if chosen is not None and chosen in held:
        return chosen
    problem = f"no array {chosen!r}" if chosen else "several arrays, but not X"
    listed = named([repr(name) for name in held]) or "none"
    raise FormatError(
        f"the file has {problem if held else 'no array'}; it holds {listed}: name one with --array"
    )


def as_texts(names: np.ndarray) -> tuple[str, ...]:
    """Names as text, from text or bytes."""
    return tuple(
        name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in names
    )


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> np.ndarray:
    with archive.open(f"{name}.npy") as member:
        opened: Any = member  # it can read bytes, which is all that is needed
        return read_array(opened, limit, archive.getinfo(f"{name}.npy").file_size)


def sparse_table(
    layout: str,
    parts: tuple[np.ndarray, ...],
    shape: np.ndarray,
    names: tuple[str, ...] | None,
    reading: Reading,
) -> FileTable:
    """The wanted columns of a compressed sparse matrix from a file, whose parts are checked."""
    make = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}.get(layout)
    if make is None:
        raise FormatError(f"the sparse matrix is stored as {layout!r}; save it as csr or csc")
    with as_format_error("the sparse matrix is damaged"):
        m, n = (int(length) for length in np.ravel(shape))
        X = make(parts, shape=(m, n))
        X.check_format(full_check=True)
    return as_table(scipy.sparse.csc_array(X), names, reading)


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
        dense = hasattr(store, "dtype")
        return as_table(store, None, reading) if dense else _of_store(store, reading)


def _of_store(store: Any, reading: Reading) -> FileTable:
    """The matrix that is asked for, or X, or the only one; X of AnnData may be sparse."""
    annotated = "var" in store or "obs" in store
    listed = [name for name in store if annotated] or _matrices(store)
    chosen = _chosen(listed, reading.array, listed)
    X, genes, cells = store[chosen], _index(store, "var"), _index(store, "obs")
    table = as_table(X, genes, reading) if hasattr(X, "dtype") else _sparse(X, genes, reading)
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


def _sparse(X: Any, genes: tuple[str, ...] | None, reading: Reading) -> FileTable:
    layout = str(X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", "")))
    parts = [X[name] for name in ("data", "indices", "indptr")]
    size = sum(int(part.shape[0]) * part.dtype.itemsize for part in parts)
    check_bytes(size, reading.max_bytes, "the matrix")
    shape = X.attrs["shape"] if "shape" in X.attrs else X.attrs["h5sparse_shape"]
    arrays = tuple(np.asarray(part[...]) for part in parts)
    return sparse_table(layout[:3], arrays, np.asarray(shape), genes, reading)


def _index(store: Any, axis: str) -> tuple[str, ...] | None:
    """The names of an axis, where the file has them."""
    if axis not in store or hasattr(store[axis], "dtype"):
        return None
    key = store[axis].attrs.get("_index", "_index")
    for place in (key, f"{key}/values"):  # AnnData 0.13 keeps a mask beside texts of pandas 3
        if place in store[axis] and hasattr(store[axis][place], "dtype"):
            return as_texts(np.asarray(store[axis][place][...]))
    return None
