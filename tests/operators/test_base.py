"""What all operators share: blocks, memory and indices."""

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm

X = np.random.default_rng(0).standard_normal((9, 6))


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
