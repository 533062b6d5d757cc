"""Estimates of the error: unbiased, with intervals that hold."""

import numpy as np
import pytest

import landmarks as lm


@pytest.fixture
def selection():
    points = np.random.default_rng(0).standard_normal((200, 3))
    return lm.select(lm.kernel(points, lm.rbf(sigma=1.5)), 15, method="greedy")


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_interval_holds_as_often_as_it_says(selection, criterion):
    """Of 200 intervals at 95 %, 190 ± 3.1 hold; five standard deviations below that are 174."""
    exact = selection.error(criterion)
    estimates = [selection.estimated_error(criterion, seed=seed) for seed in range(200)]
    assert sum(e.low <= exact <= e.high for e in estimates) >= 174


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_estimate_is_unbiased(selection, criterion):
    """Within five standard errors of the mean of 100 estimates."""
    values = [selection.estimated_error(criterion, seed=seed).value for seed in range(100)]
    assert abs(np.mean(values) - selection.error(criterion)) < 5 * np.std(values) / 10


def test_an_estimate_costs_one_block_of_products(selection):
    before = selection.operator.ledger.products
    selection.estimated_error("frobenius", n_probes=7)
    assert selection.operator.ledger.products - before == 7


def test_an_estimate_is_in_the_units_of_the_data():
    X = np.random.default_rng(0).standard_normal((30, 10))
    small, large = (lm.select(np.ldexp(X, power), 3, method="greedy") for power in (0, 200))
    assert large.estimated_error("trace").value == np.ldexp(
        small.estimated_error("trace").value, 400
    )


@pytest.mark.parametrize("n_probes", [4, 8])
def test_the_interval_is_as_wide_as_the_estimates_scatter(selection, n_probes):
    """1.96 standard deviations on both sides; 50 estimates know theirs to 10 %."""
    found = [selection.estimated_error("trace", n_probes=n_probes, seed=s) for s in range(50)]
    scatter = np.std([e.value for e in found])
    width = np.sqrt(np.mean([(e.high - e.value) ** 2 for e in found])) / 1.96
    assert width == pytest.approx(scatter, rel=0.4)
    assert all(e.n_probes == n_probes for e in found)
    np.testing.assert_allclose([e.value - e.low for e in found], [e.high - e.value for e in found])
