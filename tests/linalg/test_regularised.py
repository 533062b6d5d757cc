"""(K + ridge · I) x = b by block conjugate gradients, with and without a preconditioner."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import ConvergenceWarning
from landmarks.linalg.regularised import solve_regularised

POINTS = np.random.default_rng(0).standard_normal((300, 2))
TARGETS = np.stack([POINTS[:, 0], np.sin(POINTS[:, 1])], axis=1)


def operator(xp=np, dtype=np.float64):
    return lm.kernel(xp.asarray(POINTS.astype(dtype)), lm.rbf(sigma=2.0))


def preconditioner(K, ridge, k=60):
    return lm.select(K, k, method="greedy").nystrom().preconditioner(ridge)


def test_it_solves_in_every_library_with_a_preconditioner(xp):
    K = operator(xp)
    found = solve_regularised(
        K, xp.asarray(TARGETS), 1e-2, precondition=preconditioner(K, 1e-2), tolerance=1e-10
    )
    expected = np.linalg.solve(lm.rbf(sigma=2.0)(POINTS, POINTS) + 1e-2 * np.eye(300), TARGETS)
    assert found.converged
    assert_allclose(
        np.asarray(found.x), expected, atol=1e-5
    )  # residual 1e-10 times the condition 1e4


def test_the_preconditioner_saves_steps_and_the_residual_is_the_true_one():
    K, ridge = operator(), 1e-6
    plain = solve_regularised(K, TARGETS, ridge)
    helped = solve_regularised(K, TARGETS, ridge, precondition=preconditioner(K, ridge))
    left = TARGETS - K.matmul(helped.x) - ridge * helped.x
    residual = np.max(np.linalg.norm(left, axis=0) / np.linalg.norm(TARGETS, axis=0))
    assert 5 * helped.steps < plain.steps
    assert helped.converged and residual < 2e-6


def test_single_precision_takes_fewer_steps_too():
    K, targets = operator(dtype=np.float32), TARGETS.astype(np.float32)
    plain = solve_regularised(K, targets, 1e-2, tolerance=1e-4)
    helped = solve_regularised(
        K, targets, 1e-2, precondition=preconditioner(K, 1e-2, k=15), tolerance=1e-4
    )
    assert helped.x.dtype == np.float32 and helped.converged and helped.steps < plain.steps


def test_one_target_gives_one_solution():
    K = operator()
    assert_allclose(
        solve_regularised(K, TARGETS[:, 0], 1.0).x,
        solve_regularised(K, TARGETS[:, :1], 1.0).x[:, 0],
    )


def test_large_units_are_kept():
    K = lm.rbf(sigma=2.0)(POINTS, POINTS)
    expected = solve_regularised(lm.psd(K), TARGETS, 1.0).x
    found = solve_regularised(lm.psd(K * 1e200), TARGETS, 1e200).x * 1e200
    assert_allclose(
        found, expected, atol=1e-6 * np.abs(expected).max()
    )  # the tolerance of the solve


def test_too_few_steps_are_reported():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 steps .* give a preconditioner"):
        assert not solve_regularised(operator(), TARGETS, 1e-6, max_steps=1).converged


@pytest.mark.parametrize(
    ("block", "ridge", "message"),
    [
        (TARGETS, 0.0, "ridge must be a positive number"),
        (TARGETS[:3], 1.0, "must have n = 300 rows"),
    ],
)
def test_wrong_use_is_refused(block, ridge, message):
    with pytest.raises(ValueError, match=message):
        solve_regularised(operator(), block, ridge)
