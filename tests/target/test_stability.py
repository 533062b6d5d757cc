"""Bootstrap samples with a target and noise."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm


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
    points, weights = np.linspace(0, 1, 30)[:, None], np.arange(1.0, 31.0)
    for given in ({}, {"noise": weights}, {"target": weights}):
        s = lm.select(lm.kernel(points, lm.rbf(sigma=0.3)), 4, include=[7, 20], **given)
        found = s.stability(n_bootstrap=5, method="greedy")
        assert found.frequencies[[7, 20]].tolist() == [1.0, 1.0]
