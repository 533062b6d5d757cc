"""Gains and blocks of units are those of the residual."""

import numpy as np
import pytest
from errors_of import DEPTH, plain, selection_error

import landmarks as lm
from landmarks.methods.groups.state import UnitState
from landmarks.methods.groups.units import Units

from .made import GROUPS, LABELS, made


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_gains_are_the_falls_of_the_error(criterion, xp):
    operator = lm.data(xp.asarray(made(0)))
    problem = lm.Problem(operator, 2, criterion, groups=np.unique(LABELS, return_inverse=True)[1])
    state = UnitState.empty(plain(operator), Units.of(problem), DEPTH[criterion])
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


def grouped(criterion, X=None):
    """Nothing chosen of the groups of columns, and the dense matrix."""
    X = made(0) if X is None else X
    operator = lm.data(X)
    return UnitState.empty(
        plain(operator),
        Units.of(lm.Problem(operator, 2, criterion, groups=GROUPS)),
        DEPTH[criterion],
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
        assert state.chosen == (2, 0, 3)
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
