"""Groups and costs against enumeration, and against what each constraint promises."""

import itertools
import time

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError
from landmarks.linalg.error import selection_error
from landmarks.methods.groups import moves as unit_exchange
from landmarks.methods.groups.knapsack import Knapsack
from landmarks.methods.groups.moves import (
    exchange,
    fill,
    first_units,
    one_for_one,
    one_for_two,
    refilled,
)
from landmarks.methods.groups.state import UnitState
from landmarks.methods.groups.units import Units
from landmarks.runs.runner import watching

N = 9
COSTS = np.array([1.0, 3.0, 0.5, 2.0, 1.5, 2.5, 1.0, 0.8, 2.2])
LABELS = np.array(["a", "b", "a", "c", "d", "c", "e", "d", "f"])


def made(seed, n=N):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((12, 4)) @ rng.standard_normal((4, n)) + 0.4 * rng.standard_normal(
        (12, n)
    )


def least(X, criterion, allowed):
    """The least error of all choices that are allowed, by enumeration."""
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(X.shape[1]), r) for r in range(1, X.shape[1] + 1)
    )
    return min(selection_error(lm.data(X), list(S), criterion) for S in subsets if allowed(list(S)))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_chosen_as_well_as_by_enumeration(seed, criterion):
    X = made(seed)
    s = lm.select(X, 3, groups=LABELS, criterion=criterion)
    assert sorted(s.indices) == np.flatnonzero(np.isin(LABELS, LABELS[s.indices])).tolist()

    def whole(S):
        return len(set(LABELS[S])) == 3 and len(S) == np.sum(np.isin(LABELS, LABELS[S]))

    np.testing.assert_allclose(s.error(), least(X, criterion, whole), rtol=1e-8)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("seed", range(3))
def test_costs_are_spent_as_well_as_by_enumeration(seed, criterion):
    X = made(seed)
    s = lm.select(X, costs=COSTS, budget_cost=4.0, criterion=criterion)
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


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_gains_are_the_falls_of_the_error(criterion, xp):
    operator = lm.data(xp.asarray(made(0)))
    problem = lm.Problem(operator, 2, criterion, groups=np.unique(LABELS, return_inverse=True)[1])
    state = UnitState.empty(operator, Units.of(problem), criterion)
    for unit in (2, 0):
        gains, before = state.blocks.gains(), state.error
        state = state.added(unit)
        np.testing.assert_allclose(gains[unit], before - state.error, rtol=1e-9)
    np.testing.assert_allclose(
        state.error, selection_error(operator, state.units.columns([2, 0]), criterion), rtol=1e-9
    )
    np.testing.assert_allclose(
        state.without([2]).error,
        selection_error(operator, state.units.members[0], criterion),
        rtol=1e-9,
    )
    np.testing.assert_allclose(state.loaded([2, 0]).error, state.error, rtol=1e-9)


GROUPS = np.unique(LABELS, return_inverse=True)[1]


def grouped(criterion, X=None):
    """Nothing chosen of the groups of columns, and the dense matrix."""
    X = made(0) if X is None else X
    operator = lm.data(X)
    return UnitState.empty(
        operator, Units.of(lm.Problem(operator, 2, criterion, groups=GROUPS)), criterion
    ), X.T @ X


def assert_blocks_are_those_of_the_residual(blocks, units, K, chosen):
    S = units.columns(chosen)
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
    for bucket, stack in zip(blocks.buckets, blocks.stacks, strict=True):
        for power, of_power in enumerate(stack, start=1):
            dense = np.linalg.matrix_power(C, power)
            expected = [dense[np.ix_(members, members)] for members in bucket.columns]
            np.testing.assert_allclose(
                of_power, expected, atol=1e-10 * np.max(np.linalg.matrix_power(K, power))
            )


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_blocks_are_those_of_the_powers_of_the_residual(criterion):
    empty, K = grouped(criterion)
    added, loaded = empty.added(2).added(0).added(3), empty.loaded([2, 0, 3])
    assert_blocks_are_those_of_the_residual(empty.blocks, empty.units, K, [])
    for state in (added, loaded):
        assert state.chosen == (2, 0, 3) and state.powers == (1 if criterion == "trace" else 2)
        assert_blocks_are_those_of_the_residual(state.blocks, state.units, K, [2, 0, 3])
        assert_blocks_are_those_of_the_residual(state.without([0]), state.units, K, [2, 3])
        assert_blocks_are_those_of_the_residual(state.without([2, 3]), state.units, K, [0])
    assert_blocks_are_those_of_the_residual(loaded.loaded([]).blocks, empty.units, K, [])


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_every_unit_knows_what_it_would_gain(criterion):
    empty, _ = grouped(criterion)
    state = empty.loaded([4])
    after = [state.loaded(sorted({4, u})).error for u in range(6)]
    np.testing.assert_allclose(
        state.blocks.gains(), state.error - np.array(after), rtol=1e-9, atol=1e-9 * state.error
    )


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_blocks_do_not_depend_on_how_many_units_are_read_at_a_time(criterion, monkeypatch):
    whole, _ = grouped(criterion)
    monkeypatch.setattr("landmarks.methods.groups.blocks.block_width", lambda operator: 3)
    parts, _ = grouped(criterion)
    for stack, expected in zip(parts.blocks.stacks, whole.blocks.stacks, strict=True):
        for block, other in zip(stack, expected, strict=True):
            np.testing.assert_allclose(block, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("criterion", "each"), [("trace", 1), ("frobenius", 2)])
def test_a_change_costs_a_product_for_each_column_and_power_and_leaving_out_costs_none(
    criterion, each
):
    empty, _ = grouped(criterion)
    ledger = empty.operator.ledger
    before = ledger.products
    state = empty.loaded([0, 2])  # four columns
    assert ledger.products - before == 4 * each
    state.without([0]), state.without([2])
    assert ledger.products - before == 4 * each
    empty.added(2)
    assert ledger.products - before == 6 * each


def test_what_a_superfluous_column_kept_out_comes_in_when_others_leave():
    X = made(4)
    X[:, 1] = X[:, 0]  # group b is the first column of group a
    empty, K = grouped("frobenius", X)
    assert_blocks_are_those_of_the_residual(empty.loaded([0, 1]).without([0]), empty.units, K, [1])


def test_units_hold_the_columns_costs_and_limits_of_the_problem():
    operator = lm.data(made(0))
    units = Units.of(
        lm.Problem(
            operator, 0, groups=GROUPS, costs=COSTS, budget_cost=6.0, include=(4, 7), exclude=(1,)
        )
    )
    assert [members.tolist() for members in units.members] == [
        [0, 2],
        [1],
        [3, 5],
        [4, 7],
        [6],
        [8],
    ]
    np.testing.assert_allclose(units.costs, [1.5, 3.0, 4.5, 2.3, 1.0, 2.2])
    assert np.flatnonzero(units.fixed).tolist() == [3] and np.flatnonzero(
        ~units.allowed
    ).tolist() == [1]
    assert units.most == 6 and units.budget == pytest.approx(6.0) and units.uneven
    assert units.columns([2, 0]).tolist() == [3, 5, 0, 2] and units.columns([]).tolist() == []
    assert np.flatnonzero(units.fitting([3])).tolist() == [0, 4, 5]
    assert np.flatnonzero(units.fitting([3, 0])).tolist() == [
        4,
        5,
    ]  # the last of them to the last penny
    single = Units.of(lm.Problem(operator, 2))
    assert (
        single.most == 2
        and single.budget == np.inf
        and not single.uneven
        and single.costs.tolist() == [1.0] * N
    )
    assert single.fitting([0]).sum() == 8 and single.fitting([0, 1]).sum() == 0


def test_equal_costs_are_even():
    assert not Units.of(
        lm.Problem(lm.data(made(0)), 0, costs=np.full(N, 2.0), budget_cost=5.0)
    ).uneven


def priced(X, costs, budget_cost, criterion="trace"):
    """The problem of columns with costs, and nothing chosen."""
    problem = lm.Problem(
        lm.data(X), 0, criterion, costs=np.asarray(costs, dtype=float), budget_cost=budget_cost
    )
    return problem, UnitState.empty(problem.operator, Units.of(problem), criterion)


def test_filling_up_takes_the_largest_gain_or_the_largest_gain_per_cost():
    _, empty = priced(np.diag([3.0, 2.0, 2.0, 1.0]), [5, 2, 2, 1], 5.0)
    assert fill(empty, False).chosen == (0,) and fill(empty, True).chosen == (1, 2, 3)
    assert fill(empty, True, barred=(1,)).chosen == (2, 3)
    assert first_units(empty, 3) == [0, 1, 2]
    assert first_units(empty.loaded([1]), 9) == [
        2,
        3,
    ]  # what no longer fits or adds nothing is left out


def test_one_unit_takes_the_place_of_one_or_of_two():
    problem, empty = priced(np.diag([3.0, 2.0, 2.0, 1.0]), [4, 2, 2, 2], 4.0)
    assert set(one_for_one(problem, empty.loaded([1, 3])).chosen) == {1, 2}
    assert one_for_one(problem, empty.loaded([1, 2])) is None
    assert one_for_two(problem, empty.loaded([1, 2])).chosen == (0,)
    assert one_for_two(problem, empty.loaded([0])) is None


def test_a_choice_may_be_better_after_two_were_taken_out_and_it_was_filled_up():
    problem, empty = priced(made(10), [4, 7, 2, 6, 7, 3, 7, 7, 7], 12.0)
    state = empty.loaded([7, 2, 5])
    assert one_for_one(problem, state) is one_for_two(problem, state) is None
    assert refilled(problem, state).chosen == (2, 0, 3)


def test_too_many_pairs_are_not_tried(monkeypatch):
    problem, empty = priced(np.diag([3.0, 2.0, 2.0, 1.0]), [4, 2, 2, 2], 4.0)
    state = empty.loaded([1, 2])
    monkeypatch.setattr(unit_exchange, "PAIRS", 1)
    assert one_for_two(problem, state) is not None
    monkeypatch.setattr(unit_exchange, "PAIRS", 0)
    assert one_for_two(problem, state) is None
    problem, empty = priced(made(10), [4, 7, 2, 6, 7, 3, 7, 7, 7], 12.0)
    for limit, found in ((3, True), (2, False)):  # three chosen units have three pairs
        monkeypatch.setattr(unit_exchange, "REFILLED", limit)
        assert (refilled(problem, empty.loaded([7, 2, 5])) is not None) == found


def test_exchanges_end_at_their_limit_at_the_deadline_and_at_the_best():
    X = made(1, n=30)
    problem = lm.Problem(lm.data(X), 3)
    worst = UnitState.empty(problem.operator, Units.of(problem), "trace").loaded(
        np.argsort(np.sum(X**2, axis=0))[:3].tolist()
    )
    errors = [exchange(problem, worst, (one_for_one,), limit).error for limit in (0, 1, 2, None)]
    assert errors[0] == worst.error and errors[1] == one_for_one(problem, worst).error < errors[0]
    assert errors[2] < errors[1] and errors[3] <= errors[2]
    late = lm.Problem(problem.operator, 3, deadline=time.monotonic() - 1)
    assert exchange(late, worst, (one_for_one,), None) is worst and refilled(late, worst) is None


def test_exchanges_are_reported_with_the_part_of_the_whole_that_is_left():
    X, heard = made(1, n=30), []
    problem = lm.Problem(lm.data(X), 3)
    state = UnitState.empty(problem.operator, Units.of(problem), "trace").loaded([0, 1, 2])
    with watching(lambda p: heard.append((p.phase, p.done, p.total, p.error))):
        exchange(problem, state, (one_for_one,), 1)
    assert heard[0] == (
        "exchange",
        0,
        1,
        pytest.approx(selection_error(problem.operator, [0, 1, 2], "trace") / np.sum(X**2)),
    )


def test_the_trials_are_named_by_their_starts():
    even, uneven = (
        lm.select(made(0), 3, groups=LABELS),
        lm.select(made(0), costs=COSTS, budget_cost=4.0),
    )
    seeded = "first unit, then gain per cost > exchange"
    assert [trial.label for trial in even.trials] == ["gain > exchange", seeded, seeded]
    assert [trial.label for trial in uneven.trials] == [
        "gain > exchange",
        "gain per cost > exchange",
        seeded,
        seeded,
        "the best > exchange",
    ]
    hasty = lm.select(made(0), costs=COSTS, budget_cost=4.0, budget=0.9)
    assert [trial.label for trial in hasty.trials] == [trial.label for trial in uneven.trials]
    assert uneven.error() == pytest.approx(
        min(trial.error for trial in uneven.trials) * 2.0**uneven.exponent
    )
    assert all(trial.seconds > 0 and trial.products > 0 for trial in even.trials)


def test_the_first_start_is_by_gain_and_the_second_by_gain_per_cost():
    found = lm.select(
        np.diag([3.0, 2.0, 2.0, 0.5]),
        costs=[5, 2, 2, 1],
        budget_cost=5.0,
        method=Knapsack(max_exchanges=0),
    )
    assert [trial.error for trial in found.trials[:2]] == pytest.approx([4 + 4 + 0.25, 9])
    assert found.indices.tolist() == [0]


def test_no_exchange_leaves_the_greedy_choice():
    found = lm.select(made(1, n=30), 5, method=Knapsack(max_exchanges=0))
    assert found.error() <= lm.select(made(1, n=30), 5, method="greedy").error() * (1 + 1e-9)
    with pytest.raises(ValueError, match="max_exchanges must be at least 0 or None, got -1"):
        Knapsack(max_exchanges=-1)


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
    with pytest.warns(RankWarning, match="numerical rank reached by 1 groups, fewer than k = 2"):
        assert len(lm.select(np.ones((4, 3)), 2, groups=[0, 0, 1])) == 3


@pytest.mark.parametrize(
    "make",
    [
        lm.data,
        lambda X: lm.psd(X.T @ X),
        scipy.sparse.csr_array,
        lambda X: lm.function(lambda B: X.T @ (X @ B), n=N),
    ],
)
def test_every_kind_of_matrix_gives_the_same_groups(make):
    expected = lm.select(made(0), 2, groups=LABELS).indices
    assert lm.select(make(made(0)), 2, groups=LABELS).indices.tolist() == expected.tolist()


def test_points_of_a_kernel_can_be_grouped():
    points = np.random.default_rng(0).standard_normal((40, 2))
    labels = np.arange(40) // 4
    s = lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 3, groups=labels, criterion="frobenius")
    assert len(s) == 12 and len(set(labels[s.indices])) == 3


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
        "group 'a' is chosen as a whole, but 0 of it is included and 2 excluded",
    ),
    (
        {"k": 2, "groups": LABELS, "method": "swap"},
        UnsupportedError,
        "Swap cannot honour groups; use auto or knapsack",
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
        "Greedy cannot honour costs; use auto or knapsack",
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
