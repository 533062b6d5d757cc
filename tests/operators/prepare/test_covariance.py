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


def test_pairwise_moments_average_over_the_rows_that_have_both_values():
    X = with_holes(rows())
    centred = X - np.nanmean(X, axis=0)
    expected = 30 * np.nanmean(centred[:, :, None] * centred[:, None, :], axis=0)
    np.testing.assert_allclose(
        pair_moments(X, None).resolved("pairwise").scatter, nearest_psd(expected), rtol=1e-10
    )


def test_repair_keeps_the_diagonal_and_leaves_no_negative_eigenvalue():
    K = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    repaired = nearest_psd(K)
    np.testing.assert_allclose(np.diag(repaired), 1.0)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    assert np.linalg.eigvalsh(repaired)[0] > -1e-12


def test_moments_with_missing_values_keep_their_digits_far_from_zero():
    X = with_holes(rows(300) + 1e8)
    near = with_holes(rows(300))
    filled = np.where(np.isnan(near), np.nanmean(near, axis=0), near)
    found = pair_moments(X, None).resolved("impute")
    # the values are rounded to 1e-8, so the scatter of 300 rows is known to about 1e-6
    np.testing.assert_allclose(found.scatter, moments(filled, None).scatter, atol=1e-4)
    np.testing.assert_allclose(found.mean - 1e8, np.nanmean(near, axis=0), atol=1e-6)
