"""Groups and costs: choices are as good as by enumeration, and wrong arguments are refused."""

import itertools

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError

N = 9
COSTS = np.array([1.0, 3.0, 0.5, 2.0, 1.5, 2.5, 1.0, 0.8, 2.2])
LABELS = np.array(["a", "b", "a", "c", "d", "c", "e", "d", "f"])


def made(seed, n=N):
    rng = np.random.default_rng(seed)
    low = rng.standard_normal((12, 4)) @ rng.standard_normal((4, n))
    return low + 0.4 * rng.standard_normal((12, n))


def least(X, criterion, allowed):
    """The least error of all choices that are allowed, by enumeration."""
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(X.shape[1]), r) for r in range(1, X.shape[1] + 1)
    )
    return min(selection_error(lm.data(X), list(S), criterion) for S in subsets if allowed(list(S)))


@pytest.mark.parametrize("method", ["auto", "knapsack"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_chosen_as_well_as_by_enumeration(seed, criterion, method):
    X = made(seed)
    s = lm.select(X, 3, groups=LABELS, criterion=criterion, method=method)
    assert sorted(s.indices) == np.flatnonzero(np.isin(LABELS, LABELS[s.indices])).tolist()

    def whole(S):
        return len(set(LABELS[S])) == 3 and len(S) == np.sum(np.isin(LABELS, LABELS[S]))

    np.testing.assert_allclose(s.error(), least(X, criterion, whole), rtol=1e-8)


@pytest.mark.parametrize("method", ["auto", "knapsack"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("seed", range(3))
def test_costs_are_spent_as_well_as_by_enumeration(seed, criterion, method):
    X = made(seed)
    s = lm.select(X, costs=COSTS, budget_cost=4.0, criterion=criterion, method=method)
    assert COSTS[s.indices].sum() <= 4.0
    np.testing.assert_allclose(
        s.error(), least(X, criterion, lambda S: COSTS[S].sum() <= 4.0), rtol=1e-8
    )


def test_groups_with_costs_include_and_exclude_together():
    X = made(5)
    s = lm.select(X, groups=LABELS, costs=COSTS, budget_cost=8.0, include=[4], exclude=[1])
    assert (
        {4, 7} <= set(s.indices.tolist()) and 1 not in s.indices and COSTS[s.indices].sum() <= 8.0
    )

    def allowed(S):
        return (
            {4, 7} <= set(S)
            and 1 not in S
            and COSTS[S].sum() <= 8.0
            and len(S) == np.sum(np.isin(LABELS, LABELS[S]))
        )

    np.testing.assert_allclose(s.error(), least(X, "trace", allowed), rtol=1e-8)


def test_no_exchange_leaves_the_greedy_choice():
    found = lm.select(made(1, n=30), 5, method=lm.Knapsack(max_exchanges=0))
    assert found.error() <= lm.select(made(1, n=30), 5, method="greedy").error() * (1 + 1e-9)


def test_single_columns_are_chosen_as_well_as_by_swaps():
    X = made(1, n=30)
    s = lm.select(X, 5, method="knapsack")
    assert s.error() <= lm.select(X, 5, method="greedy").error() * (1 + 1e-9)


def test_k_is_the_most_where_there_are_costs():
    s = lm.select(made(0), 2, costs=np.ones(N), budget_cost=100.0)
    assert s.k == 2
    assert lm.select(made(0), costs=np.ones(N), budget_cost=3.0).k == 3


def test_what_costs_nothing_is_taken_when_it_helps():
    costs = np.where(np.arange(N) == 4, 0.0, 5.0)
    assert 4 in lm.select(made(2), costs=costs, budget_cost=5.0).indices


def test_more_money_never_hurts():
    errors = [lm.select(made(3), costs=COSTS, budget_cost=B).error() for B in (1, 2, 4, 8, 15)]
    assert np.all(np.diff(errors) <= 1e-9 * errors[0])


@pytest.mark.parametrize("method", ["knapsack", "exact", "auto"])
@pytest.mark.parametrize("door", ["X", "K", "target"])
def test_of_what_adds_nothing_nothing_is_taken(door, method, tmp_path):
    """An empty choice answers every question."""
    zero = {"X": np.zeros((4, 3)), "K": lm.psd(np.zeros((3, 3))), "target": np.eye(5)[:, :3]}[door]
    words = {"target": np.eye(5)[:, 4:]} if door == "target" else {}
    s = lm.select(zero, costs=[1.0, 1, 1], budget_cost=2, method=method, **words)
    if door == "target" and method == "auto":  # as many as can be paid for, which rebuild nothing
        assert s.relative_error() == 1
        return
    assert len(s) == 0 and s.error() == s.total() == pytest.approx(s.lower_bound())
    assert "0 of 3" in str(s.summary()) and s.gap() < 1e-12
    assert len(s.why().chosen.rows) == 0 and len(s.to_frame()) == 0
    s.report(tmp_path / "run.html")
    s.save(tmp_path / "run.npz")
    assert lm.load(tmp_path / "run.npz", data=zero, **words).error() == s.error()


def test_dependent_columns_in_and_between_groups_do_no_harm():
    X = made(4)
    X[:, 2], X[:, 5], X[:, 3] = (
        X[:, 0],
        0.0,
        X[:, 0],
    )  # a holds a column twice, c is that column and nothing
    s = lm.select(X, 4, groups=LABELS)
    chosen = set(LABELS[s.indices])
    assert len(chosen) == 4 and not {"a", "c"} <= chosen
    with pytest.warns(RankWarning, match="1 groups reach the numerical rank, fewer than k = 2"):
        assert len(lm.select(np.ones((4, 3)), 2, groups=[0, 0, 1], scale=False)) == 3


WRONG = [
    (
        {"k": 2, "groups": [0, 1]},
        ValueError,
        r"groups must hold one label for each of the n = 9 candidates, got an array of shape "
        r"\(2,\)",
    ),
    ({"k": 2, "groups": [None] * 9}, ValueError, "groups has missing labels"),
    ({"k": 2, "groups": [np.nan] * 9}, ValueError, "groups has missing labels"),
    ({"k": 7, "groups": LABELS}, ValueError, "k = 7 is more than the 6 groups$"),
    (
        {"k": 6, "groups": LABELS, "exclude": [0]},
        ValueError,
        "k = 6 is more than the 5 groups that exclude leaves",
    ),
    (
        {"k": 1, "groups": LABELS, "include": [0, 1]},
        ValueError,
        "include lists 2 groups, more than k = 1",
    ),
    (
        {"k": 2, "groups": LABELS, "include": [0], "exclude": [2]},
        ValueError,
        "but of group 'a' 0 is included and 2 excluded",
    ),
    (
        {"k": 2, "groups": LABELS, "method": "swap"},
        UnsupportedError,
        "Swap does not support groups; use auto, knapsack or exact",
    ),
    ({"groups": LABELS}, TypeError, "k must be an integer"),
    ({"costs": COSTS}, ValueError, "costs and budget_cost go together, got only costs"),
    ({"budget_cost": 3}, ValueError, "costs and budget_cost go together, got only budget_cost"),
    (
        {"costs": COSTS[:3], "budget_cost": 3},
        ValueError,
        r"costs must hold one number for each of the n = 9 candidates, got an array of shape "
        r"\(3,\)",
    ),
    (
        {"costs": -COSTS, "budget_cost": 3},
        ValueError,
        "costs must be finite and not negative, got -1.0",
    ),
    (
        {"costs": COSTS * np.nan, "budget_cost": 3},
        ValueError,
        "costs must be finite and not negative, got nan",
    ),
    (
        {"costs": LABELS, "budget_cost": 3},
        TypeError,
        "costs must be a list of numbers, one for each candidate",
    ),
    (
        {"costs": COSTS, "budget_cost": 0},
        ValueError,
        "budget_cost must be a positive number, got 0",
    ),
    (
        {"costs": COSTS, "budget_cost": 0.4},
        ValueError,
        "the cheapest candidate costs 0.5, more than budget_cost = 0.4",
    ),
    (
        {"costs": COSTS, "budget_cost": 3, "include": [1, 2]},
        ValueError,
        "what must be included costs 3.5, more than budget_cost = 3",
    ),
    (
        {"costs": COSTS, "budget_cost": 3, "method": "greedy"},
        UnsupportedError,
        "Greedy does not support costs; use auto, knapsack or exact",
    ),
    (
        {"costs": COSTS, "budget_cost": 9, "k": 1, "include": [1, 2]},
        ValueError,
        "include lists 2 candidates, more than k = 1",
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG)
def test_wrong_use_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        lm.select(made(0), **options)


def test_zeros_with_hardly_any_noise_are_compared_without_overflow():
    with pytest.warns(RankWarning):
        s = lm.select(np.zeros((3, 5)), 1, noise=1e-15, groups=[0] * 5, method="exact")
    assert s.error() == s.lower_bound() == 0
