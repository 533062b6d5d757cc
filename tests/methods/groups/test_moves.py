"""Filling up and exchanging units."""

import time

import numpy as np
import pytest
from errors_of import DEPTH, selection_error

import landmarks as lm
from landmarks.methods.groups import moves as unit_exchange
from landmarks.methods.groups.filling import fill, first_units
from landmarks.methods.groups.moves import exchange, one_for_one, one_for_two
from landmarks.methods.groups.state import UnitState
from landmarks.methods.groups.units import Units
from landmarks.runs.runner import watching

from .made import made


def priced(X, costs, budget_cost, criterion="trace"):
    """The problem of columns with costs, and nothing chosen."""
    problem = lm.Problem(
        lm.data(X), 0, criterion, costs=np.asarray(costs, dtype=float), budget_cost=budget_cost
    )
    return problem, UnitState.empty(problem.pair, Units.of(problem), DEPTH[criterion])


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
    _, empty = priced(np.diag([3.0, 2.0, 2.0, 1.0]), [4, 2, 2, 2], 4.0)
    assert set(one_for_one(empty.loaded([1, 3])).chosen) == {1, 2}
    assert one_for_one(empty.loaded([1, 2])) is None
    assert one_for_two(empty.loaded([1, 2])).chosen == (0,)
    assert one_for_two(empty.loaded([0])) is None


def test_a_choice_may_be_better_after_two_were_taken_out_and_it_was_filled_up():
    problem, empty = priced(made(10), [4, 7, 2, 6, 7, 3, 7, 7, 7], 12.0)
    state = empty.loaded([7, 2, 5])
    assert one_for_one(state) is one_for_two(state) is None
    assert exchange(problem, state, False, None).chosen == state.chosen
    assert exchange(problem, state, True, 1).chosen == (2, 0, 3)


def test_too_many_pairs_are_not_tried(monkeypatch):
    problem, empty = priced(np.diag([3.0, 2.0, 2.0, 1.0]), [4, 2, 2, 2], 4.0)
    state = empty.loaded([1, 2])
    monkeypatch.setattr(unit_exchange, "PAIRS", 1)
    assert one_for_two(state) is not None
    monkeypatch.setattr(unit_exchange, "PAIRS", 0)
    assert one_for_two(state) is None
    problem, empty = priced(made(10), [4, 7, 2, 6, 7, 3, 7, 7, 7], 12.0)
    for limit, found in ((3, True), (2, False)):  # three chosen units have three pairs
        monkeypatch.setattr(unit_exchange, "REFILLED", limit)
        state = empty.loaded([7, 2, 5])
        assert (exchange(problem, state, True, 1).error < state.error) == found


def test_exchanges_end_at_their_limit_at_the_deadline_and_at_the_best():
    X = made(1, n=30)
    problem = lm.Problem(lm.data(X), 3)
    worst = UnitState.empty(problem.pair, Units.of(problem), 1).loaded(
        np.argsort(np.sum(X**2, axis=0))[:3].tolist()
    )
    errors = [exchange(problem, worst, False, limit).error for limit in (0, 1, 2, None)]
    assert errors[0] == worst.error and errors[1] == one_for_one(worst).error < errors[0]
    assert errors[2] < errors[1] and errors[3] <= errors[2]
    late = lm.Problem(problem.operator, 3, deadline=time.monotonic() - 1)
    assert exchange(late, worst, True, None) == (worst.chosen, worst.error)


def test_exchanges_are_reported_with_the_share_of_the_total_that_is_left():
    X, heard = made(1, n=30), []
    problem = lm.Problem(lm.data(X), 3)
    state = UnitState.empty(problem.pair, Units.of(problem), 1).loaded([0, 1, 2])
    with watching(lambda p: heard.append((p.phase, p.done, p.total, p.error))):
        exchange(problem, state, False, 1)
    assert heard[0] == (
        "exchange",
        0,
        1,
        pytest.approx(selection_error(problem.operator, [0, 1, 2], "trace") / np.sum(X**2)),
    )


def test_exchanges_pay_in_single_precision_too():
    rng = np.random.default_rng(2)
    Y = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 24))
    Y += 0.6 * rng.standard_normal((30, 24))
    K = (Y.T @ Y).astype(np.float32)
    operator = lm.function(lambda V: K @ V, n=24, dtype=np.float32)
    filled, exchanged = (
        lm.select(operator, 7, method=lm.Knapsack(max_exchanges=most)).trials[0].error
        for most in (0, None)
    )
    assert exchanged < 0.95 * filled
