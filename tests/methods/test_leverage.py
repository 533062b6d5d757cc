"""Ridge leverage scores against the dense formula, and the sampling by them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.approximate import best_rank_error
from landmarks.errors import RankWarning
from landmarks.methods.leverage import RidgeLeverage, recursive_scores, ridge_leverage_scores


def kernel(n=400, sigma=0.5):
    points = np.random.default_rng(0).standard_normal((n, 2))
    return lm.kernel(points, lm.rbf(sigma))


def exact_scores(operator, k):
    K = operator.columns(np.arange(operator.n))
    return ridge_leverage_scores(K, best_rank_error(operator, k, "trace") / k)


def test_the_dense_formula_is_the_hat_matrix_of_ridge_regression(xp):
    X = np.random.default_rng(0).standard_normal((6, 9))
    scores = ridge_leverage_scores(xp.asarray(X.T @ X), 0.3)
    U, s, _ = np.linalg.svd(X.T, full_matrices=False)
    assert_allclose(np.asarray(scores), U**2 @ (s**2 / (s**2 + 0.3)), rtol=1e-10)


@pytest.mark.parametrize("k", [1, 5, 20])
def test_a_sample_of_everything_gives_the_dense_formula(k):
    operator = kernel(50)
    scores = recursive_scores(operator, operator.diagonal(), k, 50, np.random.default_rng(0))
    assert_allclose(scores, exact_scores(operator, k), rtol=1e-6)  # (c − ΣG²)/ridge cancels half the digits at most


@pytest.mark.parametrize("seed", range(3))
def test_recursive_scores_are_within_a_constant_of_the_dense_formula(seed):
    operator, k = kernel(), 20
    ratio = recursive_scores(operator, operator.diagonal(), k, 4 * k, np.random.default_rng(seed)) / exact_scores(operator, k)
    assert ratio.min() > 0.5 and ratio.max() < 6  # theory promises constants; measured 0.8 … 3.5
    assert 0.9 < np.median(ratio) < 2


def test_a_lone_direction_has_a_score_near_one():
    X = np.random.default_rng(0).standard_normal((40, 300))
    X[:, 123] *= 100
    assert recursive_scores(lm.data(X), np.sum(X**2, axis=0), 10, 20, np.random.default_rng(0))[123] > 0.95


def test_few_columns_are_read_and_nothing_is_multiplied():
    ledger = lm.select(kernel(1000), 10, method=RidgeLeverage()).ledger
    assert ledger.products == 0
    assert ledger.columns < 8 * 2 * 2 * 10  # levels × oversampling × slack of the draw × k


def test_beyond_the_rank_the_rest_is_filled_up():
    X = np.random.default_rng(0).standard_normal((3, 60))
    with pytest.warns(RankWarning, match="numerical rank 3 < k = 6"):
        assert len(lm.select(X, 6, method=RidgeLeverage())) == 6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_zero_columns_alone_do_no_harm(dtype, seed):
    K = np.zeros((60, 60), dtype)
    K[7, 7] = 1.0
    assert lm.select(lm.psd(K), 1, method=RidgeLeverage(), seed=seed).indices.tolist() == [7]


def test_oversampling_below_one_is_refused():
    with pytest.raises(ValueError, match="oversampling must be at least 1, got 0.5"):
        RidgeLeverage(oversampling=0.5)
