"""What all operators share: blocks, memory and indices."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.errors import Stopped
from landmarks.operators import base
from landmarks.operators.base import squared_diagonal
from landmarks.operators.cubes import cubed_diagonal
from landmarks.operators.data import Data
from landmarks.operators.dense import Dense
from landmarks.operators.forms import densify, storable
from landmarks.operators.function import Function, unit_vectors
from landmarks.operators.kernel_matrix import KernelOperator
from landmarks.operators.out_of_core import ByRows
from landmarks.operators.sources import as_rows
from landmarks.operators.sparse import Sparse
from landmarks.problem import check_indices
from landmarks.runs.runner import watching


def test_blocks_cover_all_indices_once():
    assert np.concatenate(list(base.blocks(10, 3))).tolist() == list(range(10))
    assert [len(block) for block in base.blocks(10, 3)] == [3, 3, 3, 1]


def test_squared_diagonal_does_not_depend_on_the_width_of_its_blocks(monkeypatch, xp):
    operator = lm.psd(xp.asarray(np.diag(np.arange(1.0, 8.0)) + 1))
    whole = squared_diagonal(operator)
    monkeypatch.setattr(base, "block_width", lambda operator: 2)
    assert bool(xp.all(squared_diagonal(operator) == whole))


def test_a_matrix_too_large_to_store_is_refused_before_anything_is_allocated():
    operator = lm.kernel(np.zeros((100_000, 1)), lm.rbf())
    assert not storable(operator)
    with pytest.raises(
        MemoryError,
        match=r"storing K needs 74\.5 GiB, above the limit of 4 GiB; use a method that works "
        r"on products",
    ):
        densify(operator)
    assert operator.ledger.entries == 0


@pytest.mark.parametrize(
    ("indices", "error", "message"),
    [
        ([0, 5], ValueError, "indices must be from 0 to 4, got 0 … 5"),
        ([-1], ValueError, "got -1"),
        ([1, 1], ValueError, "indices must be distinct"),
        ([1.5], TypeError, "indices must be a list of integers, got float64"),
        ([True], TypeError, "got bool"),
        ([[1, 2]], TypeError, r"of shape \(1, 2\)"),
    ],
)
def test_indices_are_distinct_integers_in_range(indices, error, message):
    with pytest.raises(error, match=message):
        check_indices(indices, 5)


def test_no_indices_are_indices():
    assert check_indices([], 5).tolist() == []


X = np.random.default_rng(0).standard_normal((9, 6))
MADE = {
    "data": Data(X),
    "dense": Dense(X.T @ X),
    "sparse": Sparse(scipy.sparse.csc_array(X)),
    "passes": ByRows(as_rows([X]), np.sum(X**2, axis=0), memory=2**20),
    "function": Function(lambda V: X.T @ (X @ V), 6, like=X[:0, 0]),
    "kernel": KernelOperator(X.T, lm.rbf(), engine="chunked"),
}


@pytest.mark.parametrize("name", MADE)
def test_an_operator_stands_for_its_own_matrix_and_has_used_nothing(name):
    operator = MADE[name]
    assert operator.exponent == 0 and operator.names is None
    assert operator.ledger.snapshot() == {"products": 0, "columns": 0, "entries": 0}


@pytest.mark.parametrize("power", [0, 150])
@pytest.mark.parametrize(
    "make",
    [
        lm.data,
        lambda A: lm.data(scipy.sparse.csr_array(A)),
        lambda A: lm.psd(A.T @ A),
        lambda A: lm.toeplitz(A[0]),
    ],
)
def test_a_restriction_has_the_units_and_the_ledger_of_the_whole(make, power):
    A = np.abs(np.sort(-np.abs(X)))  # its first row falls, as that of a Toeplitz matrix must
    operator = make(np.ldexp(A, power))
    part = operator.restrict([3, 1])
    assert (operator.exponent > 0) == (power > 0)
    assert (
        part.exponent == operator.exponent
        and part.ledger is operator.ledger
        and part.n == 2
        and part.cheap == operator.cheap
    )


def test_what_is_cheap():
    both = {"diagonal", "columns"}
    assert [
        set(MADE[name].cheap)
        for name in ("data", "dense", "sparse", "kernel", "passes", "function")
    ] == [
        both,
        both,
        both,
        both,
        {"diagonal"},
        set(),
    ]
    assert lm.function(lambda V: V + 0, n=6, diagonal=np.ones(6)).cheap == {"diagonal"}


def test_ledger_counts_the_entries_of_a_sparse_matrix_its_stored_ones():
    tall, wide = np.vstack([np.eye(3)] * 4), np.eye(3, 9)
    operator = lm.data(scipy.sparse.csr_array(tall))
    operator.diagonal()
    assert operator.ledger.snapshot() == {"products": 0, "columns": 0, "entries": 12}
    operator.matmul(np.ones((3, 2)))  # its Gram matrix is made, and read
    operator.columns([1])
    assert operator.ledger.snapshot() == {"products": 2, "columns": 1, "entries": 12 + 12 + 9 + 3}
    operator = lm.data(scipy.sparse.csr_array(wide))
    operator.matmul(np.ones((2, 1)), cols=[0, 8])
    assert operator.ledger.snapshot() == {"products": 1, "columns": 0, "entries": 3 + 1}


def test_ledger_counts_the_entries_of_a_toeplitz_matrix_and_of_a_black_box():
    operator, product = lm.toeplitz(0.5 ** np.arange(4)), lm.function(lambda V: 2.0 * V, n=4)
    for one in (operator, product):
        one.matmul(np.ones((4, 2)))
        one.matmul(np.ones((2, 1)), rows=[1], cols=[0, 3])
    assert operator.ledger.snapshot() == {"products": 3, "columns": 0, "entries": 8}
    assert product.ledger.snapshot() == {"products": 3, "columns": 0, "entries": 32}
    operator.diagonal(), operator.columns([1, 2]), product.columns([1, 2])
    assert operator.ledger.snapshot() == {"products": 3, "columns": 2, "entries": 8 + 1 + 8}
    assert product.ledger.snapshot() == {"products": 5, "columns": 2, "entries": 48}


@pytest.mark.parametrize(
    ("memory", "width"), [(10**9, 6), (6 * 8 * 3, 3), (6 * 8 * 3 - 1, 2), (1, 1)]
)
def test_as_many_columns_are_read_at_a_time_as_fit(memory, width):
    assert base.block_width(MADE["dense"], memory) == width


def test_a_matrix_is_stored_when_it_just_fits():
    assert storable(MADE["dense"], 6 * 6 * 8) and not storable(MADE["dense"], 6 * 6 * 8 - 1)
    assert storable(lm.psd(np.eye(6, dtype="float32")), 6 * 6 * 4)


def test_squares_and_cubes_are_remembered():
    operator = lm.psd(X.T @ X)
    K = X.T @ X
    np.testing.assert_allclose(cubed_diagonal(operator), np.diag(K @ K @ K), rtol=1e-11)
    columns = operator.ledger.columns
    np.testing.assert_allclose(squared_diagonal(operator), np.diag(K @ K), rtol=1e-11)
    cubed_diagonal(operator)
    assert operator.ledger.columns == columns == 6


def test_unit_vectors_are_columns_of_the_identity():
    np.testing.assert_array_equal(unit_vectors([4, 1], MADE["dense"]), np.eye(6)[:, [4, 1]])


def test_an_operator_says_what_it_cannot_give():
    with pytest.raises(TypeError, match="Dense has no factor X"):
        MADE["dense"].factor()
    with pytest.raises(TypeError, match="new points need a kernel operator"):
        base.new_rows(MADE["dense"], X, [0])
    assert MADE["dense"].m is None and base.faster_squares(MADE["dense"]) is None


def test_operators_answer_for_themselves():
    X = np.random.default_rng(0).standard_normal((50, 20))
    data, dense, kernel = lm.data(X), lm.psd(X.T @ X), lm.kernel(X, lm.rbf(sigma=9.0))
    np.testing.assert_array_equal(base.points_of(kernel), X)
    assert base.points_of(data) is None
    assert not base.on_workers(dense) and not base.on_workers(kernel)
    seconds = [base.product_seconds(operator) for operator in (dense, data, kernel)]
    assert seconds[0] < seconds[1] < seconds[2]
    asymmetric = lm.function(lambda V: np.triu(np.ones((5, 5))) @ V, n=5)
    with pytest.raises(ValueError, match="must be one with a symmetric matrix"):
        base.validate(asymmetric)


def test_a_module_is_not_hidden_by_the_function_of_its_name():
    import landmarks.operators.data as module

    assert module.data is lm.data


def test_a_pickled_operator_keeps_its_counts():
    ledger = base.Ledger(products=3, columns=2, entries=7, rough=1, widened=4)
    copy = pickle.loads(pickle.dumps(ledger))
    assert copy is not ledger and copy == ledger and copy.snapshot() == ledger.snapshot()
    assert base.Ledger().snapshot() == {"products": 0, "columns": 0, "entries": 0}


def test_a_pass_that_is_stopped_has_no_diagonal(monkeypatch):
    monkeypatch.setattr(base, "block_width", lambda operator: 2)
    with (
        watching(lambda progress: progress.done == 4),
        pytest.raises(Stopped, match="stopped whil"),
    ):
        squared_diagonal(lm.psd(np.eye(7)))
