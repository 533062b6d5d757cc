"""Files of arrays: npy, npz, HDF5, AnnData (h5ad) and Zarr stores, dense or sparse.

Sizes are read from headers first, and pickles are refused.
"""

import io
import math
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse

from ..errors import FormatError, named
from .table import FileTable, Reading, as_format_error, check_bytes, set_aside, wanted

NAMES = ("feature_names", "names", "columns")  # arrays of an npz that name the columns of another
SPARSE = {"format", "shape", "data", "indices", "indptr"}  # what scipy.sparse.save_npz writes


def read_npy(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an npy file."""
    stays = reading.stays if hasattr(file, "name") else None
    return as_table(read_array(file, reading.max_bytes, stays=stays), None, reading)


def read_npz(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of an npz file: its only matrix, or the one named X, or the one asked for."""
    with as_format_error("the npz file is damaged"), zipfile.ZipFile(file) as archive:
        return _of_archive(archive, reading)


def read_array(
    file: BinaryIO,
    limit: int,
    available: int | None = None,
    stays: Callable[[int], bool] | None = None,
) -> np.ndarray:
    """One array in the npy format, its size checked against the limit and against the file.

    stays : whether an array of so many bytes is to be a map of the file.
    """
    with as_format_error("the npy header cannot be read"):
        version = np.lib.format.read_magic(file)
        header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = header(file)
    if dtype.hasobject or dtype.names is not None:
        raise FormatError(
            f"the array holds {'Python objects' if dtype.hasobject else 'records'}; save plain "
            "numbers"
        )
    if any(length < 0 for length in shape):
        raise FormatError(f"the npy header claims the shape {shape}")
    size = math.prod(shape) * dtype.itemsize
    mapped = stays is not None and len(shape) == 2 and size > 0 and stays(size)
    if not mapped:
        check_bytes(size, limit, "the array")
    if available is None:
        start = file.tell()
        available = file.seek(0, io.SEEK_END) - start
        file.seek(start)
    if size > available:
        raise FormatError(
            f"the npy file is cut short: its header says {size} bytes, it has {available}"
        )
    order: Any = "F" if fortran else "C"
    if mapped:
        return np.memmap(file, dtype, "r", file.tell(), shape, order)
    raw = file.read(size)
    if len(raw) < size:
        raise FormatError(
            f"the npy file is cut short: its header says {size} bytes, it has {len(raw)}"
        )
    if dtype.itemsize == 0:
        raise FormatError(f"the array holds {dtype}; save plain numbers")
    return np.frombuffer(raw, dtype).reshape(shape, order=order)


def as_table(array: Any, names: tuple[str, ...] | None, reading: Reading) -> FileTable:
    """The wanted columns of a matrix, as floats; one that stays in its file is left as it is."""
    if array.ndim != 2 or 0 in array.shape:
        raise FormatError(f"the array must have rows and columns, got shape {array.shape}")
    if array.dtype.kind not in "fiub":
        raise FormatError(f"the array must hold real numbers, got {array.dtype}")
    if names is not None and len(names) != array.shape[1]:
        raise FormatError(f"the file names {len(names)} columns, the array has {array.shape[1]}")
    return columns_of(array, names, reading)


def columns_of(X: Any, names: tuple[str, ...] | None, reading: Reading) -> FileTable:
    """The wanted columns of a dense or sparse matrix; one that stays in its file keeps all."""
    n, sparse = X.shape[1], scipy.sparse.issparse(X)
    kept, aside = wanted(names, n, reading), set_aside(names, n, reading)
    texts = {}
    for name, j in aside.items():
        column = X[:, [j]].toarray()[:, 0] if sparse else X[:, j].tolist()
        texts[name] = tuple(map(str, column))
    everything = kept == list(range(n))
    stored = not sparse and type(X) is not np.ndarray
    values = X if stored or everything else X[:, kept]
    if not stored and not sparse:
        values = as_floats(values)
    named = None if names is None else tuple(names[j] for j in kept)
    places = None if everything else tuple(kept)
    return FileTable(values, named, aside=texts, places=places, stored=stored)


def as_floats(array: np.ndarray) -> np.ndarray:
    """The array in single or double precision, in the machine's byte order."""
    single = array.dtype.kind == "f" and array.dtype.itemsize == 4
    return np.asarray(array, dtype=np.float32 if single else np.float64)


def _of_archive(archive: zipfile.ZipFile, reading: Reading) -> FileTable:
    sizes = {
        member.filename.removesuffix(".npy"): member.file_size
        for member in archive.infolist()
        if member.filename.endswith(".npy")
    }
    if set(sizes) >= SPARSE and reading.array is None:
        check_bytes(sum(sizes.values()), reading.max_bytes, "the sparse matrix")
        parts = {name: _member(archive, name, reading.max_bytes) for name in SPARSE}
        layout = bytes(parts["format"].tobytes()).replace(b"\0", b"").decode("ascii", "replace")
        arrays = (parts["data"], parts["indices"], parts["indptr"])
        return sparse_table(layout, arrays, parts["shape"], None, reading)
    chosen = _chosen(sizes, reading.array)
    check_bytes(sizes[chosen], reading.max_bytes, f"the array {chosen!r}")
    X = _member(archive, chosen, reading.max_bytes)
    return as_table(X, _names(archive, sizes, X, reading.max_bytes), reading)


def _chosen(sizes: dict[str, int], asked: str | None) -> str:
    candidates = [name for name in sizes if name not in NAMES]
    if asked is not None and asked in sizes:
        return asked
    if asked is None and "X" in sizes:
        return "X"
    if asked is None and len(candidates) == 1:
        return candidates[0]
    problem = "has several arrays, but not X" if asked is None else f"has no array {asked!r}"
    held = ", ".join(map(repr, sizes)) or "none"
    raise FormatError(f"the file {problem}; it holds {held}: name one with --array")


def _names(
    archive: zipfile.ZipFile, sizes: dict[str, int], X: np.ndarray, limit: int
) -> tuple[str, ...] | None:
    for key in NAMES:
        if key in sizes and sizes[key] <= limit:
            names = _member(archive, key, limit)
            if X.ndim == 2 and names.shape == X.shape[1:] and names.dtype.kind in "US":
                return as_texts(names)
    return None


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
    if X.dtype.kind not in "fiub" or 0 in X.shape:
        raise FormatError(
            f"the sparse matrix must hold real numbers in rows and columns, got {X.dtype} of shape "
            f"{X.shape}"
        )
    if names is not None and len(names) != n:
        raise FormatError(f"the file names {len(names)} columns, the matrix has {n}")
    X.data = as_floats(X.data)
    return columns_of(scipy.sparse.csc_array(X), names, reading)


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
    chosen = reading.array or ("X" if annotated or "X" in listed else None)
    if chosen is None and len(listed) == 1:
        chosen = listed[0]
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
    check_bytes(size, reading.max_bytes, "the matrix")
    return as_table(np.asarray(X[...]), names, reading)


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
