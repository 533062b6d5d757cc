"""The annealed method takes the same steps as a plain transcription of docs/annealed.md."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from .plain import Plain

RNG = np.random.default_rng(5)
WIDE = RNG.standard_normal((12, 40)) @ np.diag(np.linspace(1, 2, 40))  # by its factor
TALL = RNG.standard_normal((60, 5)) @ RNG.standard_normal((5, 40)) + 0.4 * RNG.standard_normal(
    (60, 40)
)  # as a stored matrix
SETTINGS = lm.Annealed(sweeps=0, n_steps=12, fixed=0.3, between=2)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("X", [WIDE, TALL], ids=["wide", "tall"])
@pytest.mark.parametrize("limits", [{}, {"include": (7, 2), "exclude": (0, 30)}], ids=str)
def test_the_steps_are_those_of_a_plain_transcription(X, criterion, limits):
    problem = lm.Problem(lm.data(X), 6, criterion, **limits)
    found = SETTINGS.choose(problem, np.random.default_rng(3))
    offsets = 1e-3 * np.random.default_rng(3).standard_normal(40)
    plain = Plain(X.T @ X, 6, SETTINGS, criterion == "frobenius", offsets, **limits)
    assert sorted(plain.run()) == sorted(found.indices.tolist())
    assert len(found.path) == len(plain.rows)
    t, value = zip(*plain.rows, strict=True)
    # float32 holds seven digits of the weights; rounding is far below 1e-9 of the objective
    np.testing.assert_allclose(found.path.t, np.array(t), atol=1e-6)
    np.testing.assert_allclose(found.path.value * 2.0**problem.operator.exponent, value, rtol=1e-8)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("limits", [{}, {"include": (7, 2), "exclude": (0, 10)}], ids=str)
def test_the_steps_for_a_target_are_those_of_a_plain_transcription(noisy, limits):
    """With noise as more rows of the columns, and the error of C as that of the target."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 20)) + rng.standard_normal((40, 1))
    B = np.eye(40)[:, :3] + X[:, :3]
    noise = rng.uniform(1.0, 9.0, 20) if noisy else np.zeros(20)
    found = lm.select(X, 5, method=SETTINGS, target=B, noise=noise, seed=3, **limits)

    G, products = X.T @ X + np.diag(noise), X.T @ B
    H = np.linalg.solve(G, products)
    outside = np.sum(B * B) - np.sum(H * products)
    offsets = 1e-3 * np.random.default_rng(3).standard_normal(20)
    plain = Plain(G, 5, SETTINGS, False, offsets, **limits, M=H @ H.T, outside=outside)
    assert sorted(plain.run()) == sorted(found.indices.tolist())
    t, value = zip(*plain.rows, strict=True)
    np.testing.assert_allclose(found.path.t, np.array(t), atol=1e-6)
    np.testing.assert_allclose(found.path.value, value, rtol=1e-8)
