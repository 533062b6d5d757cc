"""The default method: what it tries, what it tells, and that it never loses what it found."""

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.methods import portfolio


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 12)) @ rng.standard_normal(
        (12, 40)
    ) + 0.3 * rng.standard_normal((60, 40))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_best_trial_is_what_is_returned(X, criterion):
    found = lm.select(X, 10, criterion=criterion)
    assert found.error() == pytest.approx(min(trial.error for trial in found.trials), rel=1e-9)
    assert found.error() <= lm.select(X, 10, criterion=criterion, method="greedy").error() * (
        1 + 1e-9
    )


def test_a_budget_adds_steps_after_those_without_one(X):
    labels = [trial.label for trial in lm.select(X, 10).trials]
    assert labels[0] == "greedy > swap" and labels[-1] == "iterated"
    more = [trial.label for trial in lm.select(X, 10, budget=3.0).trials]
    assert more[: len(labels)] == labels and more[-1] == "iterated" and len(more) > len(labels)


@pytest.mark.parametrize("options", [{}, {"criterion": "frobenius"}, {"noise": 0.5}], ids=str)
def test_a_budget_is_never_worse_than_none(X, options):
    default = lm.select(X, 14, **options).error()
    assert lm.select(X, 14, budget=1.5, **options).error() <= default * (1 + 1e-9)


def test_a_small_problem_is_proved_with_and_without_a_budget(X):
    for budget in (None, 5.0):
        found = lm.select(X, 3, budget=budget)
        assert found.proved and found.gap() < 1e-9 and found.trials[-1].label == "exact"


def test_indices_come_in_the_order_of_what_they_add(X):
    found = lm.select(X, 10)
    first = lm.select(X, 1, method="greedy", exclude=np.setdiff1d(np.arange(40), found.indices))
    assert found.indices[0] == first.indices[0]


def test_nuclear_scores_take_over_where_greedy_costs_too_much(X):
    K = lm.kernel(X.T, lm.rbf(sigma=20.0))
    labels = [trial.label for trial in lm.select(K, 8, method=lm.Auto(effort=1e-9)).trials]
    assert labels[0] == "nuclear"
    nuclear = lm.select(K, 8, method="nuclear")
    assert lm.select(K, 8).error() <= nuclear.error()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "make",
    [lambda points: lm.kernel(points, lm.rbf(sigma=2.0)), lambda points: lm.psd(smooth(points))],
    ids=["kernel", "psd"],
)
def test_digits_that_were_never_there_are_not_trusted(make):
    """float32 knows a smooth kernel matrix to seven digits; the rest must not look like gains."""
    points = np.random.default_rng(1).standard_normal((300, 2))
    exact = lm.psd(smooth(points))
    single, double, drawn = (
        selection_error(exact, lm.select(operator, 25, method=method).indices, "trace")
        for operator, method in (
            (make(points.astype(np.float32)), "auto"),
            (exact, "auto"),
            (exact, "greedy"),
        )
    )
    assert double <= single * (1 + 1e-6) and single < drawn


def smooth(points):
    return np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 4)


def test_trials_on_wide_data_hold_the_error_itself():
    X = np.random.default_rng(0).standard_normal((5, 25_000)) * 0.5 ** np.arange(5)[:, None]
    s = lm.select(X, 3, criterion="frobenius", scale=False)
    assert min(trial.error for trial in s.trials) == pytest.approx(s.error(), rel=1e-9)


def test_trials_on_a_large_kernel_hold_an_estimate_of_the_frobenius_error(monkeypatch, X):
    kernel = lm.kernel(X.T, lm.rbf(sigma=20.0))
    exact = lm.select(kernel, 4, criterion="frobenius", method="greedy").error()
    monkeypatch.setattr(portfolio, "ESTIMATED", 39)  # of 40
    trials = portfolio.Portfolio(lm.Problem(kernel, 4, "frobenius"), np.random.default_rng(0))
    trials.run("greedy", lm.Greedy())
    error = trials.trials[0].error
    # an estimate: not the same digits, and 100 probes of 40 columns are within a tenth
    assert error != exact * 2.0 ** (-2 * kernel.exponent)
    assert error * 2.0 ** (2 * kernel.exponent) == pytest.approx(exact, rel=0.2)


@pytest.mark.parametrize("seed", [7, 10, 11, 16, 39])  # estimates of the two errors are reversed
def test_estimates_do_not_take_back_swaps_that_paid(seed, monkeypatch):
    monkeypatch.setattr(portfolio, "ESTIMATED", 10)
    K = lm.kernel(np.random.default_rng(seed).standard_normal((120, 3)), lm.rbf(2.0))
    s = lm.select(K, 5, criterion="frobenius")
    further = lm.Swap(start=s.indices, criterion="frobenius")
    on = lm.select(K, 5, method=further, criterion="frobenius")
    assert on.error() == pytest.approx(s.error(), rel=1e-8)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("seed", range(3))
def test_the_default_never_ends_above_a_step_of_its_own(criterion, seed):
    """Where the spectrum falls fast, a search may take drifted numbers for gains."""
    waves = np.exp(-(np.arange(34.0)[:, None] ** 2) / 60) * np.cos(
        np.pi * np.arange(34)[:, None] * np.random.default_rng(seed).random(3000)
    )
    fields = np.random.default_rng(seed).standard_normal((34, 34)) @ waves
    s = lm.select(fields, 16, criterion=criterion, scale=False, seed=seed)
    assert s.error() <= min(trial.error for trial in s.trials) * (1 + 1e-6)
