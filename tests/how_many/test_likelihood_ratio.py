"""The likelihood-ratio test of the subset factor model: its law, and its level and power."""

import itertools

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.how_many import likelihood_ratio
from landmarks.how_many.likelihood_ratio import SubsetFactor, cumulant, tail


def simulated(rng, rows, n, k0):
    """Rows of the model: k0 columns, the others linear in them with noise, in random order."""
    Z = rng.standard_normal((rows, k0)) @ (np.eye(k0) + 0.3)
    W = rng.uniform(0.6, 1.5, (k0, n - k0)) * rng.choice([-1, 1], (k0, n - k0))
    noise = rng.standard_normal((rows, n - k0)) * rng.uniform(0.5, 1.5, n - k0)
    return np.hstack([Z, Z @ W + noise])[:, rng.permutation(n)]


@pytest.mark.parametrize("statistic", [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("nu", [3, 10, 100])
def test_two_columns_have_the_law_of_one_correlation(statistic, nu):
    exact = scipy.stats.beta.cdf(np.exp(-statistic), (nu - 1) / 2, 1 / 2)
    assert_allclose(
        tail(statistic, 2, nu), exact, rtol=0.1, atol=1e-12
    )  # the worst case of the saddle point: a single factor


@pytest.mark.parametrize(("q", "nu"), [(5, 8), (10, 200), (20, 22), (20, 20)])
def test_the_law_is_that_of_uncorrelated_columns(q, nu):
    rng = np.random.default_rng(0)
    draws = -np.log(
        rng.beta((nu - np.arange(1, q)) / 2, np.arange(1, q) / 2, size=(100_000, q - 1))
    ).sum(axis=1)
    for p in (0.5, 0.1, 0.05, 0.01):
        assert_allclose(
            tail(np.quantile(draws, 1 - p), q, nu), p, rtol=0.06
        )  # the quantile's own error is 3 % at p = 0.01


def test_the_law_is_that_of_determinants_of_correlation_matrices():
    rng = np.random.default_rng(1)
    logs = [
        -np.linalg.slogdet(np.corrcoef(rng.standard_normal((15, 6)), rowvar=False))[1]
        for _ in range(2000)
    ]
    p = np.array([tail(x, 6, 14) for x in logs])
    assert scipy.stats.kstest(p, "uniform").pvalue > 0.01


def test_at_the_mean_the_law_has_no_gap():
    rng = np.random.default_rng(2)
    mean = np.mean(
        -np.log(rng.beta((9 - np.arange(1, 4)) / 2, np.arange(1, 4) / 2, size=(10**6, 3))).sum(
            axis=1
        )
    )
    around = [tail(mean * (1 + d), 4, 9) for d in np.linspace(-0.01, 0.01, 41)]
    assert np.all(np.diff(around) < 0) and np.ptp(np.diff(around)) < 1e-3


@pytest.mark.parametrize(("q", "nu"), [(3, 8.0), (6, 20.0)])
def test_the_limit_at_the_mean_lies_between_its_neighbours(q, nu):
    mean = cumulant(0.0, q, nu, 1)
    below, at, above = (tail(mean * factor, q, nu) for factor in (1.001, 1.0, 0.999))
    assert below < at < above


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


def test_a_size_holds_when_the_tail_of_its_law_is_above_the_level(monkeypatch):
    monkeypatch.setattr(likelihood_ratio, "STARTS", 0)
    model = SubsetFactor(
        np.cov(simulated(np.random.default_rng(6), 30, 8, 2), rowvar=False), (), ()
    )
    model.grow()
    p = tail(model.statistic, 7, 28)
    assert 0 < p < 1
    for alpha, holds in ((p * 1.001, False), (p * 0.999, True)):
        assert lm.LikelihoodRatio(alpha=alpha)._holds(model, 29, np.random.default_rng(0)) == holds


def test_the_scatter_is_about_the_mean_unless_the_degrees_are_given():
    X = simulated(np.random.default_rng(7), 30, 6, 2) + 5.0
    K, nu = lm.LikelihoodRatio()._scatter(lm.data(X))
    assert nu == 29
    assert_allclose(K, 29 * np.cov(X, rowvar=False), rtol=1e-9)
    K, nu = lm.LikelihoodRatio(degrees=17.0)._scatter(lm.data(X))
    assert nu == 17.0
    assert_allclose(K, X.T @ X, rtol=1e-9)


def test_as_many_degrees_as_columns_are_enough():
    X = simulated(np.random.default_rng(7), 7, 6, 2)
    assert lm.LikelihoodRatio()._scatter(lm.data(X))[1] == 6
    with pytest.raises(
        ValueError,
        match="needs more degrees of freedom than columns, got 5 for 6; use MaxError or Knee",
    ):
        lm.LikelihoodRatio()._scatter(lm.data(X[:6]))


@pytest.mark.parametrize("column", [np.ones(30), None], ids=["constant", "combination"])
def test_dependent_columns_are_refused(column):
    X = simulated(np.random.default_rng(7), 30, 6, 2)
    X[:, 3] = X[:, 0] - 2 * X[:, 1] if column is None else column
    with pytest.raises(
        ValueError,
        match="needs independent columns, but some are constant or combinations of others",
    ):
        lm.LikelihoodRatio()._scatter(lm.data(X))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_cumulants_are_derivatives_of_one_another(order):
    h = 1e-5
    difference = (cumulant(0.3 + h, 5, 12.0, order - 1) - cumulant(0.3 - h, 5, 12.0, order - 1)) / (
        2 * h
    )
    assert (
        cumulant(0.3, 5, 12.0, order) == pytest.approx(difference, rel=1e-6)
        and cumulant(0.0, 5, 12.0, 0) == 0
    )


def test_the_units_of_the_columns_do_not_make_them_dependent():
    X = simulated(np.random.default_rng(7), 30, 6, 2)
    assert lm.LikelihoodRatio()._scatter(lm.data(X * 10.0 ** -np.arange(6)))[1] == 29
    assert (
        lm.LikelihoodRatio().size(
            lm.Problem(lm.data(X * 10.0 ** -np.arange(6)), 0), np.random.default_rng(0)
        )
        == 2
    )


def test_the_residual_has_the_rows_and_columns_of_the_identity_at_the_chosen():
    X = np.random.default_rng(6).standard_normal((20, 5))
    K, chosen, others = np.corrcoef(X, rowvar=False), [3, 0], [1, 2, 4]
    C = SubsetFactor(K, (), ()).residual(chosen)
    expected = np.eye(5)
    inner = K[np.ix_(others, others)] - K[np.ix_(others, chosen)] @ np.linalg.solve(
        K[np.ix_(chosen, chosen)], K[np.ix_(chosen, others)]
    )
    expected[np.ix_(others, others)] = inner
    np.testing.assert_allclose(C, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(SubsetFactor(K, (), ()).residual([]), K, rtol=1e-12)


@pytest.mark.parametrize(("statistic", "q"), [(3.0, 1), (0.0, 4), (-1e-12, 4)])
def test_where_nothing_is_left_to_be_correlated_the_model_holds(statistic, q):
    assert tail(statistic, q, 12.0) == 1.0
