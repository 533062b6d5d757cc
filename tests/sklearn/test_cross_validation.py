"""Errors on rows and points that were not seen, against the same by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import KFold

import landmarks as lm

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3)) @ RNG.standard_normal((3, 12)) + 0.2 * RNG.standard_normal(
    (60, 12)
)
FOLDS = list(KFold(4).split(X))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("method", ["greedy", "swap"])
def test_the_error_is_that_of_least_squares_on_the_other_rows(center, method):
    Y = X + 5.0
    found = lm.held_out(Y, [2, 5], cv=FOLDS, method=method, center=center, scale=False)
    for (train, test), errors in zip(FOLDS, found.errors, strict=True):
        mean = Y[train].mean(axis=0) if center else 0.0
        for k, error in zip([2, 5], errors, strict=True):
            S = lm.select(Y[train] - mean, k, method=method, scale=False).indices
            B = np.linalg.lstsq((Y[train] - mean)[:, S], Y[train] - mean, rcond=None)[0]
            held = Y[test] - mean
            np.testing.assert_allclose(
                error, np.sum((held - held[:, S] @ B) ** 2) / np.sum(held**2), rtol=1e-8
            )


@pytest.mark.parametrize("center", [False, True])
def test_sparse_rows_give_the_same(center):
    thin = np.where(np.abs(X) > 1, X, 0.0)
    dense, sparse = (
        lm.held_out(rows, [1, 4], center=center).errors
        for rows in (thin, scipy.sparse.csr_array(thin))
    )
    np.testing.assert_allclose(sparse, dense, rtol=1e-7)


def test_means_and_standard_errors_are_over_folds():
    found = lm.held_out(X, [4, 1, 2], cv=6, seed=3)
    assert found.ks.tolist() == [1, 2, 4] and found.errors.shape == (6, 3)
    np.testing.assert_allclose(found.mean, found.errors.mean(axis=0))
    np.testing.assert_allclose(found.standard_error, found.errors.std(axis=0, ddof=1) / np.sqrt(6))
    np.testing.assert_array_equal(found.errors, lm.held_out(X, [1, 2, 4], cv=6, seed=3).errors)


def test_one_standard_error_is_the_first_close_to_the_best():
    found = lm.HeldOut(np.array([1, 2, 3]), np.array([[0.5, 0.2, 0.19], [0.5, 0.22, 0.23]]))
    assert found.best == 2 and found.one_standard_error == 2
    flat = lm.HeldOut(np.array([1, 2, 3]), np.array([[0.21, 0.25, 0.1], [0.2, 0.25, 0.3]]))
    assert flat.one_standard_error == 1


def test_points_of_a_kernel_are_held_out():
    points = RNG.standard_normal((50, 2))
    found = lm.held_out(
        lm.kernel(points, lm.rbf(sigma=2.0)),
        [3, 8],
        cv=[(np.arange(40), np.arange(40, 50)), (np.arange(10, 50), np.arange(10))],
    )
    S = lm.select(lm.kernel(points[:40], lm.rbf(sigma=2.0)), 8, method="greedy").indices
    h = lm.rbf(sigma=2.0)
    cross = h(points[40:], points[:40][S])
    left = 1 - np.sum(cross * np.linalg.solve(h(points[:40][S], points[:40][S]), cross.T).T, axis=1)
    np.testing.assert_allclose(found.errors[0, 1], left.mean(), rtol=1e-6)
    assert np.all(found.mean[1] < found.mean[0])


def test_too_many_columns_for_the_rows_are_seen_to_hurt():
    noise = np.random.default_rng(1).standard_normal((24, 40))
    found = lm.held_out(noise, [2, 18], cv=4)
    assert found.mean[1] > found.mean[0]


@pytest.mark.parametrize(
    ("A", "options", "error", "message"),
    [
        (
            lm.psd(X.T @ X),
            {"ks": [1]},
            TypeError,
            "held-out rows need the data X or a kernel on points",
        ),
        (X, {"ks": []}, ValueError, "ks is empty; give at least one"),
        (X, {"ks": [13]}, ValueError, "k must be between 1 and n = 12, got 13"),
        (X, {"ks": [1], "cv": FOLDS[:1]}, ValueError, "at least two folds"),
        (
            X,
            {"ks": [1], "cv": 1},
            ValueError,
            "k-fold cross-validation requires at least one train/test split",
        ),
        (X * np.nan, {"ks": [1]}, ValueError, "X contains NaN"),
    ],
)
def test_wrong_use_is_refused(A, options, error, message):
    with pytest.raises(error, match=message):
        lm.held_out(A, **options)
