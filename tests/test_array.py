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


def test_like_moves_values_and_host_brings_them_back(reference):
    close(_array.like(B, reference), B, reference)
    close(_array.like(B[:, ::-1], reference), B[:, ::-1], reference)


def test_read_only_values_are_moved_without_complaint(reference):
    frozen = B.copy()
    frozen.flags.writeable = False
    indices = np.array([1, 0])
    indices.flags.writeable = False
    close(_array.take(_array.like(frozen, reference), indices), B[[1, 0]], reference)


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


def test_norms_are_those_of_numpy(reference):
    block = _array.like(B, reference)
    assert _array.norm(block) == pytest.approx(np.linalg.norm(B), rel=1e-6)


def test_tolerance_follows_the_digits(reference):
    assert _array.rank_tolerance(reference) > 8 * _array.eps(reference)


def test_other_number_types_become_float64(xp):
    assert _array.as_float(xp.asarray([1, 2])).dtype == xp.float64
    assert _array.as_float(xp.asarray([1.0], dtype=xp.float32)).dtype == xp.float32


def test_views_share_memory_and_copies_do_not(xp):
    array = xp.ones((3, 2))
    assert _array.shares_memory(array, array)
    assert not _array.shares_memory(array, array + 1)
    assert not _array.shares_memory(xp.ones((3, 0)), xp.ones((3, 0)))
