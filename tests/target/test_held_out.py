"""Ridge penalties by leaving rows out, and k by held-out rows."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import UnsupportedError


def noisy(seed: int, m: int = 40, n: int = 30, rank: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    return X + 0.5 * rng.standard_normal((m, n))


def test_the_reconstruction_with_a_ridge_solves_the_penalised_equations() -> None:
    X = noisy(1)
    s = lm.select(X, 12, method="greedy")
    for ridge in (3.0, "cv"):
        found = s.reconstruction(ridge=ridge)
        S = X[:, s.indices]
        wanted = np.linalg.solve(S.T @ S + found.ridge * np.eye(12), S.T @ X)
        np.testing.assert_allclose(found.coefficients, wanted, rtol=1e-8, atol=1e-12)
        left = np.sum((X - S @ wanted) ** 2, axis=0)
        np.testing.assert_allclose(found.r2, 1 - left / np.sum(X * X, axis=0), rtol=1e-9)
    assert s.reconstruction(ridge="cv").ridge > 0
    K = lm.select(lm.psd(X.T @ X), 12, method="greedy").reconstruction(ridge=3.0)
    np.testing.assert_allclose(
        K.coefficients, s.reconstruction(ridge=3.0).coefficients, rtol=1e-6, atol=1e-9
    )


def test_a_ridge_that_cannot_be_is_refused() -> None:
    X = noisy(2)
    with pytest.raises(ValueError, match='ridge must be a number of at least 0, "cv" or None'):
        lm.select(X, 3).reconstruction(ridge=-1.0)
    with pytest.raises(UnsupportedError, match="leaves out rows, which only data have"):
        lm.select(lm.psd(X.T @ X), 3).reconstruction(ridge="cv")
    with pytest.raises(ValueError, match="the noise already regularises"):
        lm.select(X, 3, noise=1.0).reconstruction(ridge=1.0)


def test_held_out_errors_do_not_rise_with_a_ridge_where_least_squares_do() -> None:
    X = noisy(3, m=30, n=200)
    plain = lm.held_out(X, [5, 10, 20])
    ridge = lm.held_out(X, [5, 10, 20], ridge="cv")
    assert plain.mean[2] > plain.mean[0]
    assert ridge.mean[2] < plain.mean[2]


def test_k_held_out_finds_how_many_columns_make_the_target() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((120, 25))
    Y = X[:, :4] @ rng.standard_normal((4, 6)) + 0.5 * rng.standard_normal((120, 6))
    s = lm.select(X, "held-out", target=Y)
    assert sorted(s.indices.tolist()) == [0, 1, 2, 3]
    assert lm.select(X, lm.CrossValidated(ridge="cv"), target=Y).k >= 4
    assert lm.select(X, lm.CrossValidated(most=2), target=Y).k <= 2


def test_the_nested_errors_of_a_fold_are_those_of_least_squares() -> None:
    X = noisy(5)
    problem = lm.Problem(lm.data(X), 0)
    curve = lm.CrossValidated(folds=4, most=6).curve(problem, np.random.default_rng(0))
    order = np.random.default_rng(0).permutation(len(X))
    test = np.array_split(order, 4)[1]
    rows = np.setdiff1d(np.arange(len(X)), test)
    picks = lm.select(X[rows], 6, method="greedy").indices
    for k in (1, 3, 6):
        W = np.linalg.lstsq(X[rows][:, picks[:k]], X[rows], rcond=None)[0]
        left = np.sum((X[test] - X[test][:, picks[:k]] @ W) ** 2) / np.sum(X[test] ** 2)
        assert curve.errors[1, k - 1] == pytest.approx(left, rel=1e-9)


def test_the_rule_says_where_it_cannot_be_used() -> None:
    X = noisy(6)
    with pytest.raises(UnsupportedError, match="leaves out rows, which only data in memory have"):
        lm.select(lm.psd(X.T @ X), "held-out")
    with pytest.raises(UnsupportedError, match="without noise"):
        lm.select(X, "held-out", noise=1.0)
    assert lm.CrossValidated(folds=2).folds == 2
    with pytest.raises(ValueError, match="most must be"):
        lm.CrossValidated(most=0)
    with pytest.raises(ValueError, match="folds must be"):
        lm.CrossValidated(folds=0)
    with pytest.raises(ValueError, match="at least two folds"):
        lm.CrossValidated(folds=1)


@pytest.mark.parametrize("ridge", [None, "cv"])
def test_held_out_rows_of_a_target_are_rebuilt_by_what_the_training_rows_taught(
    ridge: str | None,
) -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((50, 12)) + 5
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((50, 2))
    folds = [(np.arange(25), np.arange(25, 50)), (np.arange(25, 50), np.arange(25))]
    found = lm.held_out(X, [2, 3], target=Y, center=True, cv=folds, ridge=ridge)
    for fold, (train, test) in enumerate(folds):
        s = lm.select(X[train], 3, target=Y[train], center=True, method="greedy")
        B = s.reconstruction(ridge=ridge).coefficients
        guess = Y[train].mean(axis=0) + (X[test] - X[train].mean(axis=0))[:, s.indices] @ B
        left = np.sum((Y[test] - guess) ** 2) / np.sum((Y[test] - Y[train].mean(axis=0)) ** 2)
        assert found.errors[fold, 1] == pytest.approx(left, rel=1e-9)
    assert lm.held_out(X, 3, target=Y, method="swap").mean.shape == (3,)
