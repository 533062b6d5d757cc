"""The other formats: the same table from each; damaged files are refused before allocation."""

import importlib
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from landmarks.errors import FormatError
from landmarks.readers.table import read

X = np.array([[1.0, 0.0, 2.5], [0.0, -3.0, 4.0]])
NAMES = ("a", "b", "c")


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def table(raw, **how):
    return read(io.BytesIO(raw), **how)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (npy(np.zeros((2, 2), dtype=[("x", "f8")])), "records"),
        (npy(np.array([["x"]])), "real numbers"),
        (npy(X.astype(complex)), "real numbers"),
        (npy(np.zeros(3)), "rows and columns"),
        (npy(np.zeros((0, 3))), "rows and columns"),
    ],
)
def test_arrays_of_anything_but_a_matrix_of_numbers_are_refused(raw, message):
    with pytest.raises(FormatError, match=message):
        table(raw)


def test_npz_takes_x_and_the_names_next_to_it():
    found = table(npz(X=X, y=np.zeros(2), feature_names=np.array(NAMES)))
    assert found.names == NAMES
    np.testing.assert_array_equal(found.values, X)


def test_npz_with_several_arrays_asks_which():
    raw = npz(first=X, second=2 * X)
    with pytest.raises(FormatError, match="'first', 'second': name one with --array"):
        table(raw)
    np.testing.assert_array_equal(table(raw, array="second").values, 2 * X)


def test_sparse_npz_stays_sparse():
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_matrix(X))
    found = table(file.getvalue()).values
    assert scipy.sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), X)


def test_a_sparse_npz_with_indices_out_of_range_is_refused():
    raw = npz(
        format=np.array(b"csr"),
        shape=np.array([2, 3]),
        data=np.ones(2),
        indices=np.array([0, 99]),
        indptr=np.array([0, 1, 2]),
    )
    with pytest.raises(FormatError, match="damaged"):
        table(raw)


SYMMETRIC = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 4.0]])


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize(
    "convert", [np.asarray, scipy.sparse.coo_array], ids=["array", "coordinate"]
)
def test_matrix_market_as_scipy_writes_it(symmetry, convert):
    matrix = {
        "general": X,
        "symmetric": SYMMETRIC,
        "skew-symmetric": np.tril(SYMMETRIC, -1) - np.tril(SYMMETRIC, -1).T,
    }[symmetry]
    file = io.BytesIO()
    scipy.io.mmwrite(file, convert(matrix), comment="a comment", symmetry=symmetry)
    found = table(file.getvalue()).values
    assert scipy.sparse.issparse(found) == (convert is scipy.sparse.coo_array)
    np.testing.assert_allclose(found.toarray() if scipy.sparse.issparse(found) else found, matrix)


def test_a_matrix_market_pattern_is_ones_and_integers_are_numbers():
    pattern = b"%%MatrixMarket matrix coordinate pattern general\n% made by hand\n2 3 2\n1 1\n2 3\n"
    assert table(pattern).values.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    integer = b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 5\n1 1 2\n"
    assert table(integer, columns=("0",)).values.toarray().tolist() == [[7], [0]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("matrix array real general\n1000000 1000000\n1\n", "more than the limit"),
        ("matrix coordinate real general\n2 2 99999999999\n1 1 1\n", "more than the limit"),
        (
            "matrix coordinate real general\n2 2 1\n9 9 1\n",
            "a coordinate lies outside of the 2 × 2 matrix",
        ),
        ("matrix coordinate real general\n2 2 1\n1.5 1 1\n", "a coordinate lies outside"),
        (
            "matrix coordinate real general\n2 2 2\n1 1 1\n",
            "2 lines of 3 numbers were expected from line 3 on",
        ),
        ("matrix array real general\n1 2\n1\nx\n", "cannot be read"),
        ("matrix array real symmetric\n1 2\n1\n2\n", "must be square"),
        ("tensor\n1", "the banner must be"),
        ("matrix array complex general\n1 1\n1 1\n", "Complex"),
        ("matrix array real general\nx y\n", "line 2: the sizes must be ROWS COLUMNS"),
        ("matrix array real general\n0 3\n", "rows and columns"),
    ],
)
def test_bad_matrix_market_files_are_refused(body, message):
    with pytest.raises(FormatError, match=message):
        table(f"%%MatrixMarket {body}".encode())


def test_parquet_and_arrow_give_the_same_table(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    feather, parquet = (
        importlib.import_module("pyarrow.feather"),
        importlib.import_module("pyarrow.parquet"),
    )
    frame = pa.table(
        {"id": ["x", "y"], "a": [1, 0], "b": [None, -3.0], "c": pa.array([2.5, 4.0], pa.float32())}
    )
    parquet.write_table(frame, tmp_path / "t.parquet")
    feather.write_feather(frame, tmp_path / "t.feather")
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, frame.schema) as writer,
    ):
        writer.write_table(frame)
    expected = X.copy()
    expected[0, 1] = np.nan
    for name in ("t.parquet", "t.feather", "t.arrow"):
        found = read(tmp_path / name, drop=("id",))
        assert found.names == NAMES
        np.testing.assert_array_equal(found.values, expected)
        with pytest.raises(
            FormatError, match=r"'id' \(row 0: 'x', string\); leave them out with numeric_only"
        ):
            read(tmp_path / name)


def test_h5ad_dense_and_sparse_with_genes_and_cells(tmp_path):
    anndata = pytest.importorskip("anndata", reason="needs anndata to write the file")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    pytest.importorskip("h5py", reason="needs h5py")
    for matrix in (X, scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X)):
        data = anndata.AnnData(
            matrix,
            obs=pandas.DataFrame(index=["cell1", "cell2"]),
            var=pandas.DataFrame(index=list(NAMES)),
        )
        data.write_h5ad(tmp_path / "t.h5ad")
        found = read(tmp_path / "t.h5ad", drop=("b",))
        assert found.names == ("a", "c")
        assert found.rows == ("cell1", "cell2")
        values = found.values.toarray() if scipy.sparse.issparse(found.values) else found.values
        np.testing.assert_array_equal(values, X[:, [0, 2]])


def test_h5ad_whose_names_have_a_mask_beside_them(tmp_path):
    h5py = pytest.importorskip("h5py", reason="needs h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = X
        for axis, names in (("obs", ["cell1", "cell2"]), ("var", list(NAMES))):
            file.create_group(axis).attrs["_index"] = "_index"
            file[f"{axis}/_index/values"] = np.array(names, dtype=h5py.string_dtype())
            file[f"{axis}/_index/mask"] = np.zeros(len(names), dtype=bool)
    found = read(tmp_path / "t.h5ad", drop=("b",))
    assert (found.names, found.rows) == (("a", "c"), ("cell1", "cell2"))


def test_zarr_array_and_group(tmp_path):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    zarr.save_array(str(tmp_path / "array.zarr"), X)
    zarr.save_group(str(tmp_path / "group.zarr"), X=X, other=2 * X)
    np.testing.assert_array_equal(read(tmp_path / "array.zarr").values, X)
    np.testing.assert_array_equal(read(tmp_path / "group.zarr").values, X)
    np.testing.assert_array_equal(read(tmp_path / "group.zarr", array="other").values, 2 * X)
    with pytest.raises(FormatError, match="more than the limit"):
        read(tmp_path / "array.zarr", max_bytes=10)


@pytest.mark.parametrize(
    "magic", [b"PAR1", b"ARROW1\0\0", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"\x1f\x8b"]
)
def test_garbage_behind_a_known_beginning_is_refused(magic):
    with pytest.raises(FormatError):
        table(magic + b"\x07garbage" * 20)


def test_a_folder_is_not_a_table(tmp_path):
    with pytest.raises(
        IsADirectoryError, match="is a folder; give a file, a Zarr store or a folder of Parquet"
    ):
        read(tmp_path)
