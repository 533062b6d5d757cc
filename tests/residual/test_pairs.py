"""The best exchange of a member for a candidate, against the errors of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import DEPTH, plain

import landmarks as lm
from landmarks.residual import pairs as module
from landmarks.residual.base import Base
from landmarks.residual.exchange import Exchange
from landmarks.residual.pairs import best_swap, confirmed_gain, drop_costs

X = np.random.default_rng(1).standard_normal((11, 9)) * np.linspace(1, 2, 9)
K = X.T @ X
S = [4, 2, 6]
each_criterion = pytest.mark.parametrize("criterion", ["trace", "frobenius"])


def error(members: list[int], criterion: str) -> float:
    C = K - K[:, members] @ np.linalg.pinv(K[np.ix_(members, members)]) @ K[members]
    return float(np.trace(C) if criterion == "trace" else np.sum(C * C))


def state_of(criterion: str, operator: object = None) -> Exchange:
    state = Exchange(Base(plain(operator or lm.psd(K)), DEPTH[criterion], 3), 3)
    state.load(np.asarray(S))
    return state


def gains(criterion: str) -> np.ndarray:
    """What every exchange gains, a row for each place; a loss for those who are members."""
    found = np.full((3, 9), -np.inf)
    for place in range(3):
        for j in set(range(9)) - set(S):
            members = [*S[:place], j, *S[place + 1 :]]
            found[place, j] = error(S, criterion) - error(members, criterion)
    return found


def mask(*without: int) -> np.ndarray:
    return np.isin(np.arange(9), [*S, *without], invert=True).astype(float)


@each_criterion
def test_the_best_swap_is_that_of_all(criterion):
    known = gains(criterion)
    found = best_swap(state_of(criterion), mask(), np.arange(3))
    place, j = np.unravel_index(np.argmax(known), known.shape)
    assert (found.place, found.j) == (place, j)
    assert found.gain == pytest.approx(known.max(), rel=1e-9)
    others = [S[i] for i in range(3) if i != place]
    assert found.cost == pytest.approx(error(others, criterion) - error(S, criterion), rel=1e-9)


@each_criterion
@pytest.mark.parametrize("places", [[1], [2, 0], [0, 1]])
def test_only_the_places_and_candidates_that_are_allowed_are_exchanged(criterion, places):
    known = gains(criterion)[places]
    known[:, [0, 7]] = -np.inf
    found = best_swap(state_of(criterion), mask(0, 7), np.asarray(places))
    i, j = np.unravel_index(np.argmax(known), known.shape)
    assert (found.place, found.j) == (places[i], j)
    assert found.gain == pytest.approx(known.max(), rel=1e-9)


@each_criterion
def test_pairs_that_are_not_allowed_are_left_out(criterion):
    known = gains(criterion)
    pairs = np.ones((3, 9), dtype=bool)
    for _ in range(5):
        i, j = np.unravel_index(np.argmax(known), known.shape)
        found = best_swap(state_of(criterion), mask(), np.arange(3), pairs)
        assert (found.place, found.j) == (i, j)
        known[i, j], pairs[i, j] = -np.inf, False


@each_criterion
def test_a_part_of_the_places_at_a_time_gives_the_same(criterion, monkeypatch):
    expected = best_swap(state_of(criterion), mask(), np.arange(3))
    monkeypatch.setattr(module, "CACHED", 9)  # one place at a time
    found = best_swap(state_of(criterion), mask(), np.arange(3))
    assert found[:2] == expected[:2] and found.gain == pytest.approx(expected.gain, rel=1e-12)


@each_criterion
def test_dropping_a_member_costs_the_difference_of_two_errors(criterion):
    rises = [error([s for s in S if s != member], criterion) for member in S]
    np.testing.assert_allclose(
        drop_costs(state_of(criterion)), np.asarray(rises) - error(S, criterion), rtol=1e-9
    )


@each_criterion
@pytest.mark.parametrize("operator", [lm.psd(K), lm.data(X, scale=False)], ids=["matrix", "data"])
def test_a_gain_is_confirmed_by_the_column_itself(operator, criterion):
    unit = 2.0 ** (operator.exponent * (1 if criterion == "trace" else 2))
    for place, j in ((0, 1), (2, 8), (1, 0)):
        state = state_of(criterion, operator)
        swap = module.Swapping(place, j, 0.0, 0.0, np.zeros(3))
        gain, size = confirmed_gain(state, swap)
        assert gain * unit == pytest.approx(gains(criterion)[place, j], rel=1e-9)
        assert size >= abs(gain)


@each_criterion
def test_a_confirmed_gain_corrects_what_the_state_keeps_of_the_pair(criterion):
    state, exact = state_of(criterion), state_of(criterion)
    for kept in (*state.diagonals, *state.rows[1:]):
        kept *= 1 + 1e-6  # as rounding would, but more
    confirmed_gain(state, module.Swapping(1, 7, 0.0, 0.0, np.zeros(3)))
    for found, known in zip(state.diagonals, exact.diagonals, strict=True):
        assert found[7] == pytest.approx(known[7], rel=1e-12)
        assert found[8] == pytest.approx(known[8] * (1 + 1e-6), rel=1e-12)
    for found, known in zip(state.rows[1:], exact.rows[1:], strict=True):
        assert found[1, 7] == pytest.approx(known[1, 7], rel=1e-11)


@each_criterion
def test_a_candidate_that_another_member_represents_gains_nothing(criterion):
    twins = np.asarray([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    state = Exchange(Base(plain(lm.psd(twins)), DEPTH[criterion], 2), 2)
    state.load(np.asarray([0, 2]))
    swap = module.Swapping(place=1, j=1, gain=1.0, cost=1.0, best=np.ones(1))
    assert confirmed_gain(state, swap) == (0.0, 0.0)
