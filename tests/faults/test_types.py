"""Faults 15 to 24: types and layout."""

import hashlib
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.operators.base import new_rows

X = np.random.default_rng(0).integers(-9, 10, (25, 8)).astype(np.float64)
EXPECTED = lm.select(X, 3).indices


def same(A):
    np.testing.assert_array_equal(lm.select(A, 3).indices, EXPECTED)


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        "longdouble",
        ">f8",
        ">f4",
        ">i4",
    ],
)
def test_fault_15_every_number_type_gives_the_same_choice(dtype):
    same(X.astype(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_fault_15_unsigned_numbers_do_not_wrap_around(dtype):
    np.testing.assert_array_equal(
        lm.select((X + 9).astype(dtype), 3, scale=False).indices,
        lm.select(X + 9, 3, scale=False).indices,
    )


def test_fault_15_booleans_are_numbers():
    B = X > 0
    np.testing.assert_array_equal(
        lm.select(B, 3, scale=False).indices, lm.select(B.astype(float), 3, scale=False).indices
    )


@pytest.mark.parametrize(
    "view",
    [
        np.ascontiguousarray(X),
        np.asfortranarray(X),
        np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        np.ascontiguousarray(X.T).T,
    ],
    ids=["C", "Fortran", "strided", "negative strides", "transposed"],
)
def test_fault_18_layouts_give_the_same_choice_and_nothing_is_written_to(view):
    before = hashlib.sha256(np.ascontiguousarray(view)).digest()
    for method in ("auto", "greedy", "continuous", "annealed", "kdpp", "pivoted_qr"):
        lm.select(view, 3, method=method).error()
    same(view)
    assert hashlib.sha256(np.ascontiguousarray(view)).digest() == before


def test_fault_19_a_read_only_memmap_takes_little_memory(tmp_path):
    rng = np.random.default_rng(1)
    stored = np.memmap(tmp_path / "X.dat", dtype=np.float64, mode="w+", shape=(400_000, 20))
    stored[:] = rng.standard_normal((400_000, 20))
    stored.flush()
    A = np.memmap(tmp_path / "X.dat", dtype=np.float64, mode="r", shape=(400_000, 20))
    tracemalloc.start()
    s = lm.select(A, 3, method="greedy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * A.nbytes
    np.testing.assert_array_equal(s.indices, lm.select(np.array(A), 3, method="greedy").indices)


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_fault_20_every_sparse_format_equals_dense(form, kind):
    same(getattr(scipy.sparse, f"{form}_{kind}")(X))


def test_fault_20_a_sparse_matrix_is_never_made_dense():
    A = scipy.sparse.random_array(
        (200_000, 300), density=1e-3, rng=np.random.default_rng(0), format="csr"
    )
    tracemalloc.start()
    lm.select(A, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000 * 300 * 8 / 10


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.tolist(),
        pd.DataFrame,
        lambda X: pd.DataFrame(X, columns=["a", 1, "b", 2, 3, "c", 4.5, None]),
        lambda X: pl.DataFrame(X, schema=list("abcdefgh")),
        lambda X: pa.table({name: X[:, j] for j, name in enumerate("abcdefgh")}),
    ],
    ids=["lists", "pandas", "mixed names", "polars", "pyarrow"],
)
def test_fault_21_tables_of_all_kinds_are_taken(form):
    same(form(X))


def test_fault_21_columns_in_another_order_are_refused_at_transform():
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    selector = lm.ColumnSelector(3, center=True).fit(frame)
    with pytest.raises(ValueError, match="should match those that were passed during fit"):
        selector.transform(frame[list("hgfedcba")])


@pytest.mark.parametrize(
    "method",
    [
        "auto",
        "greedy",
        "swap",
        "continuous",
        "annealed",
        "rpcholesky",
        "kdpp",
        "pivoted_qr",
        "exact",
    ],
)
def test_fault_22_one_row_or_one_column_works(method):
    assert lm.select(np.array([[1.0, -3.0, 2.0]]), 1, method=method).error() == pytest.approx(
        0, abs=1e-12
    )
    assert lm.select(X[:, :1], 1, method=method).indices.tolist() == [0]


@pytest.mark.parametrize("shape", [(5, 12), (12, 5), (1, 4), (4, 1)])
def test_fault_23_flat_and_tall_data_have_one_interface(shape):
    A = np.random.default_rng(0).standard_normal(shape)
    s = lm.select(A, 1)
    P = np.outer(A[:, s.indices[0]], A[:, s.indices[0]]) / np.sum(A[:, s.indices[0]] ** 2)
    assert s.error() == pytest.approx(
        np.linalg.norm(A - P @ A) ** 2, abs=1e-12 * np.linalg.norm(A) ** 2
    )


def test_fault_23_another_number_of_features_is_refused_at_transform():
    selector = lm.ColumnSelector(3, center=True).fit(X)
    with pytest.raises(ValueError, match="X has 7 features, but ColumnSelector is expecting 8"):
        selector.transform(X[:, :7])


def test_fault_24_a_torch_tensor_gives_the_same_choice_and_keeps_no_graph():
    torch = pytest.importorskip("torch")
    same(torch.as_tensor(X))
    watched = torch.tensor(X, requires_grad=True)
    s = lm.select(watched, 3)
    np.testing.assert_array_equal(s.indices, EXPECTED)
    assert not s.operator.X.requires_grad
    assert not s.nystrom().factor.requires_grad
    assert watched.grad is None


def test_fault_24_library_and_dtype_of_a_tensor_come_out_again():
    torch = pytest.importorskip("torch")
    factor = lm.select(torch.as_tensor(X, dtype=torch.float32), 3).nystrom().factor
    assert isinstance(factor, torch.Tensor)
    assert factor.dtype == torch.float32


def test_fault_24_an_estimator_takes_a_tensor():
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(
        lm.ColumnSelector(3, random_state=0, center=True).fit(torch.as_tensor(X)).indices_,
        lm.ColumnSelector(3, random_state=0, center=True).fit(X).indices_,
    )


def test_fault_24_tensors_of_two_devices_are_refused():
    torch = pytest.importorskip("torch")
    points = torch.as_tensor(X)
    with pytest.raises(ValueError, match="points are on meta, but the kernel's are on cpu"):
        new_rows(
            lm.kernel(points, lm.rbf(sigma=2.0)),
            torch.empty((2, 8), dtype=torch.float64, device="meta"),
            [0, 1],
        )
