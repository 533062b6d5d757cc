"""The residual of a weighted choice, and the three identities of docs/annealed.md."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks.methods.annealed import (
    Candidates,
    Explicit,
    Stored,
    jump_gains,
    powers,
    shifted_factor,
    without_own,
)

FLOOR = np.zeros(1)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 9))
K = X.T @ X
PAIR = plain(lm.psd(K))  # counts each of nine columns once, without noise
D = RNG.uniform(0.01, 0.3, 9)
FULL = 1e9  # in place of the infinite weight of a chosen column; what is left of it is 1e-9


def residual(d, K=K):
    return np.linalg.inv(np.linalg.inv(K) + np.diag(d))


def objective(d, criterion):
    C = residual(d)
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


def chosen_residual(S):
    return K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])


def same(diagonals, C, rtol=1e-9):
    for power, values in enumerate((diagonals.c, diagonals.a, diagonals.b), start=1):
        np.testing.assert_allclose(values, np.diag(np.linalg.matrix_power(C, power)), rtol=rtol)


def test_a_stored_matrix_gives_the_diagonals_of_the_residual(xp):
    d = np.where(np.arange(9) % 3 == 0, 0.0, D)
    same(Stored(xp.asarray(K), FLOOR, PAIR).diagonals(d, cubes=True), residual(d))


def test_a_factor_gives_the_diagonals_of_the_residual(xp):
    wide = np.random.default_rng(1).standard_normal((4, 9))
    d = np.where(np.arange(9) == 2, 0.0, D)
    C = wide.T @ np.linalg.inv(np.eye(4) + wide * d @ wide.T) @ wide
    same(Explicit(xp.asarray(wide), FLOOR, PAIR).diagonals(d, cubes=True), C)


def test_candidates_know_their_diagonals_without_the_other_columns(xp):
    B = np.array([0, 2, 3, 7])
    d = np.zeros(9)
    d[[0, 3, 7]] = D[[0, 3, 7]]
    found = Candidates(lm.psd(xp.asarray(K)), B, FLOOR, True).diagonals(d[B], cubes=True)
    exponent = lm.psd(K).exponent
    assert exponent == 0
    for power, values in enumerate((found.c, found.a, found.b), start=1):
        np.testing.assert_allclose(
            values, np.diag(np.linalg.matrix_power(residual(d), power))[B], rtol=1e-8
        )


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("j", [0, 4, 8])
def test_the_jump_gain_is_the_exact_change_from_out_to_in(criterion, j):
    d = np.where(np.arange(9) == 4, 0.0, D)
    gains = jump_gains(Stored(K, FLOOR, PAIR).diagonals(d, cubes=criterion == "frobenius"), d)
    out, inside = d.copy(), d.copy()
    out[j], inside[j] = 0.0, FULL
    assert gains[j] == pytest.approx(
        objective(out, criterion) - objective(inside, criterion), rel=1e-6
    )


def test_the_gain_of_a_column_that_is_out_at_a_corner_is_that_of_greedy():
    S = [1, 5]
    d = np.zeros(9)
    d[S] = FULL
    gains = jump_gains(Stored(K, FLOOR, PAIR).diagonals(d), d)
    assert gains[3] == pytest.approx(
        np.trace(chosen_residual(S)) - np.trace(chosen_residual([*S, 3])), rel=1e-6
    )


def test_the_trace_is_linear_in_the_leverage():
    j, out = 4, np.where(np.arange(9) == 4, 0.0, D)
    c0 = residual(out)[j, j]
    p = np.linspace(0.0, 0.9, 7)
    values = [objective(np.where(np.arange(9) == j, q / ((1 - q) * c0), out), "trace") for q in p]
    np.testing.assert_allclose(
        values, np.interp(p, p[[0, -1]], np.array(values)[[0, -1]]), rtol=1e-12
    )
    gain = jump_gains(Stored(K, FLOOR, PAIR).diagonals(out), out)[j]
    np.testing.assert_allclose(values, values[0] - p * gain, rtol=1e-12)


def test_the_self_consistent_weight_makes_p_the_leverage():
    d = np.where(np.arange(9) == 4, 0.0, D)
    c0 = residual(d)[4, 4]
    p = 0.7
    d[4] = p / ((1 - p) * c0)
    diagonals = Stored(K, FLOOR, PAIR).diagonals(d)
    assert d[4] * diagonals.c[4] == pytest.approx(p)
    assert diagonals.c[4] / without_own(diagonals.c, d)[4] == pytest.approx(c0)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_leverages_sum_to_k_at_a_corner(k):
    d = np.where(np.arange(9) < k, FULL, 0.0)
    diagonals = Stored(K, FLOOR, PAIR).diagonals(d)
    assert np.sum(d * np.diag(residual(d))) == pytest.approx(k, rel=1e-6)
    assert np.all(diagonals.c[k:] > 0)


def test_the_leverages_sum_to_the_effective_dimension():
    R = np.sqrt(D)
    A = R[:, None] * K * R
    assert np.sum(D * Stored(K, FLOOR, PAIR).diagonals(D).c) == pytest.approx(
        np.trace(A @ np.linalg.inv(np.eye(9) + A))
    )


@pytest.mark.filterwarnings("error")
def test_duplicates_and_zeros_leave_the_diagonals_finite():
    Y = np.hstack([X, X[:, :3], np.zeros((20, 1))]).astype(np.float32)
    d = np.full(13, 1e7)
    found = Stored(Y.T @ Y, FLOOR, PAIR).diagonals(d, cubes=True)
    assert all(np.all(np.isfinite(values)) for values in (found.c, found.a, found.b))


@pytest.mark.parametrize(
    ("least", "shift"), [(0.5, 1.0), (-0.5, 1.0), (-5.0, 10.0), (-50.0, 100.0)]
)
def test_an_indefinite_matrix_gets_the_first_power_of_ten_that_helps(least, shift):
    L = shifted_factor(np.diag([1.0, least]))
    np.testing.assert_allclose(L @ L.T, np.diag([1.0 + shift, least + shift]), rtol=1e-12)


def test_powers_are_blocks_of_the_powers_of_the_matrix():
    B = np.array([7, 0, 3])
    for power, block in enumerate(powers(lm.psd(K), B, cubes=True), start=1):
        np.testing.assert_allclose(
            block, np.linalg.matrix_power(K, power)[np.ix_(B, B)], rtol=1e-10
        )
        np.testing.assert_array_equal(block, block.T)


@pytest.mark.parametrize("cubes", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda X: Stored(X.T @ X, np.zeros(9), PAIR),
        lambda X: Explicit(X, np.zeros(9), PAIR),
        lambda X: Candidates(lm.psd(X.T @ X), np.arange(9), np.zeros(9), True),
    ],
    ids=["stored", "factor", "candidates"],
)
def test_a_chosen_column_has_nothing_left_and_the_others_what_it_leaves(make, cubes):
    X = np.random.default_rng(2).standard_normal((12, 9))
    K, found = X.T @ X, make(X)
    C = K - np.outer(K[:, 4], K[:, 4]) / K[4, 4]
    fall = np.sum(K**2) - np.sum(C**2) if cubes else np.trace(K) - np.trace(C)
    if cubes or not isinstance(found, Candidates):  # which know what they were made for
        assert found.condition(4, cubes) == pytest.approx(fall, rel=1e-9)
    else:
        found.condition(4, cubes)
    np.testing.assert_allclose(found.diagonal, np.where(np.arange(9) == 4, 0.0, np.diag(C)))
    assert found.diagonal[4] == 0
