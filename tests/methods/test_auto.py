"""The default method: what it tries, what it tells, and that it never loses what it found."""

import time

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.methods import auto, portfolio


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


def test_the_trials_list_the_starts_and_the_iterated_search(X):
    labels = [trial.label for trial in lm.select(X, 10).trials]
    assert labels == ["greedy > swap", "rpcholesky > swap", "merged", "iterated"]
    labels = [trial.label for trial in lm.select(X, 10, budget=2.0).trials]
    starts = ["greedy > swap", "rpcholesky > swap", "annealed > swap"]
    assert labels == [*starts, "merged", "iterated"]


def test_a_small_problem_is_proved_with_and_without_a_budget(X):
    for budget in (None, 5.0):
        found = lm.select(X, 3, budget=budget)
        assert found.proved and found.gap() < 1e-9 and found.trials[-1].label == "exact"


def test_the_budget_goes_into_an_iterated_search(X):
    found = lm.select(X, 12, budget=0.1)  # a proof is estimated to take more than half of it
    assert found.trials[-1].label == "iterated" and "exact" not in {
        trial.label for trial in found.trials
    }
    assert lm.select(X, 4, budget=1.0).trials[-1].label == "exact"


def test_indices_come_in_the_order_of_what_they_add(X):
    found = lm.select(X, 10)
    first = lm.select(X, 1, method="greedy", exclude=np.setdiff1d(np.arange(40), found.indices))
    assert found.indices[0] == first.indices[0]


def test_a_large_problem_is_worked_on_products(monkeypatch, X):
    monkeypatch.setattr(auto, "SMALL", 10)
    found = lm.select(lm.kernel(X.T, lm.rbf(sigma=20.0)), 8, criterion="frobenius")
    assert next(trial.label for trial in found.trials) == "greedy > swap" and found.trials[
        -1
    ].label in ("swap(frobenius)", "exact")
    assert found.error() <= lm.select(
        lm.kernel(X.T, lm.rbf(sigma=20.0)), 8, criterion="frobenius", method="greedy"
    ).error() * (1 + 1e-9)


def test_nuclear_scores_take_over_where_greedy_costs_too_much():
    operator = lm.function(lambda V: 2.0 * V, n=1_000_000)
    plan = list(auto.large_plan(lm.Problem(operator, 1000), seconds=180.0))
    assert [label for label, _ in plan] == ["nuclear"]


def test_many_exclusions_do_not_make_a_large_matrix_small(monkeypatch, X):
    monkeypatch.setattr(auto, "SMALL", 10)
    found = lm.select(lm.kernel(X.T, lm.rbf(sigma=20.0)), 3, exclude=range(5, 40))
    assert set(found.indices) <= set(range(5))


def test_an_effort_of_zero_is_refused():
    with pytest.raises(ValueError, match="effort must be a positive number"):
        lm.Auto(effort=0)


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


def problem(n, k, criterion="trace", **constraints):
    return lm.Problem(lm.function(lambda V: 2.0 * V, n=n), k, criterion, **constraints)


def test_a_small_matrix_is_annealed_where_a_budget_allows_it():
    def starts(problem):
        return [label for label, _ in auto.small_plan(auto.Portfolio(problem, None))]

    assert starts(problem(60, 10)) == ["greedy > swap", "rpcholesky > swap"]
    ample, scarce = (problem(1000, 10, deadline=time.monotonic() + t) for t in (100.0, 20.0))
    assert [len(starts(of)) for of in (ample, scarce)] == [3, 2]  # it takes 12 s


def test_few_rows_make_a_problem_small():
    assert auto.order(lm.psd(np.eye(50))) == 50
    assert auto.order(lm.data(np.ones((4, 100)))) == 20


def test_trials_on_wide_data_hold_the_error_itself():
    X = np.random.default_rng(0).standard_normal((5, 25_000)) * 0.5 ** np.arange(5)[:, None]
    s = lm.select(X, 3, criterion="frobenius", scale=False)
    assert min(trial.error for trial in s.trials) == pytest.approx(s.error(), rel=1e-9)


def test_a_long_first_descent_on_columns_is_the_only_one(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 90))
    assert len(lm.select(X, 9).trials) > 2
    monkeypatch.setattr(portfolio, "LATE", 0.0)
    assert [trial.label for trial in lm.select(X, 9).trials] == ["greedy > swap"]


def test_trials_on_a_large_kernel_hold_an_estimate_of_the_frobenius_error(monkeypatch, X):
    kernel = lm.kernel(X.T, lm.rbf(sigma=20.0))
    exact = lm.select(kernel, 4, criterion="frobenius", method="greedy").error()
    monkeypatch.setattr(portfolio, "ESTIMATED", 39)  # of 40
    trials = auto.Portfolio(lm.Problem(kernel, 4, "frobenius"), np.random.default_rng(0))
    trials.run("greedy", lm.Greedy())
    error = trials.trials[0].error
    # an estimate: not the same digits, and 100 probes of 40 columns are within a tenth
    assert error != exact * 2.0 ** (-2 * kernel.exponent)
    assert error * 2.0 ** (2 * kernel.exponent) == pytest.approx(exact, rel=0.2)


@pytest.mark.parametrize("seed", [7, 10, 11, 16, 39])  # estimates of the two errors are reversed
def test_estimates_do_not_take_back_swaps_that_paid(seed, monkeypatch):
    monkeypatch.setattr(auto, "SMALL", 10)
    monkeypatch.setattr(portfolio, "ESTIMATED", 10)
    K = lm.kernel(np.random.default_rng(seed).standard_normal((120, 3)), lm.rbf(2.0))
    s = lm.select(K, 5, criterion="frobenius")
    further = lm.Swap(start=s.indices, criterion="frobenius")
    on = lm.select(K, 5, method=further, criterion="frobenius")
    assert on.error() == pytest.approx(s.error(), rel=1e-8)
