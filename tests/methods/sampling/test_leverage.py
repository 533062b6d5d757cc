"""Ridge leverage scores against the dense formula, and the sampling by them."""

import numpy as np
import pytest
from errors_of import best_rank_error
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.methods.sampling.leverage import (
    recursive_scores,
)


def kernel(n=400, sigma=0.5):
    points = np.random.default_rng(0).standard_normal((n, 2))
    return lm.kernel(points, lm.rbf(sigma))


def exact_scores(operator, k):
    """diag K (K + ridge · I)⁻¹."""
    values, U = np.linalg.eigh(operator.columns(np.arange(operator.n)))
    ridge = best_rank_error(operator, k, "trace") / k
    return U**2 @ (values / (values + ridge))


@pytest.mark.parametrize("k", [1, 5, 20])
def test_a_sample_of_everything_gives_the_dense_formula(k):
    operator = kernel(50)
    scores = recursive_scores(operator, operator.diagonal(), k, 50, np.random.default_rng(0))
    assert_allclose(
        scores, exact_scores(operator, k), rtol=1e-6
    )  # (c − ΣG²)/ridge cancels half the digits at most


@pytest.mark.parametrize("seed", range(3))
def test_recursive_scores_are_within_a_constant_of_the_dense_formula(seed):
    operator, k = kernel(), 20
    ratio = recursive_scores(
        operator, operator.diagonal(), k, 4 * k, np.random.default_rng(seed)
    ) / exact_scores(operator, k)
    assert ratio.min() > 0.5 and ratio.max() < 6  # theory promises constants; measured 0.8 … 3.5
    assert 0.9 < np.median(ratio) < 2


def test_few_columns_are_read_and_nothing_is_multiplied():
    ledger = lm.select(kernel(1000), 10, method=lm.RidgeLeverage()).ledger
    assert ledger.products == 0
    assert ledger.columns < 8 * 2 * 2 * 10  # levels × oversampling × slack of the draw × k


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_zero_columns_alone_do_no_harm(dtype, seed):
    K = np.zeros((60, 60), dtype)
    K[7, 7] = 1.0
    assert lm.select(lm.psd(K), 1, method=lm.RidgeLeverage(), seed=seed).indices.tolist() == [7]


def test_a_draw_that_is_stopped_is_filled_up_with_the_highest_scores():
    X = np.diag([1.0, 5.0, 1.0, 4.0, 1.0, 3.0])
    s = lm.select(X, 3, method="leverage", callback=lambda progress: progress.phase == "leverage")
    assert s.stopped and len(set(s.indices.tolist())) == 3
    whole = lm.select(X, 3, method="leverage")
    assert s.indices[0] == whole.indices[0]
    rest = [j for j in (1, 3, 5, 0) if j != s.indices[0]]
    assert s.indices[1:].tolist() == rest[:2]
