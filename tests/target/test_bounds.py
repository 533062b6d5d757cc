"""What no choice for a target or with noise can go below, against the formulas written out."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
import scipy.optimize

import landmarks as lm
from landmarks.linalg.rebuilding import (
    Rebuilding,
    _weights,
    design_bound,
    least_error,
    orthonormal,
)

RNG = np.random.default_rng(8)
A = RNG.standard_normal((6, 9)) * np.linspace(1, 2, 9)
B = RNG.standard_normal((6, 3))
SIGMA = RNG.uniform(0.5, 2.0, 9)
NOISY = Rebuilding(A, B, 0.7, SIGMA, 0.0)
CLEAR = Rebuilding(A[:, :4], B, 0.7, None, 0.0)


def eigenvalues(gram: np.ndarray) -> np.ndarray:
    return np.linalg.eigvalsh(gram)[::-1]


def measured() -> np.ndarray:
    """The Gram matrix of what all measurements rebuild of B, by the normal equations."""
    return B.T @ A @ np.linalg.solve(A.T @ A + np.diag(SIGMA**2), A.T @ B)


def test_a_short_column_is_as_good_a_direction_as_a_long_one():
    columns = A[:, :4] * [1.0, 1e-20, 1e20, 1.0]
    Q = orthonormal(np.column_stack([columns, columns[:, 1] * 3]), 1e-12)
    assert Q.shape == (6, 4)
    P = A[:, :4] @ np.linalg.pinv(A[:, :4])
    np.testing.assert_allclose(Q @ Q.T, P, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_without_noise_the_best_directions_lie_in_the_range(k):
    P = CLEAR.A @ np.linalg.pinv(CLEAR.A)
    values = np.linalg.svd(P @ B, compute_uv=False) ** 2
    expected = 0.7 + np.sum((B - P @ B) ** 2) + np.sum(values[k:])
    assert least_error(CLEAR, k) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_with_noise_the_best_directions_rebuild_what_all_measurements_would(k):
    values = eigenvalues(measured())
    expected = 0.7 + np.sum(B * B) - np.sum(values[:k])
    assert least_error(NOISY, k) == pytest.approx(expected, rel=1e-12)
    tall = Rebuilding(A[:, :4], B, 0.7, SIGMA[:4], 0.0)
    G = A[:, :4].T @ A[:, :4] + np.diag(SIGMA[:4] ** 2)
    few = eigenvalues(B.T @ A[:, :4] @ np.linalg.solve(G, A[:, :4].T @ B))
    expected = 0.7 + np.sum(B * B) - np.sum(few[:k])
    assert least_error(tall, k) == pytest.approx(expected, rel=1e-12)


def test_a_place_that_may_be_measured_again_rebuilds_at_most_what_the_best_one_would():
    largest = 2 * np.max(np.sum((A / SIGMA) ** 2, axis=0))
    values = np.linalg.svd(B, compute_uv=False) ** 2 * largest / (1 + largest)
    expected = 0.7 + np.sum(B * B) - np.sum(values[:2])
    assert least_error(NOISY, 2, True) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_the_bounds_are_below_every_choice(k, repeats):
    choices = combinations_with_replacement if repeats else combinations
    wide = [np.vstack([A[:, S], np.diag(SIGMA[[*S]])]) for S in map(list, choices(range(9), k))]
    whole = np.vstack([B, np.zeros((k, 3))])
    best = 0.7 + min(np.sum((whole - Y @ np.linalg.pinv(Y) @ whole) ** 2) for Y in wide)
    for bound in (design_bound, least_error):
        assert 0 < bound(NOISY, k, repeats) <= best


@pytest.mark.parametrize("repeats", [False, True])
def test_the_bound_of_a_design_is_near_the_least_of_its_convex_function(repeats):
    Y, k, most = A / SIGMA, 3, 3.0 if repeats else 1.0

    def error(w: np.ndarray) -> float:
        return float(np.trace(B.T @ np.linalg.solve(np.eye(6) + (Y * w) @ Y.T, B)))

    found = scipy.optimize.minimize(
        error,
        np.full(9, k / 9),
        bounds=[(0.0, most)] * 9,
        constraints={"type": "eq", "fun": lambda w: np.sum(w) - k},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    bound = design_bound(NOISY, k, repeats) - 0.7
    # the steps end where the bound is within a part in 1000 of f at the weights
    assert found.fun * (1 - 5e-3) <= bound <= found.fun * (1 + 1e-9)


@pytest.mark.parametrize("k", [1, 3, 4, 6])
def test_weights_are_in_proportion_up_to_the_most_and_add_up(k):
    raised = np.array([5.0, 0.1, 0.2, 4.0, 0.3, 0.7])
    w = _weights(raised, k, 1.0)
    assert np.sum(w) == pytest.approx(k, rel=1e-12) and np.all(w <= 1)
    free = w < 1
    ratio = w[free] / raised[free]
    np.testing.assert_allclose(ratio, np.full(free.sum(), ratio.min(initial=np.inf)), rtol=1e-12)
    assert np.min(raised[~free], initial=np.inf) > np.max(raised[free], initial=0.0)
    np.testing.assert_allclose(_weights(raised, k, np.inf), raised * k / raised.sum(), rtol=1e-12)


def test_candidates_without_length_rebuild_nothing():
    nothing = Rebuilding(np.zeros((6, 4)), B, 0.7, None, 0.0)
    assert least_error(nothing, 2) == pytest.approx(0.7 + np.sum(B * B), rel=1e-12)


def test_weights_for_more_than_there_are_stay_at_the_most():
    np.testing.assert_array_equal(_weights(np.array([0.2, 3.0, 1.0]), 5, 1.0), np.ones(3))


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
