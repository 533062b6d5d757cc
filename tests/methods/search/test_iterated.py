"""Iterated search: valid at any time, never worse than its start, and better where possible."""

import time
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.search.iterated import Search, disturb, disturbance, resemblance
from landmarks.methods.search.landscape import Landscape
from landmarks.methods.search.local_search import descend
from landmarks.objectives import as_objective
from landmarks.residual.exchange import Exchange
from landmarks.runs.runner import watching

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


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 3),
    st.sampled_from(CRITERIA),
    st.integers(0, 5),
)
def test_iterated_never_increases_the_error(rank, k, copies, criterion, seed):
    X = data(rank, 9, seed)
    X = np.concatenate([X, X[:, :copies]], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        A = lm.data(X, scale=False)
        start = lm.select(A, k, method=lm.Uniform(), criterion=criterion, seed=seed)
        found = lm.select(
            A, k, method=lm.Iterated(start=start.indices, rounds=5), criterion=criterion, seed=seed
        )
    # beyond the numerical rank both errors are rounding: the rank's tolerance is 1e-10 of the total
    assert found.error() <= start.error() * (1 + 1e-9) + 1e-9 * start.total()


def test_iterated_is_at_least_as_good_as_swap_from_the_same_start():
    X = data(60, 40) @ data(40, 40, seed=1)
    start = list(range(12))
    swapped, iterated = (
        lm.select(X, 12, method=method)
        for method in (lm.Swap(start=start), lm.Iterated(start=start, rounds=20))
    )
    assert iterated.error() <= swapped.error() * (1 + 1e-9)


def test_one_seed_gives_one_selection_on_every_library(xp):
    points = data(30, 3)
    here = lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 5, method=lm.Iterated(rounds=5), seed=3)
    there = lm.select(
        lm.kernel(xp.asarray(points), lm.rbf(sigma=1.0)), 5, method=lm.Iterated(rounds=5), seed=3
    )
    assert here.indices.tolist() == there.indices.tolist()


def test_a_function_is_used_by_products_only():
    K = data(30, 30).T @ data(30, 30)
    found = lm.select(lm.function(lambda V: K @ V, n=30), 4, method=lm.Iterated(rounds=3))
    assert found.error() == pytest.approx(error(K, found.indices, "trace"))


def test_include_stays_and_exclude_stays_out():
    found = lm.select(
        data(30, 15), 6, method=lm.Iterated(rounds=20), include=[2, 7], exclude=[0, 1]
    )
    assert {2, 7} <= set(found.indices.tolist()) and not {0, 1} & set(found.indices.tolist())


def test_nothing_to_change_ends_at_once():
    found = lm.select(data(30, 6), 2, method=lm.Iterated(), include=[3, 5])
    assert sorted(found.indices.tolist()) == [3, 5]
    assert len(lm.select(data(30, 6), 6, method=lm.Iterated(), budget=1e6)) == 6


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


def test_an_interrupt_passes_and_the_operator_can_be_used_again(monkeypatch):
    problem = lm.Problem(lm.data(data(30, 15)), 3)
    expected = lm.Iterated(rounds=4).choose(problem, np.random.default_rng(0)).indices
    copy = Exchange.copy

    def interrupted(state):
        if interrupted.left == 0:
            raise KeyboardInterrupt
        interrupted.left -= 1
        return copy(state)

    interrupted.left = 2
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Exchange, "copy", interrupted)
        lm.Iterated(rounds=4).choose(problem, np.random.default_rng(0))
    again = lm.Iterated(rounds=4).choose(replace(problem), np.random.default_rng(0)).indices
    assert again.tolist() == expected.tolist()


def test_leaving_a_valley_loses_nothing():
    X = data(40, 20) @ data(20, 20, seed=2)
    swapped = lm.select(X, 5, method=lm.Swap()).error()
    assert lm.select(X, 5, method=lm.Iterated(rounds=12, patience=1)).error() <= swapped * (
        1 + 1e-9
    )


def ground_and_state(k=6, **constraints):
    problem = lm.Problem(lm.data(data(20, 15)), k, **constraints)
    landscape = Landscape.of(problem, as_objective("trace"))
    state = landscape.state(np.arange(k))
    descend(landscape, state)
    return landscape, state


def test_a_disturbance_drops_a_share_and_puts_others_in_their_places():
    landscape, state = ground_and_state(include=(2,))
    before = set(state.chosen.tolist())
    for share, full, most in ((0.5, True, 3), (0.15, False, 2), (1.0, True, 5)):
        trial = state.copy()
        drawn = disturbance(landscape, trial, share, full, np.random.default_rng(0))
        near = disturb(landscape, trial, *drawn)
        new = np.flatnonzero(trial.members != state.members)
        assert set(new) <= set(near) <= set(landscape.unlocked(trial))
        gone = before - set(trial.chosen.tolist())
        assert 1 <= len(gone) <= most and (len(gone) == most or not full)
        assert 2 in trial.chosen and len(trial.chosen) == 6 and set(state.chosen.tolist()) == before


def test_members_that_explain_the_same_columns_are_dropped_together():
    rng = np.random.default_rng(0)
    centres = np.repeat(10 * np.eye(3), 4, axis=0)  # three clusters of four points
    points = centres + rng.standard_normal((12, 3))
    K = lm.rbf(sigma=3.0)(points, points)
    landscape = Landscape.of(lm.Problem(lm.psd(K), 6), as_objective("trace"))
    state = landscape.state(np.array([0, 1, 4, 5, 8, 9]))
    for place in range(6):
        alike = resemblance(state, place)
        assert set(np.argsort(-alike)[:2]) == {place, place ^ 1}


def test_a_search_counts_its_rounds_and_leaves_a_poor_valley_when_its_patience_is_over():
    landscape, state = ground_and_state()
    search = Search(lm.Iterated(rounds=5, patience=2), landscape, state, np.random.default_rng(0))
    assert (search.rounds, search.improvements, search.stale, search.error) == (
        0,
        0,
        0,
        state.error,
    ) and not search.settled
    stale = []
    for _ in range(12):
        search.round()
        stale.append(search.stale)
    assert search.rounds == 12 and max(stale) == 2 and search.error <= state.error
    assert search.error == pytest.approx(landscape.state(search.best).error)


def test_a_search_that_goes_on_keeps_the_best_that_it_has_seen():
    landscape, state = ground_and_state()
    method = lm.Iterated(rounds=3, patience=1)
    search = Search(method, landscape, state, np.random.default_rng(0))
    list(search.steps())
    best, error = search.best, search.error
    search.state = landscape.state(np.setdiff1d(np.arange(15), best)[: len(best)])
    assert search.state.error > error
    search.method = replace(method, rounds=4)
    list(search.steps())
    assert search.rounds == 4 and search.error <= error


def test_nothing_is_tried_where_nothing_may_change():
    for k, constraints in ((3, {"include": (0, 1, 2)}), (6, {"exclude": tuple(range(6, 15))})):
        landscape, state = ground_and_state(k, **constraints)
        assert Search(lm.Iterated(), landscape, state, np.random.default_rng(0)).settled


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": -1}, "rounds must be at least 0, got -1"),
        ({"share": 0.0}, "share must be above 0"),
        ({"patience": 0}, "patience must be at least 1"),
    ],
)
def test_settings_out_of_range_are_reported(settings, message):
    with pytest.raises(ValueError, match=message):
        lm.Iterated(**settings)
    lm.Iterated(rounds=0, share=1.0, patience=1)


def test_the_rounds_and_improvements_are_reported():
    choice = lm.Iterated(rounds=7).choose(
        lm.Problem(lm.data(data(20, 15)), 6), np.random.default_rng(0)
    )
    assert choice.details["rounds"] == 7 and 0 <= choice.details["improvements"] <= 7


def test_an_improvement_is_a_lower_error_than_ever_before():
    heard = []
    problem = lm.Problem(lm.data(data(20, 15)), 6)
    start = np.arange(6)
    with watching(heard.append):
        choice = lm.Iterated(start=start, rounds=30).choose(problem, np.random.default_rng(0))
    rounds = [progress for progress in heard if progress.phase == "iterated"]
    assert [progress.done for progress in rounds] == list(range(31))
    assert {progress.total for progress in rounds} == {30}
    lowest = np.minimum.accumulate([progress.error for progress in rounds])
    assert choice.details["improvements"] == np.sum(np.diff(lowest) < 0) > 0


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
