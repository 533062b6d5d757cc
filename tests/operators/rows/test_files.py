"""Files of rows: the right matrix, or an error that says what to do."""

import h5py
import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import zarr

import landmarks as lm
from landmarks.operators.rows.files import open_rows

X = np.arange(12.0).reshape(6, 2)


def hdf5(path, **matrices):
    with h5py.File(path, "w") as file:
        for name, values in matrices.items():
            file[name] = values
    return path


def test_the_only_matrix_of_an_hdf5_file_is_found(tmp_path):
    source = open_rows(hdf5(tmp_path / "X.h5", X=X, y=np.ones(6)))
    assert (source.m, source.n) == (6, 2)


def test_several_matrices_need_a_key(tmp_path):
    path = hdf5(tmp_path / "X.h5", A=X, B=X[:3])
    with pytest.raises(
        ValueError,
        match=r"say which matrix of X\.h5 to read with key=…: it holds 'A', 'B', got None",
    ):
        open_rows(path)
    assert open_rows(path, key="B").m == 3


def test_zarr_arrays_and_groups_are_opened(tmp_path):
    group = zarr.open_group(str(tmp_path / "G.zarr"), mode="w")
    group.create_array("X", shape=X.shape, dtype=X.dtype)[:] = X
    assert open_rows(tmp_path / "G.zarr").n == 2
    assert lm.data(str(tmp_path / "G.zarr")).n == 2


@pytest.mark.parametrize(
    "name, message",
    [
        (
            "X.csv",
            r"rows are read from \.npy, \.parquet.*got X\.csv; other files must be read into "
            r"memory first",
        ),
        ("none.npy", "there is no file"),
    ],
)
def test_other_files_are_refused(name, message, tmp_path):
    (tmp_path / "X.csv").write_text("1,2\n")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        open_rows(tmp_path / name)


def test_one_dimension_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X[:, 0])
    with pytest.raises(
        ValueError, match=r"two dimensions and at least one row and one column, got shape \(6,\)"
    ):
        open_rows(tmp_path / "x.npy")


def test_tall_chunks_that_are_unpacked_many_times_are_reported(tmp_path):
    array = zarr.create_array(
        store=str(tmp_path / "X.zarr"), shape=(40_000, 4), chunks=(40_000, 1), dtype="f8"
    )
    with pytest.warns(
        UserWarning, match=r"each chunk of X has 40000 rows, .* store X in chunks of fewer rows"
    ):
        lm.data(array, memory=2**18)


def write_table(table, path):
    write = (
        pyarrow.parquet.write_table
        if path.suffix in (".parquet", ".pq")
        else pyarrow.feather.write_feather
    )
    write(table, str(path))
    return path


@pytest.mark.parametrize("ending", [".parquet", ".pq", ".feather", ".arrow"])
def test_columns_of_a_file_are_chosen_by_name(ending, tmp_path):
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "c": -X[:, 0]})
    source = open_rows(write_table(table, tmp_path / f"X{ending}"), columns=["c", "a"])
    np.testing.assert_array_equal(
        np.concatenate(list(source.read(64))), np.stack([-X[:, 0], X[:, 0]], axis=1)
    )
    assert source.names == ("c", "a")


def test_columns_of_a_folder_of_parquet_files_are_chosen_by_name(tmp_path):
    (tmp_path / "parts").mkdir()
    write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "parts" / "0.parquet")
    assert open_rows(tmp_path / "parts", columns=["b"]).names == ("b",)
    assert open_rows(tmp_path / "parts").m == 6


def test_columns_of_other_files_cannot_be_chosen_by_name(tmp_path):
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(
        ValueError,
        match=r"columns are chosen by name in Parquet and Feather files only, got X\.npy",
    ):
        open_rows(tmp_path / "X.npy", columns=["a"])


@pytest.mark.parametrize("ending", [".h5", ".hdf5", ".he5", ".H5"])
def test_every_ending_of_hdf5_is_known(ending, tmp_path):
    assert open_rows(hdf5(tmp_path / f"X{ending}", X=X)).m == 6


def test_a_key_that_is_not_there_is_reported_with_those_that_are(tmp_path):
    with pytest.raises(ValueError, match="it holds 'A', got 'B'"):
        open_rows(hdf5(tmp_path / "X.h5", A=X), key="B")
    with pytest.raises(ValueError, match="it holds none, got None"):
        open_rows(hdf5(tmp_path / "y.h5", y=np.ones(6)))


def test_a_matrix_of_a_zarr_group_is_chosen_by_its_key(tmp_path):
    group = zarr.open_group(str(tmp_path / "G.zarr"), mode="w")
    for name, values in {"A": X, "B": X[:3], "y": X[:, 0]}.items():
        group.create_array(name, shape=values.shape, dtype=values.dtype)[:] = values
    assert open_rows(tmp_path / "G.zarr", key="B").m == 3
    with pytest.raises(ValueError, match="it holds 'A', 'B', got None|it holds 'B', 'A', got None"):
        open_rows(tmp_path / "G.zarr")
