"""Files of rows: the right matrix, or an error that says what to do."""

import h5py
import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import zarr

import landmarks as lm
from landmarks.errors import FormatError

X = np.arange(12.0).reshape(6, 2)


def hdf5(path, **matrices):
    with h5py.File(path, "w") as file:
        for name, values in matrices.items():
            file[name] = values
    return path


def test_the_only_matrix_of_an_hdf5_file_is_found(tmp_path):
    assert lm.data(hdf5(tmp_path / "X.h5", X=X, y=np.ones(6))).m == 6


def test_a_file_of_text_is_read_as_well_and_says_how_it_is_to_be_read(tmp_path):
    (tmp_path / "X.csv").write_text("1.000,5;2\nk.A.;3\n4,5;1\n")
    reading = {"thousands": ".", "na_values": ["k.A."], "header": False}
    with pytest.warns(UserWarning, match="1 of 3 rows have a missing value"):
        operator = lm.data(tmp_path / "X.csv", missing="drop", scale=False, **reading)
    np.testing.assert_array_equal(operator.factor(), [[1000.5, 2], [4.5, 1]])
    with pytest.raises(FileNotFoundError, match="there is no file"):
        lm.data(tmp_path / "none.npy")
    with pytest.raises(TypeError, match="thousands say how to read a file, got ndarray"):
        lm.data(X, thousands=".")


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
@pytest.mark.parametrize("memory", [2**30, 2**10])
def test_columns_of_a_file_are_chosen_by_name(ending, memory, tmp_path):
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "c": -X[:, 0]})
    path = write_table(table, tmp_path / f"X{ending}")
    operator = lm.data(path, columns=["c", "a"], memory=memory)
    np.testing.assert_allclose(operator.diagonal(), 2 * [np.sum(X[:, 0] ** 2)])
    assert operator.names == ("c", "a") and (operator.m is None) == (memory < 2**20)


def test_columns_of_a_folder_of_parquet_files_are_chosen_by_name(tmp_path):
    (tmp_path / "parts").mkdir()
    write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "parts" / "0.parquet")
    assert lm.data(tmp_path / "parts", columns=["b"]).names == ("b",)
    assert lm.data(tmp_path / "parts").m == 6


@pytest.mark.parametrize("memory", [2**30, 2**9])
def test_columns_of_an_array_are_chosen_by_number(memory, tmp_path):
    np.save(tmp_path / "X.npy", X)
    operator = lm.data(tmp_path / "X.npy", columns=["1"], memory=memory)
    np.testing.assert_allclose(operator.diagonal(), [np.sum(X[:, 1] ** 2)])


@pytest.mark.parametrize("ending", [".h5", ".hdf5", ".he5", ".H5"])
def test_every_ending_of_hdf5_is_known(ending, tmp_path):
    assert lm.data(hdf5(tmp_path / f"X{ending}", X=X)).m == 6


def test_a_name_that_is_not_there_is_reported_with_those_that_are(tmp_path):
    with pytest.raises(FormatError, match="has no array 'B'; it holds 'A'"):
        lm.data(hdf5(tmp_path / "X.h5", A=X), array="B")
    with pytest.raises(FormatError, match="it holds none"):
        lm.data(hdf5(tmp_path / "y.h5", y=np.ones(6)))


def test_a_matrix_of_a_zarr_group_is_chosen_by_its_name(tmp_path):
    group = zarr.open_group(str(tmp_path / "G.zarr"), mode="w")
    for name, values in {"A": X, "B": X[:3], "y": X[:, 0]}.items():
        group.create_array(name, shape=values.shape, dtype=values.dtype)[:] = values
    assert lm.data(tmp_path / "G.zarr", array="B").m == 3
    with pytest.raises(FormatError, match="it holds 'A', 'B': |it holds 'B', 'A': "):
        lm.data(tmp_path / "G.zarr")
