"""The annealed method takes the same steps as a plain transcription of docs/annealed.md."""

from __future__ import annotations

from dataclasses import replace

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


def replacements(K: np.ndarray, chosen: list[int], allowed: np.ndarray, each: int) -> np.ndarray:
    """For each chosen column the allowed ones that lower the trace most once it has left."""

    def left(S: list[int]) -> float:
        return float(np.trace(K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])))

    gains = np.zeros((len(chosen), len(allowed)))
    for i in range(len(chosen)):
        rest = [*chosen[:i], *chosen[i + 1 :]]
        gains[i] = [0 if j in chosen else left(rest) - left([*rest, j]) for j in allowed]
    found = [
        [j for j in np.argsort(-gains[i]) if np.argmax(gains[:, j]) == i and gains[i, j] > 0]
        for i in range(len(chosen))
    ]
    return allowed[[j for row in found for j in row[:each]]]


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_rounds_over_candidates_are_those_of_a_plain_transcription(criterion):
    points = np.random.default_rng(0).standard_normal((40, 2))
    operator = lm.kernel(points, lm.rbf(sigma=1.0))
    K = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2))
    method = replace(SETTINGS, n_candidates=16, n_rounds=2)
    problem = lm.Problem(operator, 4, criterion, include=(7,), exclude=(0, 1))
    found = method.choose(problem, np.random.default_rng(3))

    rng = np.random.default_rng(3)
    allowed, free = np.arange(2, 40), np.setdiff1d(np.arange(2, 40), 7)
    candidates = np.union1d([7], rng.permutation(free)[:16])
    rows, chosen, errors = [], [], []
    for phi0 in (0.9, 0.45):
        settings = replace(method, n_steps=6, phi0=phi0)
        offsets = 1e-3 * rng.standard_normal(len(candidates))
        plain = Plain(K, 4, settings, criterion == "frobenius", offsets, (7,), (0, 1), candidates)
        chosen.append(plain.run())
        rows += plain.rows
        errors.append(np.sum(plain.K**2) if criterion == "frobenius" else np.trace(plain.K))
        candidates = np.union1d(chosen[-1], replacements(K, chosen[-1], allowed, 4))
    assert found.indices.tolist() == chosen[int(np.argmin(errors))]
    np.testing.assert_allclose(found.path.t, np.array([t for t, _ in rows]), atol=1e-6)
    np.testing.assert_allclose(found.path.value, [value for _, value in rows], rtol=1e-8)


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
