"""The default method: what it tries, what it tells, and that it never loses what it found."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.approximate import selection_error
from landmarks.methods import auto
from landmarks.methods.problem import Problem


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 12)) @ rng.standard_normal((12, 40)) + 0.3 * rng.standard_normal((60, 40))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_best_trial_is_what_is_returned(X, criterion):
    found = lm.select(X, 10, criterion=criterion)
    assert found.error() == pytest.approx(min(trial.error for trial in found.trials), rel=1e-9)
    assert found.error() <= lm.select(X, 10, criterion=criterion, method="greedy").error() * (1 + 1e-9)


def test_the_trials_tell_of_greedy_annealed_random_and_iterated_search(X):
    labels = [trial.label for trial in lm.select(X, 10).trials]
    assert labels[0] == "greedy > swap" and labels[-1] == "iterated"
    assert any(label.startswith("annealed") for label in labels) and "rpcholesky > swap" in labels


def test_a_small_problem_is_proved_with_and_without_a_budget(X):
    for budget in (None, 5.0):
        found = lm.select(X, 3, budget=budget)
        assert found.proved and found.gap() < 1e-9 and found.trials[-1].label == "exact"


def test_the_budget_goes_into_an_iterated_search(X):
    found = lm.select(X, 10, budget=3.0)
    assert found.trials[-1].label == "iterated" and not found.proved


def test_indices_come_in_the_order_of_what_they_add(X):
    found = lm.select(X, 10)
    first = lm.select(X, 1, method="greedy", exclude=np.setdiff1d(np.arange(40), found.indices))
    assert found.indices[0] == first.indices[0]


def test_a_large_problem_is_worked_on_products(monkeypatch, X):
    monkeypatch.setattr(auto, "SMALL", 10)
    found = lm.select(lm.kernel(X.T, lm.rbf(sigma=20.0)), 8, criterion="frobenius")
    assert next(trial.label for trial in found.trials) == "greedy > swap" and found.trials[-1].label in ("swap(frobenius)", "exact")
    assert found.error() <= lm.select(lm.kernel(X.T, lm.rbf(sigma=20.0)), 8, criterion="frobenius", method="greedy").error() * (1 + 1e-9)


def test_nuclear_scores_take_over_where_greedy_costs_too_much():
    operator = lm.function(lambda V: 2.0 * V, n=1_000_000)
    plan = list(auto.large_plan(Problem(operator, 1000), seconds=180.0))
    assert [label for label, _ in plan] == ["nuclear"]


def test_many_exclusions_do_not_make_a_large_matrix_small(monkeypatch, X):
    monkeypatch.setattr(auto, "SMALL", 10)
    found = lm.select(lm.kernel(X.T, lm.rbf(sigma=20.0)), 3, exclude=range(5, 40))
    assert set(found.indices) <= set(range(5))


def test_an_effort_of_nothing_is_refused():
    with pytest.raises(ValueError, match="effort must be a positive number"):
        lm.Auto(effort=0)


@pytest.mark.parametrize("make", [lambda points: lm.kernel(points, lm.rbf(sigma=2.0)), lambda points: lm.psd(smooth(points))], ids=["kernel", "psd"])
def test_digits_that_were_never_there_are_not_trusted(make):
    """In float32 a smooth kernel matrix is known to seven digits; as float64 it would seem to have gains in the rest."""
    points = np.random.default_rng(1).standard_normal((300, 2))
    exact = lm.psd(smooth(points))
    single, double, drawn = (
        selection_error(exact, lm.select(operator, 25, method=method).indices, "trace")
        for operator, method in ((make(points.astype(np.float32)), "auto"), (exact, "auto"), (exact, "greedy"))
    )
    assert double <= single * (1 + 1e-6) and single < drawn


def smooth(points):
    return np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 4)
