"""Dask data that are refused, and where a missing value is."""

import numpy as np
import pytest

import landmarks as lm

from .arrays import POINTS, TALL, WIDE, da, dask, each_scheduler

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("row", "chunk"),
    [(5, "partition 0, of rows 0 to 999"), (4567, "partition 4, of rows 4000 to 4999")],
)
@each_scheduler
def test_a_value_that_is_missing_in_a_late_chunk_is_found_and_placed(row, chunk):
    bad = TALL.copy()
    bad[row, 3] = np.nan
    for use in (lm.data, lambda X: lm.kernel(X, lm.rbf())):
        with pytest.raises(
            ValueError, match=rf"contains NaN .*first at row {row}, column 3.*{chunk}"
        ):
            use(da.from_array(bad, chunks=(1000, -1)))


def test_the_number_of_a_partition_is_not_named_where_partitions_were_joined():
    bad = TALL.copy()
    bad[4567, 3] = np.nan
    with pytest.raises(ValueError, match="found in the chunk of rows"):
        lm.data(da.from_array(bad, chunks=(1000, 5)))


def test_a_missing_value_of_wide_data_is_placed():
    bad = WIDE.copy()
    bad[4, 2] = np.inf
    with pytest.raises(ValueError, match="contains infinity .*first at row 4, column 2"):
        lm.data(da.from_array(bad, chunks=(3, 1000)))


@each_scheduler
@pytest.mark.parametrize(
    ("data", "use", "sentence"),
    [
        (TALL, lm.data, "rows 2000 to 3999 of X has 1999 rows instead of 2000"),
        (TALL, lambda X: lm.data(X, scale=True), "rows 2000 to 3999 of X has 1999 rows"),
        (WIDE, lm.data, "rows 0 to 8 of X has 8 rows instead of 9"),  # of chunks put together
        (TALL, lambda X: lm.kernel(X, lm.rbf()), "rows 2000 to 3999 of points has 1999 rows"),
    ],
    ids=["tall", "scaled", "wide", "points"],
)
def test_a_chunk_with_fewer_rows_than_it_was_said_to_have_is_named(data, use, sentence):
    third = len(data) // 3
    parts = [data[:third], data[third : 2 * third - 1], data[2 * third :]]
    chunks = [da.from_delayed(dask.delayed(part), (third, data.shape[1]), float) for part in parts]
    with pytest.raises(ValueError, match=sentence):
        use(da.concatenate(chunks))


def test_names_of_a_data_frame_are_kept():
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame(TALL, columns=[f"c{j}" for j in range(20)])
    selection = lm.select(frames.from_pandas(frame, npartitions=3), 4, include=["c7"])
    np.testing.assert_array_equal(selection.indices, lm.select(frame, 4, include=["c7"]).indices)
    assert "c7" in selection.chosen_names


def test_chunks_of_unknown_size_are_measured():
    X = da.from_array(TALL, chunks=(1000, -1))
    some = X[X[:, 0] > 0]
    np.testing.assert_array_equal(
        lm.select(some, 4).indices, lm.select(TALL[TALL[:, 0] > 0], 4).indices
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.ones((4, 3), dtype=complex), "Complex data not supported: X is complex128"),
        (np.array([["a", "b"]]), "X must hold numbers, got <U1"),
        (np.ones(5), r"X must have two dimensions, got shape \(5,\)"),
        (np.ones((0, 5)), r"X must have at least one row and one column, got shape \(0, 5\)"),
    ],
)
def test_anything_but_a_matrix_of_numbers_is_refused(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        lm.data(da.from_array(values))


def test_a_bag_is_refused():
    bag = pytest.importorskip("dask.bag", reason="needs dask.bag")
    with pytest.raises(TypeError, match="X must be a dask array or data frame, got Bag"):
        lm.data(bag.from_sequence([1, 2]))


@pytest.mark.parametrize(
    "use", [lm.data, lambda X: lm.select(X, 2), lambda X: lm.kernel(X, lm.rbf())]
)
def test_a_lazy_call_without_a_shape_is_refused(use):
    with pytest.raises(
        TypeError,
        match=r"must have a shape, got a Delayed; make an array of it with "
        r"dask\.array\.from_delayed",
    ):
        use(dask.delayed(np.ones)((4, 4)))


def test_settings_of_points_in_memory_are_refused():
    with pytest.raises(ValueError, match="engine and memory are for points in memory"):
        lm.kernel(da.from_array(POINTS), lm.rbf(), engine="chunked")


def test_a_device_is_for_dask_points_alone():
    with pytest.raises(ValueError, match="device is for the workers of dask points"):
        lm.kernel(POINTS, lm.rbf(), device="cuda")
