"""The quasi-Newton descent on functions whose minimum is known."""

from __future__ import annotations

import time

import numpy as np

from landmarks.proof.dual.ascent import Descent

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
