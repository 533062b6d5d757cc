"""The entrywise product of two Gram matrices."""

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm


def rows(p, n, seed=0):
    return np.random.default_rng(seed).standard_normal((p, n))


def products(A, B):
    """All products of a row of A with a row of B."""
    return (A[:, None, :] * B[None, :, :]).reshape(-1, A.shape[1])


@pytest.mark.parametrize("method", ["greedy", "swap", "rpcholesky"])
def test_the_choice_is_that_of_the_products_as_data(method):
    A, B = rows(3, 80), rows(4, 80, 1)
    ours = lm.select(lm.hadamard(A, B), 7, method=method)
    theirs = lm.select(products(A, B), 7, method=method)
    assert set(ours.indices) == set(theirs.indices)
    assert ours.error() == pytest.approx(theirs.error(), rel=1e-10)


def test_products_are_those_of_the_dense_matrix():
    A, B, block = rows(5, 60), rows(6, 60, 1), rows(60, 3, 2)
    K = lm.hadamard(A, B)
    dense = (A.T @ A) * (B.T @ B)
    np.testing.assert_allclose(K.matmul(block), dense @ block, rtol=1e-10, atol=1e-10)
    few = K.matmul(block[:2], rows=[4, 9, 1], cols=[7, 3])
    np.testing.assert_allclose(few, dense[np.ix_([4, 9, 1], [7, 3])] @ block[:2], rtol=1e-10)


def test_extreme_units_change_no_choice():
    A = rows(4, 50)
    plain = lm.select(lm.hadamard(A), 5, method="swap")
    tiny = lm.select(lm.hadamard(A * 2.0**-120), 5, method="swap")
    assert plain.indices.tolist() == tiny.indices.tolist()
    assert tiny.error() == pytest.approx(plain.error() * 2.0**-480, rel=1e-12)


def test_single_precision_is_searched_in_double():
    A = rows(4, 60).astype(np.float32)
    s = lm.select(lm.hadamard(A), 6, method="swap")
    exact = lm.hadamard(A.astype(np.float64))
    reference = lm.select(exact, 6, method="swap")
    assert selection_error(exact, s.indices, "trace") <= 1.001 * reference.error()


@pytest.mark.parametrize(
    ("A", "B", "error", "message"),
    [
        (rows(3, 5), rows(3, 6), ValueError, "one column for each point, got 5 and 6"),
        (rows(3, 5), rows(3, 5).astype(np.float32), TypeError, "one library and dtype"),
        (rows(3, 5)[0], None, ValueError, "A must have two dimensions"),
    ],
)
def test_what_does_not_fit_together_is_refused(A, B, error, message):
    with pytest.raises(error, match=message):
        lm.hadamard(A, B)
