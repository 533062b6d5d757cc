"""Gram matrices against NumPy's covariance of all rows, and against imputed data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from landmarks.operators.prepare import moments, nearest_psd, pair_moments


def rows(m: int = 30, n: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((m, n)) @ np.diag(np.arange(1.0, n + 1))


def with_holes(X: np.ndarray, share: float = 0.2) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_scatter_is_the_weighted_covariance(form):
    X, w = rows(), np.random.default_rng(2).random(30)
    expected = np.cov(X, rowvar=False, aweights=w, ddof=0) * w.sum()
    np.testing.assert_allclose(moments(form(X), w).scatter, expected, rtol=1e-12, atol=1e-12)


def test_batches_add_up_far_from_zero():
    X = rows() + 1e8
    parts = moments(X[:7], None) + moments(X[7:8], None) + moments(X[8:], None)
    # the values themselves are rounded to 1e-8, so the scatter of 30 rows is known to about 1e-7
    np.testing.assert_allclose(parts.scatter, moments(X, None).scatter, atol=1e-6)
    assert parts.weight == 30


def test_gram_without_centring_is_the_plain_product():
    X = rows() + 3
    np.testing.assert_allclose(moments(X, None).gram(center=False), X.T @ X, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_imputed_moments_are_those_of_imputed_data(form):
    X = with_holes(rows() + 2)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    expected, resolved = moments(filled, None), pair_moments(form(X), None).resolved("impute")
    np.testing.assert_allclose(resolved.scatter, expected.scatter, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(resolved.mean, expected.mean)


@pytest.mark.parametrize("missing", ["impute", "pairwise"])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_weight_counts_a_row_with_missing_values_so_often(form, missing):
    X, w = with_holes(rows() + 2), np.random.default_rng(3).integers(0, 4, 30)
    weighted = pair_moments(form(X), w.astype(float)).resolved(missing)
    repeated = pair_moments(form(np.repeat(X, w, axis=0)), None).resolved(missing)
    assert weighted.weight == repeated.weight == w.sum()
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12)
    np.testing.assert_allclose(weighted.scatter, repeated.scatter, rtol=1e-10, atol=1e-10)


def test_an_origin_far_from_the_data_is_no_part_of_the_moments():
    X = with_holes(rows())
    for missing in ("impute", "pairwise"):
        near, far = (pair_moments(X, None, at).resolved(missing) for at in (None, np.full(5, 50.0)))
        np.testing.assert_allclose(far.mean, near.mean, rtol=1e-10, atol=1e-12)
        # squares of 50 are subtracted from squares of 1
        np.testing.assert_allclose(far.scatter, near.scatter, rtol=1e-9, atol=1e-9)


def test_pairwise_moments_average_over_the_rows_that_have_both_values():
    X = with_holes(rows())
    centred = X - np.nanmean(X, axis=0)
    expected = 30 * np.nanmean(centred[:, :, None] * centred[:, None, :], axis=0)
    np.testing.assert_allclose(
        pair_moments(X, None).resolved("pairwise").scatter, nearest_psd(expected), rtol=1e-10
    )


def test_pairwise_batches_add_up():
    X = with_holes(rows() + 5)
    first = pair_moments(X[:10], None)
    both = first + pair_moments(X[10:], None, origin=first.origin)
    np.testing.assert_allclose(
        both.resolved("pairwise").scatter,
        pair_moments(X, None).resolved("pairwise").scatter,
        rtol=1e-10,
    )


def test_repair_keeps_the_diagonal_and_leaves_no_negative_eigenvalue():
    K = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    repaired = nearest_psd(K)
    np.testing.assert_allclose(np.diag(repaired), 1.0)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    assert np.linalg.eigvalsh(repaired)[0] > -1e-12


def test_repair_is_the_positive_part_scaled_to_the_diagonal():
    K = np.array([[4.0, 1.8, -1.8], [1.8, 1.0, 0.9], [-1.8, 0.9, 1.0]])
    values, vectors = scipy.linalg.eigh(K)
    positive = sum(v * np.outer(x, x) for v, x in zip(values, vectors.T, strict=True) if v > 0)
    ratio = np.sqrt(np.diag(K) / np.diag(positive))
    np.testing.assert_allclose(nearest_psd(K), positive * np.outer(ratio, ratio), rtol=1e-12)


def test_a_positive_definite_matrix_needs_no_repair():
    K = moments(rows(), None).scatter
    assert nearest_psd(K) is K


def test_rows_without_any_weight_have_no_moments():
    for X in (rows(), scipy.sparse.csr_array(rows())):
        none = moments(X, np.zeros(30))
        assert none.weight == 0 and none.mean.tolist() == 5 * [0.0]
        np.testing.assert_array_equal(none.scatter, np.zeros((5, 5)))


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_sparse_moments_are_summed_in_double_precision(dtype):
    X = np.random.default_rng(4).integers(-100, 100, (300, 4)).astype(dtype)
    expected = X.astype(float) - X.astype(float).mean(axis=0)
    # whole numbers: float64 adds their products without an error, float32 and int8 do not
    np.testing.assert_allclose(
        moments(scipy.sparse.csr_array(X), None).scatter, expected.T @ expected, rtol=1e-10
    )


def test_a_column_without_any_value_has_no_variance():
    X = rows()
    X[:, 2] = np.nan
    resolved = pair_moments(X, None).resolved("pairwise")
    assert resolved.variance[2] == 0
    assert np.isfinite(resolved.scatter).all()


def test_moments_with_missing_values_keep_their_digits_far_from_zero():
    X = with_holes(rows(300) + 1e8)
    near = with_holes(rows(300))
    filled = np.where(np.isnan(near), np.nanmean(near, axis=0), near)
    found = pair_moments(X, None).resolved("impute")
    # the values are rounded to 1e-8, so the scatter of 300 rows is known to about 1e-6
    np.testing.assert_allclose(found.scatter, moments(filled, None).scatter, atol=1e-4)
    np.testing.assert_allclose(found.mean - 1e8, np.nanmean(near, axis=0), atol=1e-6)


def test_an_origin_that_is_given_changes_nothing():
    X = with_holes(rows() + 5)
    given = pair_moments(X, None, np.full(5, 4.0))
    assert given.origin.tolist() == [4.0] * 5
    np.testing.assert_allclose(
        given.resolved("impute").scatter, pair_moments(X, None).resolved("impute").scatter
    )
