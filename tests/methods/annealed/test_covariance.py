"""The residual of a weighted choice, and the three identities of docs/annealed.md."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks.methods.annealed import Stored, jump_gains, without_own

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


def same(diagonals, C, rtol=1e-9):
    for power, values in enumerate((diagonals.c, diagonals.a, diagonals.b), start=1):
        np.testing.assert_allclose(values, np.diag(np.linalg.matrix_power(C, power)), rtol=rtol)


def test_a_stored_matrix_gives_the_diagonals_of_the_residual(xp):
    d = np.where(np.arange(9) % 3 == 0, 0.0, D)
    same(Stored(xp.asarray(K), FLOOR, PAIR, True).diagonals(d), residual(d))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("j", [0, 4, 8])
def test_the_jump_gain_is_the_exact_change_from_out_to_in(criterion, j):
    d = np.where(np.arange(9) == 4, 0.0, D)
    gains = jump_gains(Stored(K, FLOOR, PAIR, criterion == "frobenius").diagonals(d), d)
    out, inside = d.copy(), d.copy()
    out[j], inside[j] = 0.0, FULL
    assert gains[j] == pytest.approx(
        objective(out, criterion) - objective(inside, criterion), rel=1e-6
    )


def test_the_trace_is_linear_in_the_leverage():
    j, out = 4, np.where(np.arange(9) == 4, 0.0, D)
    c0 = residual(out)[j, j]
    p = np.linspace(0.0, 0.9, 7)
    values = [objective(np.where(np.arange(9) == j, q / ((1 - q) * c0), out), "trace") for q in p]
    np.testing.assert_allclose(
        values, np.interp(p, p[[0, -1]], np.array(values)[[0, -1]]), rtol=1e-12
    )
    gain = jump_gains(Stored(K, FLOOR, PAIR, False).diagonals(out), out)[j]
    np.testing.assert_allclose(values, values[0] - p * gain, rtol=1e-12)


def test_the_self_consistent_weight_makes_p_the_leverage():
    d = np.where(np.arange(9) == 4, 0.0, D)
    c0 = residual(d)[4, 4]
    p = 0.7
    d[4] = p / ((1 - p) * c0)
    diagonals = Stored(K, FLOOR, PAIR, False).diagonals(d)
    assert d[4] * diagonals.c[4] == pytest.approx(p)
    assert diagonals.c[4] / without_own(diagonals.c, d)[4] == pytest.approx(c0)


def test_the_leverages_sum_to_k_at_a_corner():
    d = np.where(np.arange(9) < 3, FULL, 0.0)
    assert d @ Stored(K, FLOOR, PAIR, False).diagonals(d).c == pytest.approx(3, rel=1e-4)
