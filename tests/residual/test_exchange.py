"""The state of an exchange against dense formulas: every number, and the gain of every pair."""

import numpy as np
import pytest
from errors_of import DEPTH, plain

import landmarks as lm
from landmarks._array import host
from landmarks.operators.dense import Dense
from landmarks.residual.base import Base
from landmarks.residual.exchange import LIFETIME, Exchange
from landmarks.residual.factors import independent
from landmarks.residual.pairs import Pairs

CRITERIA = ["trace", "frobenius"]


def gram(n, rank, seed=0):
    X = np.random.default_rng(seed).standard_normal((rank, n))
    return X.T @ X


def residual(K, S):
    return K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]


def error(K, S, criterion):
    C = residual(K, list(S))
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


def state_of(operator, S, criterion):
    state = Exchange(Base(plain(operator), DEPTH[criterion], len(S)), len(S))
    state.load(np.asarray(S))
    return state


def assert_true_to(K, state):
    S = state.chosen
    C, W = residual(K, S), np.linalg.solve(K[np.ix_(S, S)], K[S])
    powers, rows, order = C, W, np.flatnonzero(state.members >= 0)
    for kept, diagonal in zip(state.rows, state.diagonals, strict=False):
        np.testing.assert_allclose(host(kept)[order], rows, atol=1e-9)
        np.testing.assert_allclose(host(diagonal), np.diag(powers), atol=1e-9)
        powers, rows = powers @ C, rows @ C
    H = np.zeros_like(state.H)
    H[np.ix_(order, order)] = np.linalg.inv(K[np.ix_(S, S)])
    np.testing.assert_allclose(state.H, H, atol=1e-9 * np.max(H))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_state_of_a_choice_is_that_of_the_dense_formulas(criterion, xp):
    K = gram(12, 12)
    assert_true_to(K, state_of(lm.psd(xp.asarray(K)), [3, 8, 1], criterion))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_drops_and_additions_keep_the_state_true(criterion, xp):
    K = gram(12, 12)
    state = state_of(lm.psd(xp.asarray(K)), [3, 8, 1, 5], criterion)
    assert [state.drop(1), state.drop(3)] == [8, 5]
    assert_true_to(K, state)
    state.add(7, 1)
    state.add(0, 3)
    assert state.chosen.tolist() == [3, 7, 1, 0]
    assert_true_to(K, state)
    assert state.error == pytest.approx(error(K, [3, 7, 1, 0], criterion), rel=1e-10)
    assert state.recomputed_error() == pytest.approx(state.error, rel=1e-10)
    assert state.drift < 1e-10


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_gain_of_every_pair_is_that_of_brute_force(criterion, xp):
    K, S = gram(9, 7), [4, 2, 6]
    state = state_of(lm.psd(xp.asarray(K)), S, criterion)
    others = [j for j in range(9) if j not in S]
    allowed = xp.asarray(np.isin(np.arange(9), others).astype(float))
    gains = 2 * host(Pairs(state, allowed).half_gains(slice(0, 3)))
    before = error(K, S, criterion)
    brute = [
        [before - error(K, [s if s != i else j for s in S], criterion) for j in others] for i in S
    ]
    np.testing.assert_allclose(gains[:, others], brute, atol=1e-10 * before)
    assert np.all(gains[:, S] < 0)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_gain_of_every_addition_is_that_of_brute_force(criterion):
    K, S = gram(9, 7), [4, 2]
    state = state_of(lm.psd(K), S, criterion)
    brute = [
        error(K, S, criterion) - error(K, [*S, j], criterion) if j not in S else 0 for j in range(9)
    ]
    np.testing.assert_allclose(state.powers.gains() * (np.ones(9)), brute, atol=1e-9)


def test_a_copy_is_independent_of_the_state():
    state = state_of(lm.psd(gram(8, 8)), [0, 1], "trace")
    before = state.error
    state.copy().drop(0)
    assert state.error == before and state.members.tolist() == [0, 1]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("released", [False, True])
def test_a_copy_has_every_number_of_the_state(criterion, released):
    K = gram(8, 8)
    state = state_of(lm.psd(K), [0, 1, 5], criterion)
    if released:
        other = Exchange(state.base, 3)
        other.load([2, 3, 4])
        other.release()
    state.add(state.drop(1), 1)
    state.drift, state.age, state.swollen, state.exact = 0.25, 7, 3.5, True
    state.powers.errors[1] *= 3
    found = state.copy()
    assert (found.drift, found.age, found.swollen, found.exact) == (0.25, 7, 3.5, True)
    assert found.members.tolist() == state.members.tolist()
    for ours, theirs in zip(
        [found.H, *found.rows, *found.diagonals, *found.powers.errors],
        [state.H, *state.rows, *state.diagonals, *state.powers.errors],
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)
        assert not np.shares_memory(ours, theirs)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make", ["matrix", "few rows"])
def test_a_state_that_is_computed_again_keeps_its_members_in_their_places(make, criterion):
    X = np.random.default_rng(1).standard_normal((6, 24))
    operator = lm.psd(X.T @ X + np.eye(24)) if make == "matrix" else lm.data(X, scale=False)
    operator = operator.searchable(5)
    state = state_of(operator, [3, 8, 1, 5, 20], criterion)
    assert (state.source is None) == (make == "matrix")
    state.drop(0)
    state.drop(2)
    state.drift, state.age = 0.5, 9
    state.reload()
    assert state.members.tolist() == [-1, 8, -1, 5, 20]
    assert (state.drift, state.age, state.swollen) == (0.0, 0, 0.0)
    K = X.T @ X + (np.eye(24) if make == "matrix" else 0.0)
    assert_true_to(np.ldexp(K, -operator.exponent), state)
    state.add(13, 2)
    state.add(2, 0)
    assert_true_to(np.ldexp(K, -operator.exponent), state)
    state.load([])
    assert state.members.tolist() == [-1] * 5 and not np.any(state.H)
    assert state.error == pytest.approx(
        error(np.ldexp(K, -operator.exponent), [], criterion), rel=1e-12
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_entries_of_a_column_are_computed_from_it(criterion):
    K = gram(12, 12)
    state = state_of(lm.psd(K), [3, 8, 1], criterion)
    C = residual(K, [3, 8, 1])
    powers = [np.linalg.matrix_power(C, p)[6, 6] for p in (1, 2, 3)]
    found = state.recompute(6)
    assert found == pytest.approx(powers[: 2 if criterion == "trace" else 3], rel=1e-9)
    u = np.random.default_rng(0).standard_normal(12)
    np.testing.assert_allclose(state.residual_product(u), C @ u, atol=1e-9)


def test_the_diagonals_are_sharpened_once():
    state = state_of(lm.psd(gram(12, 12)), [3, 8, 1], "trace")
    state.add(state.drop(1), 1)
    assert state.sharpen() and state.exact and state.age == 0
    assert not state.sharpen()
    few = lm.data(np.random.default_rng(1).standard_normal((3, 24))).searchable(2)
    assert not state_of(few, [3, 8], "trace").sharpen()


@pytest.mark.parametrize(("criterion", "ratio"), [("trace", 2.0e4), ("frobenius", 750.0)])
def test_digits_that_a_costly_drop_took_along_make_a_state_stale(criterion, ratio):
    """Twice 2⁻⁵³ times the ratio to the second or third power is about 1e-7 there."""
    for much, stale in ((0.1 * ratio, False), (10 * ratio, True)):
        state = state_of(lm.psd(gram(12, 12)), [3, 8, 1], criterion)
        member = state.drop(1)
        state.swollen = much * np.sum(state.diagonals[0])
        state.add(member, 1)
        assert (state.drift == np.inf) == stale == state.stale(1e-6)


def test_redundant_members_leave_their_places_free():
    K = gram(8, 8)
    K = np.block([[K, K], [K, K]])
    state = state_of(lm.psd(K), [1, 9, 3], "trace")
    assert state.chosen.tolist() == [1, 3] and state.vacant.tolist() == [2]
    assert state.error == pytest.approx(error(K, [1, 3], "trace"))


def test_independent_columns_come_first():
    K = gram(4, 4)[np.ix_([0, 1, 0, 2], [0, 1, 0, 2])]
    assert independent(K, 1e-10 * np.diag(K))[0].tolist() == [0, 1, 3]
    assert independent(np.zeros((2, 2)), np.zeros(2))[0].tolist() == []


def test_a_small_drift_makes_a_state_stale_after_its_lifetime_and_a_large_one_at_once():
    state = state_of(lm.psd(gram(12, 12)), [3, 8, 1], "trace")
    for _ in range(LIFETIME):
        state.drift = 1e-3
        assert not state.stale(1e-6)
        state.add(state.drop(0), 0)
    assert state.stale(1e-6) and not state.stale(1e-2)
    state.load(state.chosen)
    state.drift = 0.2
    assert state.stale(1e-6)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("size", [10, 40, 80])
def test_powers_of_K_are_used_only_where_they_have_the_digits(sigma, size):
    """Where few eigenvalues are most of K, C³ is lost in K³ long before tr C is in tr K."""
    points = np.random.default_rng(0).standard_normal((300, 3))
    K = Dense(np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / sigma**2))
    base = Base(plain(K), 2, size, moves=10**6)
    state = Exchange(base, size)
    state.load(lm.select(K, size, method="greedy").indices)
    j = int(np.argmax(state.diagonals[0]))
    x = state.residual_column(j)
    for power in (1, 2):
        image = state._image(power, j, x, 1.0)
        x = state._product(x)
        assert np.linalg.norm(image - x) < 1e-6 * np.linalg.norm(x)


def test_what_a_load_leaves_of_a_near_copy_keeps_its_digits():
    X = np.random.default_rng(1).standard_normal((6, 30))
    X[:, 1] = X[:, 0] + 1e-12 * X[:, 2]
    state = state_of(lm.data(X, scale=False).searchable(1), [0], "trace")
    left = state.source.R[:, 1]
    along = X[:, 0] / np.linalg.norm(X[:, 0])
    assert abs(along @ left) < 1e-13 * np.linalg.norm(left)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_stored_powers_save_the_products_of_an_addition(criterion):
    """For the Frobenius criterion the square is kept in any case, and one product is left."""
    K = Dense(gram(30, 30))
    for moves, expected in ((0, 1), (10**6, 0)):
        state = Exchange(Base(plain(K), DEPTH[criterion], 3, moves=moves), 3)
        state.load([3, 8])
        before = K.ledger.products
        state.add(5, 2)
        assert K.ledger.products - before == expected
        assert_true_to(gram(30, 30), state)
