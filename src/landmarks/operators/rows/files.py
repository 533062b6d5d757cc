"""Sources of rows: from a file, which stays where it is, or from what else the user has."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from ..._array import is_array
from ...readers.limit import as_format_error
from .arrays import ArrayRows, IterableRows
from .arrow import ArrowRows, is_arrow
from .base import RowBlocks

ARROW = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "ipc"}
HDF5 = (".h5", ".hdf5", ".he5")
IN_MEMORY = (
    *("__array__", "__array_interface__", "__dataframe__", "__dask_graph__"),
    *("to_numpy", "tocsc"),
)


def open_rows(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    key: str | None = None,
    numeric_only: bool = False,
) -> RowBlocks:
    """The rows of a matrix in a file, read in blocks when they are needed.

    Parameters
    ----------
    path : an npy file, a Parquet or Feather file, a folder of Parquet files, a Zarr folder or an
        HDF5 file; its ending says which.
    columns : the columns to read from Parquet or Feather, by name; all when None.
    key : which array of a Zarr group or an HDF5 file; not needed when there is only one matrix.
    numeric_only : whether columns of Parquet or Feather that hold no numbers are left out, with a
        warning, instead of refused.

    Examples
    --------
    >>> import os, tempfile
    >>> from landmarks.operators.rows.files import open_rows
    >>> path = os.path.join(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, np.ones((5, 2), dtype=np.float32))
    >>> open_rows(path)
    ArrayRows(m=5, n=2, dtype=float32)
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    ending = path.suffix.lower()
    if columns is not None and ending not in ARROW and not _is_parquet_folder(path):
        raise ValueError(
            f"columns are chosen by name in Parquet and Feather files only, got {path.name}"
        )
    if ending == ".npy":
        with _as("a .npy file", path):
            return ArrayRows(np.lib.format.open_memmap(path, mode="r"))
    if ending in HDF5:
        return ArrayRows(_hdf5(path, key))
    if ending == ".zarr":
        return ArrayRows(_zarr(path, key))
    if ending in ARROW or _is_parquet_folder(path):
        import pyarrow.dataset

        kind = ARROW.get(ending, "parquet")
        with _as(f"a {kind} file", path):
            table = pyarrow.dataset.dataset(path, format=kind)
        return ArrowRows(table, columns, numeric_only=numeric_only)
    raise ValueError(
        "rows are read from .npy, .parquet, .feather, .arrow, .zarr and .h5, got "
        f"{path.name}; other files must be read into memory first"
    )


def _as(kind: str, path: Path) -> AbstractContextManager[None]:
    """Say which file is not what its ending says, for whatever error its library raises."""
    return as_format_error(f"{path.name} cannot be read as {kind}")


def _is_parquet_folder(path: Path) -> bool:
    return path.is_dir() and any(path.rglob("*.parquet"))


def _hdf5(path: Path, key: str | None) -> Any:
    import h5py

    with _as("an HDF5 file", path):
        file = h5py.File(path, "r")
    matrices: list[str] = []

    def note(name: str, item: Any) -> None:
        if len(getattr(item, "shape", None) or ()) == 2:
            matrices.append(name)

    file.visititems(note)
    return file[_the_one(path, key, matrices)]


def _zarr(path: Path, key: str | None) -> Any:
    import zarr

    with _as("a Zarr store", path):
        store = zarr.open(str(path), mode="r")
    if hasattr(store, "shape"):
        return store
    matrices = [name for name, array in store.arrays() if len(array.shape) == 2]
    return store[_the_one(path, key, matrices)]


def _the_one(path: Path, key: str | None, matrices: list[str]) -> str:
    """The key, or the only matrix there is."""
    if key is None and len(matrices) == 1:
        return matrices[0]
    if key is None or key not in matrices:
        listed = ", ".join(map(repr, matrices)) or "none"
        raise ValueError(
            f"say which matrix of {path.name} to read with key=…: it holds {listed}, got {key!r}"
        )
    return key


def as_rows(X: Any) -> RowBlocks | None:
    """X as a source of rows, or None if X is an array or table in memory."""
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | os.PathLike):
        return open_rows(X)
    if is_arrow(X):
        return ArrowRows(X)
    if isinstance(X, np.memmap) or _is_stored(X):
        return ArrayRows(X) if len(X.shape) == 2 and 0 not in X.shape else None
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
