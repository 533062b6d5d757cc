"""Write the small files that fuzzing starts from: `PYTHONPATH=src python fuzz/seeds.py`."""

from __future__ import annotations

import contextlib
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

import landmarks as lm

CORPUS = Path(__file__).parent / "corpus"
X = np.round(np.random.default_rng(0).standard_normal((6, 4)), 2)


def put(target: str, name: str, data: bytes) -> None:
    """One file of the corpus of a target."""
    path = CORPUS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def saved(save, *arguments, **named) -> bytes:
    """What a function writes to a file."""
    file = io.BytesIO()
    save(file, *arguments, **named)
    return file.getvalue()


def archive(**members: bytes) -> bytes:
    """A zip file of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name.replace("__", "."), data)
    return file.getvalue()


def results() -> None:
    for name, options in {
        "greedy": {},
        "annealed": {"method": "annealed"},
        "auto": {"method": "auto", "include": [1]},
    }.items():
        path = CORPUS / "result" / f"{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        lm.select(X, 2, **({"method": "greedy"} | options)).save(path)
        with np.load(path) as arrays:
            put(
                "result", f"{name}-plain.npz", saved(np.savez, **arrays)
            )  # stored, so that changes reach what is inside


def arrays() -> None:
    for name, array in {
        "double": X,
        "single": X.astype("f4"),
        "whole": (10 * X).astype("i2"),
        "fortran": np.asfortranarray(X),
        "swapped": X.astype(">f8"),
    }.items():
        put("npy", f"{name}.npy", saved(np.save, array))
        put("npz", f"{name}.npz", saved(np.savez, X=array))
    put("npz", "packed.npz", saved(np.savez_compressed, X=X, names=np.array(list("abcd"))))
    put(
        "npz",
        "sparse.npz",
        saved(scipy.sparse.save_npz, scipy.sparse.csr_array(X), compressed=False),
    )
    put(
        "npz",
        "escaping.npz",
        archive(**{"../../X__npy": saved(np.save, X), "/etc/X__npy": saved(np.save, X)}),
    )
    put("mtx", "dense.mtx", saved(scipy.io.mmwrite, X))
    put(
        "mtx",
        "coordinates.mtx",
        saved(scipy.io.mmwrite, scipy.sparse.coo_array(np.where(X > 0, X, 0))),
    )
    put("any", "packed.csv.gz", gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0))
    put("any", "packed.npy.gz", gzip.compress(saved(np.save, X), mtime=0))


def text() -> None:
    put("csv", "plain.csv", b"a,b,c\n1,2,3\n4.5,-6e3,\n")
    put("csv", "european.csv", b'\xef\xbb\xbf"gr\xc3\xb6\xc3\x9fe";b\r\n1,5;2\r\n"3,25";NA\r\n')
    put("csv", "latin.csv", b"gr\xf6\xdfe;b\n1;2\n")
    put("csv", "quoted.csv", b'"a\nb","c,""d"""\n1,2\n')
    put("csv", "no-header.csv", b"1 | 2\n3 | inf\n")
    put("csv", "utf16.csv", "a;b\n1;2\n".encode("utf-16"))
    put("tsv", "plain.tsv", b"a\tb\n1\t2\n3\t4\n")


def tables() -> None:
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet

        table = pa.table(
            {"a": X[:, 0], "b": (10 * X[:, 1]).astype(int), "c": [None, 1.0, 2.0, 3.0, 4.0, 5.0]}
        )
        put(
            "parquet",
            "table.parquet",
            saved(lambda file: pa.parquet.write_table(table, file, compression="none")),
        )
        put(
            "arrow",
            "table.arrow",
            saved(lambda file: pa.feather.write_feather(table, file, compression="uncompressed")),
        )
    with contextlib.suppress(ImportError):
        import h5py

        with h5py.File(CORPUS / "small.h5ad", "w") as store:
            store["X"] = X.astype("f4")
            for axis, names in (("var", b"abcd"), ("obs", b"uvwxyz")):
                store.create_group(axis)["_index"] = [bytes([name]) for name in names]
        put("h5ad", "dense.h5ad", (CORPUS / "small.h5ad").read_bytes())
        (CORPUS / "small.h5ad").unlink()


def checkpoints() -> None:
    if not hasattr(lm, "Checkpoint"):
        return
    from targets import CHECKPOINTED

    path = CORPUS / "checkpoint" / "ended.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    lm.select(CHECKPOINTED, 2, method="greedy", checkpoint=lm.Checkpoint(path, interval=0))


if __name__ == "__main__":
    CORPUS.mkdir(exist_ok=True)
    for make in (results, arrays, text, tables, checkpoints):
        make()
