"""Columns of a data matrix: scales, layouts and what is kept."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators.data import Data, gram_is_cheaper

X = np.random.default_rng(0).standard_normal((40, 15)) * np.linspace(1, 3, 15)


@pytest.mark.parametrize("shape", ["tall", "wide"])
@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_scaling_by_a_power_of_two_changes_no_selection(power, shape):
    A = X if shape == "tall" else X[:6]
    expected = lm.select(A, 5, method="greedy").indices
    scaled = np.ldexp(A, power)
    np.testing.assert_array_equal(lm.select(scaled, 5, method="greedy").indices, expected)


@pytest.mark.parametrize("power", [-120, -60, 60, 110])
def test_scaling_changes_no_selection_in_single_precision(power, xp):
    expected = lm.select(xp.asarray(X, dtype=xp.float32), 5, method="greedy").indices
    scaled = xp.asarray(np.ldexp(X, power).astype(np.float32))
    np.testing.assert_array_equal(lm.select(scaled, 5, method="greedy").indices, expected)


@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_scaling_a_stored_matrix_changes_no_selection(power):
    K = X.T @ X
    expected = lm.select(lm.psd(K), 5, method="greedy").indices
    np.testing.assert_array_equal(
        lm.select(lm.psd(np.ldexp(K, power)), 5, method="greedy").indices, expected
    )


def test_error_is_in_the_units_of_the_data():
    assert (
        lm.select(X * 2.0**200, 5, method="greedy").error()
        == lm.select(X, 5, method="greedy").error() * 2.0**400
    )


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda A: np.repeat(A, 2, axis=1)[:, ::2],
        lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    ],
)
def test_memory_layout_changes_no_selection(layout):
    np.testing.assert_array_equal(
        lm.select(layout(X), 5, method="greedy").indices, lm.select(X, 5, method="greedy").indices
    )


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint64", "bool", "longdouble", ">f8", "<f4"])
def test_other_number_types_become_float64_and_float32_stays(dtype):
    operator = lm.data((10 * X).astype("int8").astype(dtype))
    assert operator.like.dtype == (np.float32 if dtype == "<f4" else np.float64)


def test_read_only_memory_map_is_used_as_it_is(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    operator = lm.data(mapped)
    assert np.may_share_memory(operator.X, mapped)
    np.testing.assert_array_equal(
        lm.select(operator, 5, method="greedy").indices, lm.select(X, 5, method="greedy").indices
    )


def test_gram_matrix_is_formed_only_where_it_saves_work():
    assert gram_is_cheaper(m=100, n=50, itemsize=8)
    assert not gram_is_cheaper(m=10, n=50, itemsize=8)
    assert not gram_is_cheaper(m=10**6, n=10**5, itemsize=8)
    assert lm.data(X[:3]).stored is None


def test_ledger_counts_entries():
    tall, wide = Data(X), Data(X[:5])
    tall.matmul(np.ones((15, 2)))
    assert tall.ledger.snapshot() == {
        "products": 2,
        "columns": 0,
        "entries": 40 * 15 + 15 * 15,
    }  # the Gram pass, then one product
    wide.matmul(np.ones((15, 2)))
    assert wide.ledger.entries == 2 * 5 * 15
    before = tall.ledger.snapshot()
    tall.columns([1, 2])
    assert tall.ledger.since(before) == {"products": 0, "columns": 2, "entries": 30}


def test_a_tensor_that_records_gradients_is_detached():
    torch = pytest.importorskip("torch", reason="needs torch")
    A = torch.tensor(X, requires_grad=True)
    selection = lm.select(A, 3, method="greedy")
    assert not selection.operator.X.requires_grad and A.grad is None


def test_names_of_a_data_frame_are_kept():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(14)] + [14])
    selection = lm.select(frame, 3, method="greedy", include=["c4"])
    assert selection.chosen_names[0] == "c4"
    assert selection.names[-1] == "14"


def test_names_of_an_arrow_table_are_kept():
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    table = pyarrow.table({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    assert lm.select(table, 1, method="greedy", scale=False).chosen_names == ["a"]
