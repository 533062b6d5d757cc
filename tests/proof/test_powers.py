"""Gains of one pick and of two, against the errors before and after."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks.proof.node import CERTAIN, Powers

pytestmark = pytest.mark.thorough

CANDIDATES = np.array([0, 2, 3, 5, 8])
NONE = np.zeros(5)
each_criterion = pytest.mark.parametrize("depth", [1, 2], ids=["trace", "frobenius"])


def residual(seed: int = 0, n: int = 9) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((12, n)) * np.arange(1, n + 1)
    return X.T @ X / 100


def after(C: np.ndarray, *picks: int) -> np.ndarray:
    S = list(picks)
    return C - C[:, S] @ np.linalg.solve(C[np.ix_(S, S)], C[S])


def state(C: np.ndarray) -> SimpleNamespace:
    """What the powers need of a residual."""
    return SimpleNamespace(matrix=C, pair=plain(lm.psd(C)))


def error(C: np.ndarray, depth: int) -> float:
    return float(np.sum(C * C) if depth == 2 else np.trace(C))


@each_criterion
def test_a_gain_is_the_difference_of_two_errors(depth):
    C = residual()
    found = Powers.of(state(C), CANDIDATES, depth, NONE, 1e6)
    expected = [error(C, depth) - error(after(C, j), depth) for j in CANDIDATES]
    np.testing.assert_allclose(found.gains(), expected, rtol=1e-10)


@each_criterion
def test_the_gain_of_a_pair_is_that_of_both_picks(depth):
    C = residual()
    found = Powers.of(state(C), CANDIDATES, depth, NONE, 1e6).pair_gains()
    for i, j in permutations(range(5), 2):
        left = error(after(C, CANDIDATES[i], CANDIDATES[j]), depth)
        assert found[i, j] == pytest.approx(error(C, depth) - left, rel=1e-9)
    assert np.all(np.diagonal(found) == -np.inf)


@each_criterion
def test_after_a_pick_the_powers_are_those_of_the_residual(depth):
    C = residual()
    found = Powers.of(state(C), CANDIDATES, depth, NONE, 7.0).after(1)
    expected = Powers.of(state(after(C, 2)), CANDIDATES[2:], depth, NONE[2:], 7.0)
    np.testing.assert_allclose(found.C, expected.C, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.C2, expected.C2, rtol=1e-9, atol=1e-10)
    if depth == 2:
        np.testing.assert_allclose(found.C3, expected.C3, rtol=1e-9, atol=1e-9)
    assert found.top == 7.0 and (found.C3 is None) == (depth == 1)


@each_criterion
def test_another_order_only_moves_the_numbers(depth):
    C, order = residual(), np.array([3, 0, 4, 1, 2])
    rounding = np.arange(5) * 1e-3
    moved = Powers.of(state(C), CANDIDATES, depth, rounding, 50.0).ordered(order)
    direct = Powers.of(state(C), CANDIDATES[order], depth, rounding[order], 50.0)
    np.testing.assert_array_equal(moved.rounding, direct.rounding)
    np.testing.assert_allclose(moved.gains(), direct.gains(), rtol=1e-12)
    np.testing.assert_allclose(moved.pair_gains(), direct.pair_gains(), rtol=1e-10)


def test_no_gain_is_above_the_top_and_nothing_left_may_hide_it_all():
    C = residual()
    C[2], C[:, 2] = 0.0, 0.0
    found = Powers.of(state(C), CANDIDATES, 1, NONE, 1.5)
    without = Powers.of(state(C), np.delete(CANDIDATES, 1), 1, NONE[1:], 1e6).gains()
    assert found.gains()[1] == 1.5
    np.testing.assert_allclose(np.delete(found.gains(), 1), np.minimum(without, 1.5), rtol=1e-12)


@each_criterion
def test_rounding_raises_a_gain_in_proportion(depth):
    C, rounding = residual(), np.array([0.0, 1e-4, 2e-4, 0.0, 3e-4])
    without, with_ = (
        Powers.of(state(C), CANDIDATES, depth, some, 1e6) for some in (NONE, rounding)
    )
    np.testing.assert_allclose(
        with_.gains() - without.gains(), CERTAIN * 1e6 * rounding, rtol=1e-9, atol=1e-6
    )
    raised = with_.pair_gains() >= without.pair_gains()
    assert np.all(raised | np.eye(5, dtype=bool))


def test_what_is_left_of_a_pick_makes_the_next_gains_less_certain():
    C, rounding = residual(), np.array([1e-6, 1e-6, 2e-6, 3e-6, 4e-6])
    powers = Powers.of(state(C), CANDIDATES, 1, rounding, 10.0)
    next_ = powers.after(0)
    np.testing.assert_allclose(next_.rounding, rounding[1:] + 1e-6, rtol=1e-12)
    np.testing.assert_array_equal(next_.first, np.diagonal(C)[CANDIDATES[1:]])
    further = next_.after(0)
    grown = np.diagonal(C)[2] / next_.C[0, 0]  # the residual of the pick fell to this part
    np.testing.assert_allclose(
        further.rounding, (next_.rounding[1:] + next_.rounding[0]) * grown, rtol=1e-12
    )
