"""The functions that the array standard lacks, against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.linalg

from landmarks import _array

rng = np.random.default_rng(0)
B = rng.standard_normal((4, 2))
L = np.linalg.cholesky(np.cov(rng.standard_normal((4, 20))))


@pytest.fixture(params=["float32", "float64"])
def reference(request, xp):
    """An array that names a library and a dtype."""
    return xp.zeros((0,), dtype=getattr(xp, request.param))


def close(actual, expected, reference):
    assert actual.dtype == reference.dtype and _array.namespace(actual) is _array.namespace(
        reference
    )
    np.testing.assert_allclose(
        _array.host(actual), expected, atol=1e-5 if _array.is_single(reference) else 1e-13
    )


def test_take_and_scatter_are_inverse(reference):
    full = _array.scatter(_array.like(B, reference), [5, 0, 3, 1], 7)
    assert tuple(full.shape) == (7, 2)
    close(_array.take(full, [5, 0, 3, 1]), B, reference)
    close(_array.take(full, [2, 4, 6]), np.zeros((3, 2)), reference)


def test_triangular_solves_agree_with_scipy(reference):
    factor, block = _array.like(L, reference), _array.like(B, reference)
    close(
        _array.solve_triangular(factor, block),
        scipy.linalg.solve_triangular(L, B, lower=True),
        reference,
    )
    close(
        _array.solve_triangular(factor, block, adjoint=True),
        scipy.linalg.solve_triangular(L.T, B),
        reference,
    )
    close(_array.solve_cholesky(factor, block), np.linalg.solve(L @ L.T, B), reference)


def test_cholesky_of_an_indefinite_matrix_is_none(reference):
    close(_array.cholesky(_array.like(L @ L.T, reference)), L, reference)
    assert _array.cholesky(_array.like(np.diag([1.0, -1.0]), reference)) is None


def test_ties_go_to_the_lowest_index(reference):
    eps = _array.eps(reference)
    assert _array.first_argmax(_array.like([0.0, 1.0, 1.0 + 4 * eps, 0.5], reference)) == 1
    assert _array.first_argmax(_array.like([0.0, 1.0, 1.0 + 4000 * eps, 0.5], reference)) == 2
    assert _array.first_argmax(_array.like([0.0, 0.0], reference)) == 0
