"""Ridge leverage scores against the dense formula, and the sampling by them."""

import numpy as np
import pytest
from errors_of import best_rank_error
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.sampling.leverage import (
    _bernoulli,
    _lowest,
    recursive_scores,
    sampled_scores,
    tail,
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


def test_a_lone_direction_has_a_score_near_one():
    X = np.random.default_rng(0).standard_normal((40, 300))
    X[:, 123] *= 100
    assert (
        recursive_scores(lm.data(X), np.sum(X**2, axis=0), 10, 20, np.random.default_rng(0))[123]
        > 0.95
    )


def test_few_columns_are_read_and_nothing_is_multiplied():
    ledger = lm.select(kernel(1000), 10, method=lm.RidgeLeverage()).ledger
    assert ledger.products == 0
    assert ledger.columns < 8 * 2 * 2 * 10  # levels × oversampling × slack of the draw × k


def test_beyond_the_rank_the_rest_is_filled_up():
    X = np.random.default_rng(0).standard_normal((3, 60))
    with pytest.warns(RankWarning, match="numerical rank 3 < k = 6"):
        assert len(lm.select(X, 6, method=lm.RidgeLeverage())) == 6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_zero_columns_alone_do_no_harm(dtype, seed):
    K = np.zeros((60, 60), dtype)
    K[7, 7] = 1.0
    assert lm.select(lm.psd(K), 1, method=lm.RidgeLeverage(), seed=seed).indices.tolist() == [7]


def test_oversampling_below_one_is_refused():
    with pytest.raises(ValueError, match="oversampling must be at least 1, got 0.5"):
        lm.RidgeLeverage(oversampling=0.5)


@pytest.mark.parametrize(
    ("n", "size", "expected"), [(100, 100, 100), (101, 100, 51), (401, 100, 51), (5, 1, 1)]
)
def test_the_lowest_level_is_halved_until_it_fits(n, size, expected):
    assert _lowest(n, size) == expected


def test_positions_are_kept_by_their_chance():
    scores = np.array([0.5, 0.0, 0.25, 0.25])
    keep, chance = _bernoulli(scores, 2, np.random.default_rng(0))
    assert keep.tolist() == [
        i for i, u in enumerate(np.random.default_rng(0).random(4)) if u < [1.0, 0.0, 0.5, 0.5][i]
    ]
    assert_allclose(chance, np.array([1.0, 0.0, 0.5, 0.5])[keep])
    assert [part.tolist() for part in _bernoulli(np.zeros(3), 2, np.random.default_rng(0))] == [
        [0],
        [np.finfo(float).eps],
    ]


def test_the_tail_is_the_trace_less_the_largest_eigenvalues_of_the_sample():
    X = np.random.default_rng(0).standard_normal((12, 9))
    K, S = X.T @ X, [0, 3, 4, 7]
    B = K[:, S]
    values = np.linalg.eigvalsh(B @ np.linalg.solve(K[np.ix_(S, S)], B.T))[::-1]
    for k in (1, 3):
        assert tail(K[np.ix_(S, S)], B, np.diag(K), k) == pytest.approx(
            np.trace(K) - values[:k].sum()
        )


def test_scores_from_a_sample_are_those_of_the_weighted_formula():
    X = np.random.default_rng(0).standard_normal((12, 9))
    K, S, part, chance = (
        X.T @ X,
        np.array([0, 3, 4, 7]),
        np.array([8, 0, 3, 4, 7, 1]),
        np.array([0.5, 1.0, 0.25, 1.0]),
    )
    B = K[np.ix_(part, S)]
    ridge = tail(K[np.ix_(S, S)], B, np.diag(K)[part], 2) / 2
    left = np.diag(K)[part] - np.einsum(
        "ij,ji->i", B, np.linalg.solve(K[np.ix_(S, S)] + ridge * np.diag(chance), B.T)
    )
    assert_allclose(
        sampled_scores(lm.psd(K), np.diag(K), part, S, chance, 2),
        np.clip(left / ridge, 0, 1),
        rtol=1e-9,
    )


def test_the_sample_has_twice_k_columns_by_default():
    columns = [
        lm.select(kernel(40), 10, method=lm.RidgeLeverage(oversampling)).ledger.columns
        for oversampling in (1.0, 2.0, 4.0)
    ]
    assert (
        columns[2] == 40 + 10
        and lm.select(kernel(40), 10, method=lm.RidgeLeverage()).ledger.columns == columns[1] < 70
    )


def test_a_draw_that_is_stopped_is_filled_up_with_the_highest_scores():
    X = np.diag([1.0, 5.0, 1.0, 4.0, 1.0, 3.0])
    s = lm.select(X, 3, method="leverage", callback=lambda progress: progress.phase == "leverage")
    assert s.stopped and len(set(s.indices.tolist())) == 3
    whole = lm.select(X, 3, method="leverage")
    assert s.indices[0] == whole.indices[0]
    rest = [j for j in (1, 3, 5, 0) if j != s.indices[0]]
    assert s.indices[1:].tolist() == rest[:2]
