"""What the default tries, decided by estimates of seconds at their limits and next to them."""

from __future__ import annotations

import time

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import Stopped
from landmarks.methods import auto
from landmarks.methods.portfolio import Portfolio
from landmarks.methods.search.filled import Filled
from landmarks.runs.runner import watching

X = np.random.default_rng(0).standard_normal((60, 12))


def labels(k: int = 5, **options) -> list[str]:
    return [trial.label for trial in lm.select(X, k, **options).trials]


def details(k: int = 5) -> dict[str, object]:
    return lm.Auto().choose(lm.Problem(lm.data(X), k), np.random.default_rng(0)).details


MATRIX, DATA = lm.psd(np.eye(100)), lm.data(np.ones((5, 100)))


@pytest.mark.parametrize(
    ("operator", "k", "each", "rounds", "patience"),
    [
        (MATRIX, 10, 2.0**-13, 60, 5),  # 10 and a twentieth of n k
        (MATRIX, 10, 0.008, 47, 5),  # in 0.38 seconds
        (DATA, 10, 0.02, 30, 5),
        (MATRIX, 10, 0.04, 23, 5),  # in 0.95 seconds
        (DATA, 10, 0.04, 15, 5),  # in 0.6 seconds
        (DATA, 10, 10.0, 3, 5),
        (MATRIX, 40, 2.0**-13, 200, 20),
        (MATRIX, 3, 2.0**-13, 25, 4),
    ],
)
def test_rounds_by_what_each_costs(operator, k, each, rounds, patience, monkeypatch):
    monkeypatch.setattr(auto, "round_seconds", lambda problem: each)
    found = auto.modest_search(lm.Problem(operator, k), np.arange(k))
    assert (found.rounds, found.patience) == (rounds, patience)
    timed = auto.modest_search(lm.Problem(operator, k, deadline=1e9), np.arange(k))
    assert timed.patience == 8 * k
    assert found.start.tolist() == list(range(k))


@pytest.mark.parametrize(
    ("seconds", "proved", "later"),
    [(0.02, True, False), (0.021, False, True), (1.0, False, True), (1.01, False, False)],
)
def test_a_proof_is_made_at_once_or_later_or_not(seconds, proved, later, monkeypatch):
    monkeypatch.setattr(auto, "proof_seconds", lambda problem: seconds)
    assert ("exact" in labels()) == proved
    assert details()["provable"] == later


def test_with_a_budget_a_proof_may_take_half_of_it(monkeypatch):
    monkeypatch.setattr(auto, "proof_seconds", lambda problem: 490.0)
    assert labels(budget=1000.0)[-1] == "exact"


def test_a_second_start_is_made_where_swaps_are_cheap(monkeypatch):
    for seconds, made in ((0.03, True), (0.0301, False)):
        monkeypatch.setattr(auto, "swap_seconds", lambda problem, seconds=seconds: seconds)
        assert ("rpcholesky > swap" in labels()) == ("merged" in labels()) == made


def test_what_falls_behind_the_guarantee_is_improved_from_another_start(monkeypatch):
    assert "osinsky > swap" not in labels()
    monkeypatch.setattr(auto, "promised", lambda problem: 0.0)
    assert "osinsky > swap" in labels()


def test_a_small_matrix_has_its_own_plan(monkeypatch):
    K = lm.psd(X.T @ X)
    for most, small in ((12, True), (11, False)):
        monkeypatch.setattr(auto, "SMALL", most)
        found = [trial.label for trial in lm.select(K, 5).trials]
        assert ("rpcholesky > swap" in found) == small


def test_the_frobenius_error_is_lowered_where_that_is_affordable(monkeypatch):
    K = lm.psd(X.T @ X)
    monkeypatch.setattr(auto, "SMALL", 1)
    for seconds, made in ((180.0, True), (180.1, False)):
        monkeypatch.setattr(auto, "frobenius_seconds", lambda problem, seconds=seconds: seconds)
        found = [trial.label for trial in lm.select(K, 5, criterion="frobenius").trials]
        assert ("swap(frobenius)" in found) == made


@pytest.mark.parametrize(
    ("greedy", "swap", "fits", "expected"),
    [
        (100.0, 80.0, True, "greedy > swap"),
        (100.0, 80.1, True, "nuclear"),
        (1.0, 1.0, False, "nuclear"),
    ],
)
def test_a_large_matrix_is_searched_within_the_effort(greedy, swap, fits, expected, monkeypatch):
    monkeypatch.setattr(auto, "greedy_seconds", lambda problem: greedy)
    monkeypatch.setattr(auto, "swap_seconds", lambda problem: swap)
    monkeypatch.setattr(auto, "panels_fit", lambda problem: fits)
    plan = list(auto.large_plan(lm.Problem(lm.psd(np.eye(9)), 3), 180.0))
    assert plan[0][0] == expected


@pytest.mark.parametrize(("seconds", "made"), [(25.0, True), (25.1, False)])
def test_an_annealed_start_takes_a_quarter_of_the_effort(seconds, made, monkeypatch):
    monkeypatch.setattr(auto, "greedy_seconds", lambda problem: 30.0)
    monkeypatch.setattr(auto, "swap_seconds", lambda problem: 1.0)
    monkeypatch.setattr(auto, "candidates_seconds", lambda problem: seconds)
    plan = dict(auto.large_plan(lm.Problem(lm.psd(np.eye(9)), 3), 100.0))
    assert ("annealed > swap" in plan) == made


@pytest.mark.parametrize(("seconds", "made"), [(40.0, True), (60.0, False)])
def test_an_annealed_start_takes_half_of_the_time(seconds, made, monkeypatch):
    monkeypatch.setattr(auto, "annealed_seconds", lambda problem: seconds)
    late = lm.Problem(lm.psd(np.eye(9)), 3, deadline=time.monotonic() + 100.0)
    plan = dict(auto.small_plan(auto.Portfolio(late, np.random.default_rng(0))))
    assert ("annealed > swap" in plan) == made


def test_trials_count_the_products_of_each():
    K = lm.function(lambda V: (X.T @ X) @ V, n=12)
    s = lm.select(K, 4)
    assert all(trial.products > 0 and trial.seconds > 0 for trial in s.trials[:1])
    assert sum(trial.products for trial in s.trials) <= s.ledger.products


class Stopping:
    """A method that is stopped before it has a choice."""

    honours = lm.Greedy.honours

    def choose(self, problem: lm.Problem, rng: np.random.Generator) -> lm.Choice:
        raise Stopped("before there was a choice")


def test_what_is_stopped_before_it_has_a_choice_leaves_the_one_before():
    portfolio = auto.Portfolio(lm.Problem(lm.data(X), 3), np.random.default_rng(0))
    with pytest.raises(Stopped):
        portfolio.run("first", Stopping())
    portfolio.run("greedy", lm.Greedy())
    portfolio.run("second", Stopping())
    assert [trial.label for trial in portfolio.trials] == ["greedy"]
    assert len(portfolio.best.indices) == 3 and len(portfolio.choices) == 1


@pytest.mark.parametrize(
    ("each", "labels"),
    [
        (0.02, ["iterated"]),
        (0.03, ["iterated(trace) > swap"]),
    ],
)
def test_rounds_on_the_trace_come_first_where_frobenius_rounds_cost_much(each, labels, monkeypatch):
    monkeypatch.setattr(auto, "round_seconds", lambda problem: each)
    monkeypatch.setattr(auto, "swap_seconds", lambda problem: 1.0)
    points = np.random.default_rng(2).standard_normal((90, 3))
    K = lm.kernel(points, lm.rbf(sigma=1.0))
    found = lm.select(K, 20, criterion="frobenius")
    assert [trial.label for trial in found.trials] == labels
    assert found.error() == pytest.approx(min(trial.error for trial in found.trials), rel=1e-9)
    swapped = lm.select(K, 20, criterion="frobenius", method="swap")
    assert found.error() <= swapped.error() * (1 + 1e-9)
    assert [trial.label for trial in lm.select(K, 20).trials] == ["iterated"]
    monkeypatch.setattr(auto, "swap_seconds", lambda problem: 0.01)
    starts = ["greedy > swap", "rpcholesky > swap", "merged"]
    several = lm.select(K, 20, criterion="frobenius")
    assert [trial.label for trial in several.trials] == starts + labels


def timed(monkeypatch: pytest.MonkeyPatch, frobenius: float, trace: float) -> None:
    """Let a round take this long on each criterion."""
    seconds = {"frobenius": frobenius, "trace": trace}
    monkeypatch.setattr(auto, "round_seconds", lambda problem: seconds[problem.objective.criterion])


@pytest.mark.parametrize(
    ("criterion", "each", "label", "totals"),
    [
        ("frobenius", 0.06, "iterated(trace) > swap", {10}),  # in 0.6 seconds on the trace
        ("frobenius", 0.01, "iterated", {13}),  # 10 and a twentieth of n k
        ("trace", 0.06, "iterated", {13}),
        ("trace", 0.1, "iterated", {9}),  # in 0.95 seconds
    ],
)
def test_the_search_from_a_start_lowers_both_errors(criterion, each, label, totals, monkeypatch):
    timed(monkeypatch, each, each)
    problem = lm.Problem(lm.psd(X.T @ X), 5, criterion)
    heard = []
    with watching(lambda progress: heard.append(progress) and None):
        portfolio = Portfolio(problem, np.random.default_rng(0))
        auto.search_on(portfolio, Filled())
    assert [trial.label for trial in portfolio.trials] == [label]
    assert {progress.total for progress in heard if progress.phase == "iterated"} == totals
    swapped = lm.select(problem.operator, 5, method="swap", criterion=criterion)
    assert portfolio.error <= swapped.error() * (1 + 1e-9)
