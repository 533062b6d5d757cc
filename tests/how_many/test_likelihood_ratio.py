"""The likelihood-ratio test of the subset factor model: its law, and its level and power."""

import itertools

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.how_many.likelihood_ratio import SubsetFactor, tail


def simulated(rng, rows, n, k0):
    """Rows of the model: k0 columns, the others linear in them with noise, in random order."""
    Z = rng.standard_normal((rows, k0)) @ (np.eye(k0) + 0.3)
    W = rng.uniform(0.6, 1.5, (k0, n - k0)) * rng.choice([-1, 1], (k0, n - k0))
    noise = rng.standard_normal((rows, n - k0)) * rng.uniform(0.5, 1.5, n - k0)
    return np.hstack([Z, Z @ W + noise])[:, rng.permutation(n)]


def test_the_law_is_that_of_determinants_of_correlation_matrices():
    rng = np.random.default_rng(1)
    logs = [
        -np.linalg.slogdet(np.corrcoef(rng.standard_normal((15, 6)), rowvar=False))[1]
        for _ in range(2000)
    ]
    p = np.array([tail(x, 6, 14) for x in logs])
    assert scipy.stats.kstest(p, "uniform").pvalue > 0.01


def test_the_statistic_is_the_least_of_all_subsets():
    rng = np.random.default_rng(3)
    for _ in range(10):
        K = np.cov(simulated(rng, 40, 8, 3), rowvar=False)
        model = SubsetFactor(K, (), ())
        for k in (1, 2, 3):
            model.grow()
            for _ in range(10):
                model.restart(rng)
            assert_allclose(model.statistic, left_correlated(K, model.chosen))
            assert_allclose(
                model.statistic,
                min(left_correlated(K, S) for S in itertools.combinations(range(8), k)),
            )


def left_correlated(K, S):
    rest = np.setdiff1d(np.arange(len(K)), S)
    C = K[np.ix_(rest, rest)] - K[np.ix_(rest, S)] @ np.linalg.solve(
        K[np.ix_(S, S)], K[np.ix_(S, rest)]
    )
    return -np.linalg.slogdet(C / np.sqrt(np.outer(np.diag(C), np.diag(C))))[1]


def sizes(rows, n, k0, runs):
    rng = np.random.default_rng(4)
    return np.array(
        [
            lm.LikelihoodRatio(alpha=0.05).size(
                lm.Problem(lm.data(simulated(rng, rows, n, k0)), 0), rng
            )
            for _ in range(runs)
        ]
    )


def check_level_and_power(ks, k0):
    assert np.mean(ks > k0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(ks))
    assert np.mean(ks < k0) <= 0.05


def test_the_size_of_the_model_is_found():
    check_level_and_power(sizes(60, 12, 2, runs=60), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "n", "k0"), [(300, 15, 3), (60, 30, 2), (300, 15, 5)])
def test_too_many_are_asked_for_no_more_often_than_the_level(rows, n, k0):
    check_level_and_power(sizes(rows, n, k0, runs=300), k0)


def test_included_columns_count_and_excluded_ones_do_not():
    X = simulated(np.random.default_rng(5), 300, 10, 2)
    model = SubsetFactor(np.cov(X, rowvar=False), (3,), (1, 2))
    for _ in range(4):
        model.grow()
    assert model.chosen[0] == 3 and not {1, 2} & set(model.chosen) and len(set(model.chosen)) == 5
    assert lm.select(X, lm.LikelihoodRatio(), include=[0, 1, 2, 3], method="greedy").k >= 4


def test_the_scatter_is_about_the_mean_unless_the_degrees_are_given():
    X = simulated(np.random.default_rng(7), 30, 6, 2)
    centred = X - X.mean(axis=0)
    expected = lm.select(X, lm.LikelihoodRatio(), method="greedy").k
    assert expected == 2
    assert lm.select(X + 5.0, lm.LikelihoodRatio(), method="greedy", scale=False).k == expected
    given = lm.LikelihoodRatio(degrees=29.0)
    assert lm.select(lm.psd(centred.T @ centred), given, method="greedy").k == expected
    about_zero = lm.select(X + 5.0, given, method="greedy", scale=False)
    assert about_zero.k == expected + 1  # the mean is one cause more


@pytest.mark.parametrize("column", [np.ones(30), None], ids=["constant", "combination"])
def test_dependent_columns_are_refused(column):
    X = simulated(np.random.default_rng(7), 30, 6, 2)
    X[:, 3] = X[:, 0] - 2 * X[:, 1] if column is None else column
    message = "needs independent columns, but some are constant or combinations of others"
    with pytest.raises(ValueError, match=message):
        lm.select(X, lm.LikelihoodRatio(), scale=False)


def test_the_units_of_the_columns_do_not_make_them_dependent():
    X = simulated(np.random.default_rng(7), 30, 6, 2) * 10.0 ** -np.arange(6)
    assert lm.select(X, lm.LikelihoodRatio(), scale=False).k == 2
