"""What no choice for a target or with noise can go below, against the formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import landmarks as lm
from landmarks.errors import RankWarning

from .plain import best, least_squares

RNG = np.random.default_rng(8)
A = RNG.standard_normal((6, 9)) * np.linspace(1, 2, 9)
B = RNG.standard_normal((6, 3))
SIGMA = RNG.uniform(0.5, 2.0, 9)


def chosen(X: np.ndarray, k: int, **noise: object) -> lm.Selection:
    return lm.select(X, k, target=B, method="greedy", scale=False, **noise)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_without_noise_the_best_directions_lie_in_the_range(k):
    X = A[:, :4]
    inside = X @ np.linalg.pinv(X) @ B
    values = np.linalg.svd(inside, compute_uv=False) ** 2
    expected = np.sum((B - inside) ** 2) + np.sum(values[k:])
    assert chosen(X, k).best_rank_error() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [4, 9])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_with_noise_the_best_directions_rebuild_what_all_measurements_would(k, n):
    X, noise = A[:, :n], SIGMA[:n] ** 2
    gram = B.T @ X @ np.linalg.solve(X.T @ X + np.diag(noise), X.T @ B)
    expected = np.sum(B * B) - np.sum(np.linalg.eigvalsh(gram)[::-1][:k])
    assert chosen(X, k, noise=noise).best_rank_error() == pytest.approx(expected, rel=1e-12)


def test_a_place_that_may_be_measured_again_rebuilds_at_most_what_the_best_one_would():
    largest = 2 * np.max(np.sum((A / SIGMA) ** 2, axis=0))
    values = np.linalg.svd(B, compute_uv=False) ** 2 * largest / (1 + largest)
    found = chosen(A, 2, noise=SIGMA**2, repeats=True).best_rank_error()
    assert found == pytest.approx(np.sum(B * B) - np.sum(values[:2]), rel=1e-12)


@pytest.mark.parametrize("repeats", [False, True])
def test_the_bound_is_near_the_least_that_parts_of_measurements_would_leave(repeats):
    Y, k, most = A / SIGMA, 3, 3.0 if repeats else 1.0

    def error(w: np.ndarray) -> float:
        return float(np.trace(B.T @ np.linalg.solve(np.eye(6) + (Y * w) @ Y.T, B)))

    parts = scipy.optimize.minimize(
        error,
        np.full(9, k / 9),
        bounds=[(0.0, most)] * 9,
        constraints={"type": "eq", "fun": lambda w: np.sum(w) - k},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    times = 3 if repeats else 1  # a measurement that repeats is another column
    measured = np.vstack([np.tile(A, times), np.diag(np.tile(SIGMA, times))])
    whole = np.vstack([B, np.zeros((9 * times, 3))])
    least = best(least_squares(measured, whole), 9 * times, k)
    bound = chosen(A, k, noise=SIGMA**2, repeats=repeats).lower_bound()
    assert parts.success and parts.fun * (1 - 5e-3) <= bound <= least * (1 + 1e-12)


def test_candidates_without_length_rebuild_nothing():
    with pytest.warns(RankWarning):
        nothing = chosen(np.zeros((6, 4)), 2)
    assert nothing.best_rank_error() == pytest.approx(np.sum(B * B), rel=1e-12)


GIVEN = {
    "target": lambda: ({"target": B}, lm.data(A)),
    "vectors": lambda: ({"target": A[:2].T}, lm.psd(A.T @ A)),
    "noise": lambda: ({"noise": SIGMA**2}, lm.data(A)),
    "target and noise": lambda: ({"target": B, "noise": SIGMA**2}, lm.data(A)),
}


@pytest.mark.parametrize("name", GIVEN)
def test_the_losses_are_by_how_much_the_error_rises_without_each_column(name):
    given, operator = GIVEN[name]()
    s = lm.select(operator, 3, method="greedy", **given)
    rises = [
        lm.select(operator, 2, include=np.delete(s.indices, i), **given).error() - s.error()
        for i in range(3)
    ]
    np.testing.assert_allclose(s.reconstruction().losses, rises, rtol=1e-8)


def test_the_losses_with_a_ridge_are_those_of_the_penalised_error():
    s = lm.select(A, 3, target=B, method="greedy", scale=False)

    def penalised(S: np.ndarray) -> float:
        H = A[:, S].T @ B
        G = A[:, S].T @ A[:, S] + 2.5 * np.eye(len(S))
        return float(np.sum(B**2) - np.trace(H.T @ np.linalg.solve(G, H)))

    found = s.reconstruction(ridge=2.5)
    rises = [penalised(np.delete(s.indices, i)) - penalised(s.indices) for i in range(3)]
    np.testing.assert_allclose(found.losses, rises, rtol=1e-9)
