"""A long walk of drops and additions: after each of them every number is that of a fresh start."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import DEPTH, plain

import landmarks as lm
from landmarks.operators.dense import Dense
from landmarks.operators.forms import Factored
from landmarks.operators.pair import Pair
from landmarks.residual.base import Base
from landmarks.residual.exchange import Exchange
from landmarks.residual.pairs import best_swap, confirmed_gain

RNG = np.random.default_rng(1)
X = RNG.standard_normal((30, 36)) * np.linspace(1, 2, 36)
K = X.T @ X + np.eye(36)
SIZE = 13
FORMS = {
    "stored": lambda: (Dense(K), K, 0),
    "stored, with its powers": lambda: (Dense(K), K, 10**6),
    "products": lambda: (lm.function(lambda V: K @ V, n=36, diagonal=np.diag(K)), K, 0),
    "factor": lambda: (Factored(X), X.T @ X, 0),
}


def assert_true(state: Exchange, K: np.ndarray) -> None:
    S, places = state.chosen, np.flatnonzero(state.members >= 0)
    H = np.linalg.inv(K[np.ix_(S, S)])
    C = K - K[:, S] @ H @ K[S]
    size = np.trace(K)
    np.testing.assert_allclose(state.H[np.ix_(places, places)], H, atol=1e-9)
    for power, diagonal in enumerate(state.diagonals, start=1):
        expected = np.diag(np.linalg.matrix_power(C, power))
        np.testing.assert_allclose(diagonal, expected, atol=1e-11 * size**power)
    for j in (0, 35):
        np.testing.assert_allclose(state.residual_column(j), C[:, j], atol=1e-11 * size)
        np.testing.assert_allclose(state.rows[0][places, j], (H @ K[S])[:, j], atol=1e-9)
    np.testing.assert_allclose(state.residual_product(K[3]), C @ K[3], atol=1e-11 * size**2)
    if state.source is not None:
        np.testing.assert_allclose(state.source.R.T @ state.source.R, C, atol=1e-11 * size)
        dual = state.source.D[:, places]
        np.testing.assert_allclose(dual.T @ X[:, S], np.eye(len(S)), atol=1e-9)


def assert_rows_true(state: Exchange, K: np.ndarray) -> None:
    """The rows W, CW (and C²W)."""
    S, places = state.chosen, np.flatnonzero(state.members >= 0)
    W = np.linalg.solve(K[np.ix_(S, S)], K[S])
    C = K - K[:, S] @ W
    for rows in state.rows:
        np.testing.assert_allclose(rows[places], W, atol=1e-10 * np.max(np.abs(W)) + 1e-9)
        assert not np.any(rows[state.vacant])
        W = W @ C


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("form", FORMS)
def test_every_number_stays_that_of_a_fresh_start(form, criterion):
    operator, K, moves = FORMS[form]()
    state = Exchange(Base(plain(operator), DEPTH[criterion], SIZE, moves), SIZE)
    rng = np.random.default_rng(2)
    state.load(rng.permutation(36)[:SIZE])
    for step in range(12):
        for place in rng.permutation(SIZE)[: 1 + step % 3]:
            state.drop(int(place))
            assert_true(state, K)
        for place in state.vacant:
            j = int(rng.choice(np.setdiff1d(np.arange(36), state.chosen)))
            state.add(j, int(place))
            assert_true(state, K)
        if step % 4 == 3:
            assert_rows_true(state, K)
    assert state.drift < 1e-8 and state.age == 24


@pytest.mark.parametrize("form", ["stored", "factor"])
def test_a_state_with_free_places_is_loaded_in_place(form):
    operator, K, _ = FORMS[form]()
    state = Exchange(Base(plain(operator), 2, 6), 6)
    state.load(np.array([4, 9, 2, 30, 7, 11]))
    for place in (0, 3, 4):
        state.drop(place)
    state.reload()
    assert state.members.tolist() == [-1, 9, 2, -1, -1, 11] and state.age == 0
    assert_true(state, K)
    assert_rows_true(state, K)
    state.add(20, 3)
    assert_true(state, K)


def test_with_noise_each_member_keeps_the_row_of_its_noise_when_it_is_loaded_in_place():
    noise = np.full(36, 0.3)
    state = Exchange(Base(Pair(Factored(X), 36, None, noise), 1, 5), 5)
    state.load(np.array([1, 2, 3, 4]))
    for place in (0, 2):
        state.drop(place)
    state.reload()
    state.drop(1)
    K, S = X.T @ X, [4]
    C = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)] + np.diag(noise[S]), K[S])
    assert state.error == pytest.approx(np.trace(C), rel=1e-12)
    np.testing.assert_allclose(state.source.R.T @ state.source.R, C, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_a_state_of_nothing_is_that_of_the_matrix(form):
    operator, K, _ = FORMS[form]()
    state = Exchange(Base(plain(operator), 1, 3), 3)
    state.load(np.array([4, 9, 2]))
    state.load(np.zeros(0, dtype=np.int64))
    assert state.error == pytest.approx(np.trace(K)) and not np.any(state.H)
    np.testing.assert_allclose(state.residual_column(5), K[:, 5], rtol=1e-12)
    state.add(8, 1)
    assert_true(state, K)
    assert_rows_true(state, K)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("form", ["stored", "factor"])
def test_the_best_swap_gains_what_errors_say(form, criterion):
    operator, K, _ = FORMS[form]()
    S = [4, 9, 2, 30]
    state = Exchange(Base(plain(operator), DEPTH[criterion], 4), 4)
    state.load(np.array(S))

    def error(members: list[int]) -> float:
        C = K - K[:, members] @ np.linalg.solve(K[np.ix_(members, members)], K[members])
        return float(np.trace(C) if criterion == "trace" else np.sum(C * C))

    known = {
        (place, j): error(S) - error([*S[:place], j, *S[place + 1 :]])
        for place in range(4)
        for j in set(range(36)) - set(S)
    }
    free = np.isin(np.arange(36), S, invert=True).astype(float)
    found = best_swap(state, free, np.arange(4))
    assert (found.place, found.j) == max(known, key=known.__getitem__)
    assert found.gain == pytest.approx(max(known.values()), rel=1e-9)
    gain, size = confirmed_gain(state, found)
    assert gain == pytest.approx(found.gain, rel=1e-9) and size >= abs(gain)
