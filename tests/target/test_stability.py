"""Bootstrap samples with a target and noise."""

from __future__ import annotations

import numpy as np
import pytest
from landmarks.linalg.aim import Aim

import landmarks as lm
from landmarks.explain.stability import drawn


def test_rows_of_the_target_are_drawn_with_those_of_the_data() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    B = X @ rng.standard_normal((5, 3))  # the same in every sample
    problem = lm.Problem(lm.data(X), 2, aim=Aim(target=B, noise=np.arange(5.0)))
    sample, aim = drawn(problem, rng)
    Y = np.asarray(sample.operator.factor())
    assert aim is not None and aim.target is not None
    fitted = np.linalg.lstsq(Y, aim.target, rcond=None)[0]
    assert np.allclose(Y @ fitted, aim.target)
    assert np.allclose(fitted, np.linalg.lstsq(X, B, rcond=None)[0][sample.indices])
    assert aim.noise.tolist() == sample.indices.tolist()


def test_weights_of_a_kernel_go_with_its_points() -> None:
    points, weights = np.linspace(0, 1, 12)[:, None], np.arange(12.0)
    s = lm.select(lm.kernel(points, lm.rbf(sigma=0.3)), 3, target=weights)
    problem = lm.Problem(s.operator, 3, aim=s.aim)
    sample, aim = drawn(problem, np.random.default_rng(1))
    assert np.allclose(aim.target @ aim.target.T, np.diag(weights[sample.indices]))
    vectors = Aim(target=np.ones((12, 1)) * points, rows=False)
    sample, aim = drawn(lm.Problem(s.operator, 3, aim=vectors), np.random.default_rng(1))
    assert np.allclose(aim.target, points[sample.indices])


def test_columns_that_the_target_is_made_of_are_stable() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    Y = X[:, :3] @ rng.standard_normal((3, 5)) + 0.1 * rng.standard_normal((100, 5))
    s = lm.select(X, 3, target=Y)
    found = s.stability(n_bootstrap=10, method="greedy")
    assert found.frequencies[:3].tolist() == [1.0, 1.0, 1.0]
    assert found.frequencies.sum() == pytest.approx(3)
    assert s.why(stability=found).chosen["stability"] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("repeats", [False, True])
def test_stability_with_noise_on_a_kernel(repeats: bool) -> None:
    points = np.linspace(0, 1, 30)[:, None]
    s = lm.select(lm.kernel(points, lm.rbf(sigma=0.3)), 4, noise=0.1, repeats=repeats)
    found = s.stability(n_bootstrap=5, method="greedy")
    assert found.n_bootstrap == 5
    assert np.nansum(found.frequencies) > 0


def test_points_that_must_be_included_are_in_every_sample() -> None:
    points = np.linspace(0, 1, 30)[:, None]
    operator = lm.kernel(points, lm.rbf(sigma=0.3))
    for aim in (None, Aim(noise=np.arange(1.0, 31.0))):
        problem = lm.Problem(operator, 4, include=(7, 20), aim=aim)
        for seed in range(5):
            sample, found = drawn(problem, np.random.default_rng(seed))
            assert {7, 20} <= set(sample.indices.tolist())
            assert aim is None or found.noise.tolist() == (sample.indices + 1.0).tolist()
