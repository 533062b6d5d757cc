"""The parts of the safe value: each is on the safe side, and close to the formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from landmarks.proof.dual.bound import Dual, Point
from landmarks.proof.dual.centre import starting_point
from landmarks.proof.dual.safe import lowered, remainder, safe_value, top_sum, upper_costs

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(9)
X = RNG.standard_normal((12, 8)) * np.geomspace(1, 30, 8)
K = X.T @ X
ROUNDING = 4 * 16 * 2.0**-53
DUAL = Dual(K, 3, 6)
NONE = np.zeros_like(K)


def point() -> Point:
    start = starting_point(DUAL)
    noise = RNG.standard_normal(start.E.shape)
    return start._replace(E=start.E + 0.01 * np.abs(start.E).max() * noise)


POINT = point()
PIECES = DUAL.pieces(POINT)
D = np.exp(POINT.logD)


@pytest.mark.parametrize("doubt", [0.0, 1e-9])
def test_what_is_left_after_lowering_is_positive_semidefinite_whatever_is_in_doubt(doubt):
    size = doubt * np.abs(K)
    found = lowered(DUAL, D, PIECES.Lhat, size, ROUNDING)
    for _ in range(20):
        other = K + size * RNG.choice([-1.0, 1.0], K.shape)
        other = np.tril(other) + np.tril(other, -1).T
        left = other[:6, :6] - np.diag(found) - PIECES.Lhat @ PIECES.Lhat.T
        scale = np.sqrt(np.diag(left))
        assert scipy.linalg.eigvalsh(left / np.outer(scale, scale))[0] >= 0
    assert np.all(found < D)
    # in units of the diagonal no more than the norm of all that is in doubt, 36 entries
    assert np.all((D - found) / np.diag(K)[:6] < 40 * (doubt + 40 * ROUNDING))


def test_the_sum_of_the_largest_eigenvalues_is_just_above_it():
    J = PIECES.J
    for k in (1, 3, 5):
        exact = np.sum(scipy.linalg.svdvals(J.astype(np.longdouble).astype(float))[:k] ** 2)
        found = top_sum(J, k, ROUNDING)
        assert exact <= found <= exact + 50 * ROUNDING * np.sum(J * J)


def wide(A: np.ndarray) -> np.ndarray:
    return A.astype(np.longdouble)


def test_the_remainder_is_right_to_its_error():
    s, c = np.sin(POINT.theta)[:, None], np.cos(POINT.theta)[:, None]
    sT, cJ = s * PIECES.T, c * PIECES.J
    M, error = remainder(DUAL, PIECES.Lhat, sT, cJ, 1e-12 * np.abs(K), ROUNDING)
    exact = wide(K[:6]) - wide(PIECES.Lhat) @ (wide(cJ) + wide(sT))
    assert np.all(np.abs(M - exact) <= error - 1e-12 * np.abs(K[:6]))
    size = np.abs(PIECES.Lhat) @ (np.abs(sT) + np.abs(cJ)) + np.abs(K[:6])
    np.testing.assert_allclose(error, 1e-12 * np.abs(K[:6]) + ROUNDING * size, rtol=1e-9)


@pytest.mark.parametrize("error", [0.0, 1e-6])
def test_the_costs_are_just_above_the_formula_for_all_remainders_within_the_error(error):
    s, T, Lhat = np.sin(POINT.theta), PIECES.T, PIECES.Lhat
    M = RNG.standard_normal((6, 8))
    errors = error * RNG.uniform(0, 1, M.shape)

    def formula(M: np.ndarray) -> np.ndarray:
        R2 = (np.sum(M**2, axis=1) - np.diagonal(M) ** 2) / D
        left = 2 * np.diagonal(M) + R2 - D - np.sum(T[:, :6] ** 2, axis=0)
        turned = np.diagonal(Lhat @ (s[:, None] * T[:, :6]))
        return left + 2 * turned - np.diagonal((Lhat * s**2) @ Lhat.T)

    found = upper_costs(D, Lhat, s, T, M, errors, ROUNDING)
    size = np.abs(found) + D + np.sum(T**2) + np.sum(M**2) / np.min(D)
    worst = formula(M)
    for _ in range(30):
        worst = np.maximum(worst, formula(M + errors * RNG.choice([-1.0, 1.0], M.shape)))
    assert np.all(worst <= found)
    reach = 2 * errors.max() + 2 * np.sum(np.abs(M) * errors, axis=1) / D
    assert np.all(found <= formula(M) + 1.01 * reach + 20 * ROUNDING * size)


def test_the_safe_value_of_a_start_is_near_its_value():
    plain = DUAL.value(POINT)
    assert plain > 0
    found = safe_value(DUAL, POINT, NONE)
    assert plain * (1 - 1e-8) < found < plain
    doubtful = safe_value(DUAL, POINT, 1e-12 * np.abs(K))
    assert plain * (1 - 1e-6) < doubtful < found
    assert safe_value(DUAL, POINT, np.abs(K)) == -np.inf  # everything is in doubt


def test_the_value_is_that_of_the_formula():
    value = np.trace(K) - np.sum(PIECES.T**2) - np.sum(np.sort(PIECES.c)[-3:])
    value -= np.sum(scipy.linalg.svdvals(PIECES.J)[:3] ** 2)
    assert DUAL.value(POINT) == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(
        PIECES.Lhat @ PIECES.Lhat.T, K[:6, :6] - np.diag(D), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        PIECES.Lhat @ PIECES.H,
        K[:6] - np.sqrt(D)[:, None] * POINT.R - np.eye(6, 8) * POINT.mu[:, None],
        rtol=1e-8,
        atol=1e-8,
    )


def test_what_is_in_doubt_of_the_diagonal_is_taken_off():
    doubt = NONE.copy()
    doubt[6, 6], doubt[7, 7] = 0.01, 0.02  # not candidates: nothing else depends on these
    fall = safe_value(DUAL, POINT, NONE) - safe_value(DUAL, POINT, doubt)
    assert fall == pytest.approx(0.03, rel=1e-6)
