"""Arrays of xarray: the coordinate of the second dimension names the columns, at every door."""

import numpy as np
import pytest

import landmarks as lm

xr = pytest.importorskip("xarray", reason="xarray is not installed")

X = np.random.default_rng(0).standard_normal((40, 6)) * [1, 1, 3, 1, 2, 1]
GAUGES = [f"gauge {letter}" for letter in "abcdef"]


def labelled(values=X, labels=GAUGES):
    return xr.DataArray(values, coords={"gauge": labels}, dims=("time", "gauge"))


def with_gap():
    values = X.copy()
    values[3, 1] = np.nan
    return values


DOORS = {
    "select": lambda A: lm.select(A, 2, method="greedy").chosen_names,
    "compare": lambda A: lm.compare(A, 2, methods=["greedy"]).best.chosen_names,
    "data": lambda A: lm.select(lm.data(A), 2, method="greedy").chosen_names,
    "fit": lambda A: lm.ColumnSelector(2, method="greedy").fit(A).get_feature_names_out(),
    "partial_fit": lambda A: lm.ColumnSelector(2).partial_fit(A).get_feature_names_out(),
}


@pytest.mark.parametrize("door", DOORS)
def test_labels_of_the_second_dimension_are_the_names(door):
    assert sorted(DOORS[door](labelled())) == ["gauge c", "gauge e"]
    with pytest.raises(ValueError, match="NaN .*row 3, column 1 'gauge b'"):
        DOORS[door](labelled(with_gap()))


def test_held_out_rows_are_those_of_the_values():
    found, expected = lm.held_out(labelled(), [1, 2]), lm.held_out(X, [1, 2])
    assert np.array_equal(found.errors, expected.errors)


@pytest.mark.parametrize("shape", [(40, 6), (4, 6)], ids=["tall", "wide"])
@pytest.mark.parametrize("center", [False, True])
def test_chunks_are_read_by_dask_and_keep_their_labels(shape, center):
    pytest.importorskip("dask.array", reason="needs dask")
    A = labelled(X[: shape[0]])
    expected = lm.select(A, 2, center=center).chosen_names
    assert lm.select(A.chunk({"time": 2}), 2, center=center).chosen_names == expected
    with pytest.raises(ValueError, match="column 1 'gauge b'"):
        lm.select(labelled(with_gap()[: shape[0]]).chunk({"time": 2}), 2, center=center)


def test_labels_stay_what_they_are():
    assert lm.select(labelled(labels=[10, 20, 30, 40, 50, 60]), 2).chosen_names == [30, 50]
    assert lm.select(xr.DataArray(X), 2).chosen_names is None


def test_other_rows_are_found_by_label():
    s = lm.select(labelled(), 2, include=["gauge a"])
    other = s.transform(labelled()[:3, ::-1])
    assert other.gauge.values.tolist() == s.chosen_names and "gauge a" in s.chosen_names
    assert np.array_equal(other, X[:3, s.indices])


def test_points_targets_and_stored_matrices_may_be_labelled():
    assert np.array_equal(
        lm.select(lm.kernel(labelled(), lm.rbf(1.0)), 3).indices,
        lm.select(lm.kernel(X, lm.rbf(1.0)), 3).indices,
    )
    assert lm.select(labelled(), 2, target=labelled()[:, :2]).chosen_names == GAUGES[:2]
    K = xr.DataArray(X.T @ X, coords={"b": GAUGES}, dims=("a", "b"))
    assert lm.select(lm.psd(K), 2).chosen_names == ["gauge c", "gauge e"]


def test_what_is_no_matrix_is_refused():
    with pytest.raises(ValueError, match="X must have two dimensions"):
        lm.select(xr.DataArray(np.zeros((3, 4, 5))), 2)
    with pytest.raises(TypeError, match="must be a DataArray of xarray .* got a Dataset"):
        lm.select(labelled().to_dataset(name="level"), 2)
