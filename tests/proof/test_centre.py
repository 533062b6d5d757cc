"""Where the ascent of the dual bound begins, against the conditions that each step must meet."""

from __future__ import annotations

import numpy as np
import pytest

from landmarks.proof.dual import centre
from landmarks.proof.dual.bound import water_filling
from landmarks.proof.dual.centre import analytic_centre, coefficients, damped, filled

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(3)
X = RNG.standard_normal((20, 7)) * np.linspace(0.5, 3, 7)
K = X.T @ X


def newton(K: np.ndarray, steps: int) -> np.ndarray:
    """D after so many undamped Newton steps in log D, for log det(K − D) + Σ log D."""
    D = 0.5 / np.diag(np.linalg.inv(K)) / len(K)
    for _ in range(steps):
        Q = np.linalg.inv(K - np.diag(D))
        gradient = 1 - D * np.diag(Q)
        curvature = np.eye(len(K)) + (D[:, None] * Q) * (Q * D)
        D = D * np.exp(np.linalg.solve(curvature, gradient))
    return D


def test_the_centre_is_where_the_gradient_vanishes():
    D = analytic_centre(K)
    Q = np.linalg.inv(K - np.diag(D))
    np.testing.assert_allclose(D * np.diag(Q), 1.0, atol=1e-4)
    assert np.all(D > 0) and np.linalg.eigvalsh(K - np.diag(D))[0] > 0


def test_the_centre_goes_with_the_units_of_each_column():
    scale = 10.0 ** RNG.uniform(-3, 3, 7)
    np.testing.assert_allclose(
        analytic_centre(K * np.outer(scale, scale)), analytic_centre(K) * scale**2, rtol=1e-9
    )


def test_without_time_five_steps_are_made(monkeypatch):
    unit = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    monkeypatch.setattr(centre, "damped", lambda K, D, change: 0.25)  # slow: many would follow
    late, whole = analytic_centre(unit, end=0.0), analytic_centre(unit)
    D = 0.5 / np.diag(np.linalg.inv(unit)) / 7
    for _ in range(5):
        Q = np.linalg.inv(unit - np.diag(D))
        curvature = np.eye(7) + (D[:, None] * Q) * (Q * D)
        D = D * np.exp(0.25 * np.linalg.solve(curvature, 1 - D * np.diag(Q)))
    np.testing.assert_allclose(late, D, rtol=1e-9)
    assert np.max(np.abs(whole / late - 1)) > 0.01


def test_a_singular_matrix_has_no_centre():
    singular = K.copy()
    singular[:, 3] = singular[3] = 0.0
    assert analytic_centre(singular) is None
    twin = X.copy()
    twin[:, 3] = twin[:, 5]
    assert analytic_centre(twin.T @ twin) is None


@pytest.mark.parametrize("size", [0.1, 3.0, 50.0])
def test_a_step_is_as_long_as_the_matrix_allows(size):
    D = newton(K, 30)
    change = size * np.linspace(0.2, 1.0, 7)
    step = damped(K, D, change)

    def allowed(step: float) -> bool:
        return bool(np.linalg.eigvalsh(K - np.diag(D * np.exp(1.1 * step * change)))[0] > 0)

    assert 0 < step <= 1 / max(1.0, size) and allowed(step)
    assert step == 1 / max(1.0, size) or not allowed(2 * step)


def test_a_step_that_is_never_allowed_is_none():
    assert damped(K, 2 * np.diag(K), np.ones(7)) == 0.0


def test_the_coefficients_solve_their_equation():
    d, y = RNG.uniform(0.5, 2.0, 7), RNG.uniform(0.1, 1.0, 9)
    V = np.linalg.qr(RNG.standard_normal((9, 9)))[0]
    right = RNG.standard_normal((7, 9))
    B = coefficients(d, K, y, V, right)
    Y_inverse = V @ np.diag(1 / y) @ V.T
    np.testing.assert_allclose(d[:, None] * B + K @ B @ Y_inverse, right, atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_water_is_filled_up_to_one_level(k):
    costs = np.array([4.0, 0.1, 1.0, 2.0, 9.0, 0.5])
    z = water_filling(costs, k)
    assert np.sum(z) == pytest.approx(k) and np.all((z > 0) & (z <= 1))
    level = costs[z < 1] / z[z < 1]
    np.testing.assert_allclose(level, level[0])
    assert np.all(costs[z == 1] >= level[0])
    np.testing.assert_allclose(filled(costs**2, k), z)


def test_what_costs_nothing_has_the_least_weight():
    assert filled(np.array([4.0, 0.0, -1e-9]), 1).tolist() == [1.0, 1e-6, 1e-6]
    assert water_filling(np.zeros(3), 1).tolist() == [0.0, 0.0, 0.0]
