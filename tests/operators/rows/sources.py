"""One matrix as every source of rows that is understood."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import zarr

Make = Callable[[np.ndarray, Path, int], Any]


def memmap(X: np.ndarray, folder: Path, height: int) -> np.memmap:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def hdf5(X: np.ndarray, folder: Path, height: int) -> Any:
    return h5py.File(folder / "X.h5", "w").create_dataset(
        "X", data=X, chunks=(min(height, len(X)), X.shape[1])
    )


def zarr_array(version: int) -> Make:
    def make(X: np.ndarray, folder: Path, height: int) -> Any:
        array = zarr.create_array(
            store=str(folder / f"X{version}.zarr"),
            shape=X.shape,
            chunks=(min(height, len(X)), 3),
            dtype=X.dtype,
            zarr_format=version,
        )
        array[:] = X
        return array

    return make


def table(X: np.ndarray) -> pa.Table:
    return pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])})


def parquet(X: np.ndarray, folder: Path, height: int) -> Path:
    pq.write_table(table(X), folder / "X.parquet", row_group_size=height)
    return folder / "X.parquet"


def parquet_folder(X: np.ndarray, folder: Path, height: int) -> ds.Dataset:
    (folder / "parts").mkdir()
    for i, part in enumerate(cut(X, height)):
        pq.write_table(table(part), folder / "parts" / f"{i:06}.parquet")
    return ds.dataset(folder / "parts")


def cut(X: np.ndarray, height: int) -> list[np.ndarray]:
    return [X[start : start + height] for start in range(0, len(X), height)]


SOURCES: dict[str, Make] = {
    "memmap": memmap,
    "memmap by columns": lambda X, folder, height: memmap(np.asfortranarray(X), folder, height),
    "path of npy": lambda X, folder, height: (memmap(X, folder, height), str(folder / "X.npy"))[1],
    "HDF5": hdf5,
    "Zarr 2": zarr_array(2),
    "Zarr 3": zarr_array(3),
    "path of Parquet": parquet,
    "ParquetFile": lambda X, folder, height: pq.ParquetFile(parquet(X, folder, height)),
    "Parquet dataset": parquet_folder,
    "Arrow table": lambda X, folder, height: pa.concat_tables(
        table(part) for part in cut(X, height)
    ),
    "Arrow reader": lambda X, folder, height: table(X).to_reader(max_chunksize=height),
    "list of blocks": lambda X, folder, height: cut(X, height),
    "list with empty blocks": lambda X, folder, height: [X[:0], *cut(X, height), X[:0]],
    "iterator": lambda X, folder, height: iter(cut(X, height)),
    "generator of data frames": lambda X, folder, height: (
        pd.DataFrame(part, columns=[f"c{j}" for j in range(X.shape[1])]) for part in cut(X, height)
    ),
    "function of iterators": lambda X, folder, height: lambda: iter(cut(X, height)),
    "function of record batches": lambda X, folder, height: (
        lambda: table(X).to_batches(max_chunksize=height)
    ),
}
