"""The state of a search for a target, through drops and additions, against one just loaded."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from landmarks.residual.aimed import cross as module
from landmarks.residual.aimed.cross import Cross
from landmarks.residual.aimed.explicit_aim import Rebuilding

RNG = np.random.default_rng(5)
A = RNG.standard_normal((9, 12)) * np.linspace(1, 3, 12)
B = RNG.standard_normal((9, 3))
SIGMA = RNG.uniform(0.3, 2.0, 12)
CLEAR = Rebuilding(A, B, 0.7, None, 0.0)
NOISY = Rebuilding(A, B, 0.7, SIGMA, 0.0)
each_kind = pytest.mark.parametrize("base", [CLEAR, NOISY], ids=["clear", "noisy"])


def error(base: Rebuilding, S: list[int]) -> float:
    """What least squares leaves of B, with a row for the noise of each member."""
    M = A[:, S] if base.sigma is None else np.vstack([A[:, S], np.diag(SIGMA[S])])
    T = np.vstack([B, np.zeros((len(M) - len(B), 3))])
    return 0.7 + float(np.sum((T - M @ np.linalg.lstsq(M, T, rcond=None)[0]) ** 2))


def assert_as_new(state: Cross) -> None:
    """All that the members decide is as in a state that has just been loaded with them."""
    fresh = Cross(state.base, state.size, state.chosen)
    places = np.flatnonzero(state.members >= 0)
    count = len(places)
    np.testing.assert_allclose(state.a, fresh.a, atol=1e-12)
    np.testing.assert_allclose(state.Z, fresh.Z, atol=1e-11)
    np.testing.assert_allclose(state.W[places], fresh.W[:count], atol=1e-11)
    np.testing.assert_allclose(state.V[places], fresh.V[:count], atol=1e-11)
    np.testing.assert_allclose(state.D[:9, places], fresh.D[:9, :count], atol=1e-11)
    assert not np.any(state.W[state.vacant]) and not np.any(state.V[state.vacant])
    assert not np.any(state.D[:, state.vacant]) and not np.any(
        state.chosen_columns[:, state.vacant]
    )
    assert state.error == pytest.approx(error(state.base, state.chosen.tolist()), rel=1e-11)


@each_kind
def test_drops_and_additions_lead_to_the_state_of_the_members(base):
    state = Cross(base, 4, np.array([7, 2, 10]))
    assert_as_new(state)
    state.add(5, 3)
    assert [state.drop(1), state.drop(0)] == [2, 7]
    assert state.members.tolist() == [-1, -1, 10, 5] and state.vacant.tolist() == [0, 1]
    assert_as_new(state)
    state.add(0, 1)
    state.add(11, 0)
    assert state.chosen.tolist() == [11, 0, 10, 5] and state.age == 5
    assert_as_new(state)


@each_kind
def test_the_gains_are_those_of_least_squares(base):
    state = Cross(base, 4, np.array([7, 2, 10]))
    before = error(base, [7, 2, 10])
    gains = state.gains()
    for j in set(range(12)) - {7, 2, 10}:
        assert gains[j] == pytest.approx(before - error(base, [7, 2, 10, j]), rel=1e-9)
    exchanged, costs = state.pair_gains(np.array([0, 2]))
    for (i, place), j in product(enumerate([0, 2]), set(range(12)) - {7, 2, 10}):
        others = [[2, 10], [7, 10], [7, 2]][place]
        assert exchanged[i, j] == pytest.approx(before - error(base, [*others, j]), abs=1e-10)
        assert costs[i] == pytest.approx(error(base, others) - before, rel=1e-9)


@pytest.mark.parametrize("entries", [2**22, 24, 1])
def test_the_best_exchange_is_the_largest_that_is_allowed(entries, monkeypatch):
    monkeypatch.setattr(module, "ENTRIES", entries)  # how many places are compared at a time
    state, places = Cross(CLEAR, 3, np.array([7, 2, 10])), np.array([0, 1, 2])
    gains, costs = state.pair_gains(places)
    allowed = np.ones((3, 12), dtype=bool)
    allowed[:, [7, 2, 10]] = False
    for _ in range(4):
        known = np.where(allowed, gains, -np.inf)
        i, j = np.unravel_index(np.argmax(known), known.shape)
        found = state.best_swap(allowed, places)
        assert (found.place, found.j) == (i, j)
        assert found.gain == pytest.approx(known.max()) and found.cost == pytest.approx(costs[i])
        allowed[i, j] = False


def test_the_best_addition_is_allowed_and_gains():
    state = Cross(CLEAR, 3, np.array([7]))
    gains = state.gains()
    order = np.argsort(-gains)
    allowed = np.ones(12, dtype=bool)
    assert state.best_addition(allowed) == order[0]
    allowed[order[0]] = False
    assert state.best_addition(allowed) == order[1]
    assert state.best_addition(np.arange(12) == 7) is None


@each_kind
def test_a_copy_changes_alone(base):
    state = Cross(base, 3, np.array([7, 2, 10]))
    other = state.copy()
    other.drop(1)
    other.add(4, 1)
    assert other.chosen.tolist() == [7, 4, 10] and state.chosen.tolist() == [7, 2, 10]
    assert_as_new(state)
    assert_as_new(other)
    assert (state.age, other.age) == (0, 2)


def test_all_is_computed_again_after_two_dozen_changes_or_the_size():
    assert [Cross(CLEAR, size).oldest for size in (3, 24, 25)] == [24, 24, 25]


def test_what_is_left_of_a_near_copy_keeps_its_digits():
    copy = A.copy()
    copy[:, 1] = copy[:, 0] + 1e-7 * copy[:, 2]
    state = Cross(Rebuilding(copy, B, 0.0, None, 0.0), 3)
    state.add(0, 0)
    state.add(1, 2)
    for member in (0, 1):
        along = copy[:, member] / np.linalg.norm(copy[:, member])
        # a ten millionth of the column is left: without care it would be 1e-9
        assert np.max(np.abs(along @ state.R)) < 1e-14 * np.max(np.abs(copy))
