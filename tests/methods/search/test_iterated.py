"""Iterated search: valid at any time, never worse than its start, and better where possible."""

import time
from itertools import combinations

import numpy as np
import pytest

import landmarks as lm

CRITERIA = ["trace", "frobenius"]


def data(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def error(K, S, criterion):
    S = list(S)
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n, k", [(8, 2), (10, 4), (11, 7)])
def test_small_problems_are_solved(n, k, criterion):
    X = data(n, n, seed=n)
    best = min(error(X.T @ X, S, criterion) for S in combinations(range(n), k))
    assert lm.select(X, k, method=lm.Iterated(), criterion=criterion).error() == pytest.approx(
        best, rel=1e-8
    )


def test_iterated_is_at_least_as_good_as_swap_from_the_same_start():
    X = data(60, 40) @ data(40, 40, seed=1)
    start = list(range(12))
    swapped, iterated = (
        lm.select(X, 12, method=method)
        for method in (lm.Swap(start=start), lm.Iterated(start=start, rounds=20))
    )
    assert iterated.error() <= swapped.error() * (1 + 1e-9)


def test_the_deadline_ends_the_rounds(monkeypatch):
    operator = lm.data(data(30, 15))
    clock = iter(range(1000))
    problem = lm.Problem(operator, 4, deadline=60.0)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    choice = lm.Iterated(rounds=0).choose(problem, np.random.default_rng(0))
    assert 0 < choice.details["rounds"] < 60 and len(choice.indices) == 4


def test_a_deadline_in_the_past_returns_the_start():
    problem = lm.Problem(lm.data(data(30, 15)), 3, deadline=time.monotonic() - 1)
    choice = lm.Iterated(start=[0, 1, 2]).choose(problem, np.random.default_rng(0))
    assert choice.indices.tolist() == [0, 1, 2]


def test_leaving_a_valley_loses_nothing():
    X = data(40, 20) @ data(20, 20, seed=2)
    swapped = lm.select(X, 5, method=lm.Swap()).error()
    assert lm.select(X, 5, method=lm.Iterated(rounds=12, patience=1)).error() <= swapped * (
        1 + 1e-9
    )


def test_the_rounds_and_improvements_are_reported():
    choice = lm.Iterated(rounds=7).choose(
        lm.Problem(lm.data(data(20, 15)), 6), np.random.default_rng(0)
    )
    assert choice.details["rounds"] == 7 and 0 <= choice.details["improvements"] <= 7


def test_the_choice_has_the_lowest_error_that_was_reported():
    heard = []
    method = lm.Iterated(start=np.arange(6), rounds=30)
    s = lm.select(data(20, 15), 6, method=method, callback=heard.append)
    rounds = [progress for progress in heard if progress.phase == "iterated"]
    assert [progress.done for progress in rounds] == list(range(31))
    assert {progress.total for progress in rounds} == {30}
    lowest = np.minimum.accumulate([progress.error for progress in rounds])
    assert lowest[-1] < lowest[0] and s.relative_error() == pytest.approx(lowest[-1])


def test_where_only_rounding_is_left_there_are_no_rounds():
    X = np.random.default_rng(0).standard_normal((10, 200))
    choice = lm.Iterated().choose(lm.Problem(lm.data(X), k=10), np.random.default_rng(0))
    assert choice.details["rounds"] == 0


@pytest.mark.parametrize("seed", range(4))
def test_rounds_on_the_trace_are_judged_by_the_criterion_of_the_problem(seed):
    points = np.random.default_rng(seed).standard_normal((60, 3))
    K = lm.psd(lm.rbf(sigma=1.5)(points, points))
    start = lm.select(K, 8, method="uniform", criterion="frobenius", seed=seed)
    best = lm.select(K, 8, method=lm.Iterated(rounds=60), criterion="frobenius", seed=seed)
    moved = lm.select(
        K,
        8,
        method=lm.Iterated(start=start.indices, rounds=30, criterion="trace"),
        criterion="frobenius",
        seed=seed,
    )
    assert moved.error() < start.error()
    kept = lm.select(
        K,
        8,
        method=lm.Iterated(start=best.indices, rounds=10, criterion="trace"),
        criterion="frobenius",
        seed=seed,
    )
    assert kept.error() <= best.error() * (1 + 1e-12)
