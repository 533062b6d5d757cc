"""The quasi-Newton descent on functions whose minimum is known."""

from __future__ import annotations

import time

import numpy as np
import pytest

from landmarks.proof.dual.ascent import Descent

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(2)
H = np.diag(np.geomspace(1, 100, 6)) + 0.1
LOWEST = RNG.standard_normal(6)
LATER = time.monotonic() + 1e6


def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
    return float((x - LOWEST) @ H @ (x - LOWEST)) / 2 + 3.0, H @ (x - LOWEST)


def barrier(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ x − log x, whose minimum is at one; no value where an x is not positive."""
    if np.any(x <= 0):
        return np.inf, x
    return float(np.sum(x - np.log(x))), 1 - 1 / x


def test_it_finds_the_bottom_of_a_bowl_in_few_steps():
    descent = Descent(np.zeros(6))
    assert descent.follow(bowl, 60, LATER) <= 60
    np.testing.assert_allclose(descent.x, LOWEST, atol=1e-5)
    np.testing.assert_allclose(descent.value, 3.0, rtol=1e-9)
    np.testing.assert_allclose(descent.gradient, H @ (descent.x - LOWEST), atol=1e-12)
    assert len(descent.pairs) <= 10
    # steepest descent is far away after as many steps: the Hessian is learnt
    x = np.zeros(6)
    for _ in range(60):
        x = x - bowl(x)[1] / 101
    assert np.linalg.norm(x - LOWEST) > 1e-2


def test_no_step_leaves_the_domain_or_raises_the_function():
    descent = Descent(np.array([9.0, 0.01, 2.0]))
    values = []
    for _ in range(40):
        descent.follow(barrier, 1, LATER)
        values.append(descent.value)
        assert np.all(descent.x > 0)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(descent.x, np.ones(3), atol=1e-6)


def test_at_the_bottom_it_is_stuck_and_says_so():
    descent = Descent(LOWEST.copy())
    assert descent.stuck
    assert descent.follow(bowl, 5, LATER) in (0, 5) and descent.value == 3.0
    uphill = Descent(np.ones(2))
    assert uphill.follow(lambda x: (float(np.sum(x)), -np.ones(2)), 5, LATER) == 0
    assert uphill.stuck and uphill.pairs == []


def test_after_the_deadline_there_are_no_steps():
    descent = Descent(np.zeros(6))
    assert descent.follow(bowl, 5, time.monotonic() - 1.0) == 0
    np.testing.assert_array_equal(descent.x, np.zeros(6))
    assert descent.value == bowl(np.zeros(6))[0]


def test_so_many_steps_are_made_as_asked_for():
    descent = Descent(np.zeros(6))
    assert [descent.follow(bowl, steps, LATER) for steps in (0, 1, 3)] == [0, 1, 3]
    assert len(descent.pairs) == 4 and not descent.stuck
    short = Descent(np.zeros(6), memory=2)
    assert short.follow(bowl, 5, LATER) == 5 and len(short.pairs) == 2


def test_the_direction_is_that_of_the_inverse_hessian_written_out():
    pairs = [(s, H @ s) for s in RNG.standard_normal((3, 6))]
    descent = Descent(np.zeros(6))
    descent.pairs, descent.gradient = pairs, RNG.standard_normal(6)
    s, y = pairs[-1]
    inverse = np.eye(6) * (s @ y) / (y @ y)
    for s, y in pairs:
        left = np.eye(6) - np.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    np.testing.assert_allclose(descent.direction(), -inverse @ descent.gradient, rtol=1e-10)


def test_the_first_step_is_short_and_along_the_gradient():
    descent = Descent(np.zeros(6))
    descent.follow(bowl, 1, LATER)
    gradient = bowl(np.zeros(6))[1]
    np.testing.assert_allclose(descent.x, -0.1 * gradient / np.linalg.norm(gradient), rtol=1e-12)
    near = LOWEST + 1e-5
    gentle = Descent(near)
    gentle.follow(lambda x: (bowl(x)[0] / 200, bowl(x)[1] / 200), 1, LATER)
    np.testing.assert_allclose(gentle.x, near - H @ (near - LOWEST) / 200, rtol=1e-12)


def test_a_step_is_shortened_until_the_function_falls():
    tried: list[float] = []

    def cliff(x: np.ndarray) -> tuple[float, np.ndarray]:
        tried.append(float(x[0]))
        return (float(x[0]) if x[0] > -0.02 else np.inf), np.ones(1)

    descent = Descent(np.zeros(1))
    assert descent.follow(cliff, 1, LATER) == 1
    np.testing.assert_allclose(tried, [0.0, -0.1, -0.04, -0.016], rtol=1e-12)
    assert descent.pairs == [] and descent.value == descent.x[0]  # no curvature is learnt


def test_a_step_must_lower_the_function_by_a_part_of_what_the_slope_promises():
    for fall, made in ((0.9e-4, 0), (1.1e-4, 3)):
        descent = Descent(np.zeros(1))
        slope = fall
        found = descent.follow(lambda x, slope=slope: (slope * float(x[0]), np.ones(1)), 3, LATER)
        assert found == made and descent.stuck == (made == 0)


def test_a_direction_that_does_not_descend_is_replaced_by_the_gradient():
    descent = Descent(np.zeros(6))
    descent.value, descent.gradient = bowl(np.zeros(6))
    gradient = descent.gradient
    descent.pairs = [(gradient, -gradient)]
    descent.advance(bowl)
    np.testing.assert_allclose(descent.x, -0.1 * gradient / np.linalg.norm(gradient), rtol=1e-12)
    assert len(descent.pairs) == 1 and descent.pairs[0][0] is not gradient
