"""Exact and auto against all choices, errors and bounds against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from .plain import best, least_squares, posterior


def graded(rng: np.random.Generator, m: int, n: int, decades: float) -> np.ndarray:
    return rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-decades / 2, decades / 2, n)


@pytest.mark.parametrize("seed", range(30))
def test_weights_matrices_and_vectors_on_a_kernel_are_the_weighted_trace(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 8, 1 + seed % 4
    K = np.cov(rng.standard_normal((n, 3 * n)))
    weights, V = rng.uniform(0, 1, n) * (np.arange(n) % 3 > 0), rng.standard_normal((n, 3))
    noise = np.full(n, 1e-3) if seed % 2 else np.zeros(n)
    for target, M in ((weights, np.diag(weights)), (V, V @ V.T), (V @ V.T, V @ V.T)):
        error = posterior(K, noise, M)
        s = lm.select(lm.psd(K), k, target=target, noise=noise, method="exact")
        assert s.error() == pytest.approx(best(error, n, k), rel=1e-7, abs=1e-10)


def test_bounds_with_exclude_do_not_count_what_is_excluded() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 9))
    s = lm.select(X, 3, target=X[:, :2], exclude=[0, 1], method="exact")
    allowed = least_squares(X, X[:, :2])
    assert s.error() == pytest.approx(
        min(allowed([2 + j for j in S]) for S in _triples(7)), rel=1e-12
    )
    free = lm.select(X[:, 2:], 3, target=X[:, :2], method="greedy")
    assert s.best_rank_error() == pytest.approx(free.best_rank_error())
    assert s.best_rank_error() > 0.1 * s.error()


def _triples(n: int) -> list[tuple[int, int, int]]:
    return [(a, b, c) for a in range(n) for b in range(a) for c in range(b)]


def test_repeats_choose_one_place_more_often_where_the_others_tell_nothing() -> None:
    K = np.diag([9.0, 0.001, 0.001])
    s = lm.select(lm.psd(K), 5, noise=1.0, repeats=True)
    assert s.indices.tolist() == [0] * 5
    assert s.error() == pytest.approx(9 - 81 / (9 + 1 / 5) + 0.002)


def test_a_design_proves_what_eigenvalues_cannot() -> None:
    points = np.linspace(0, 1, 200)[:, None]
    s = lm.select(lm.kernel(points, lm.rbf(sigma=0.3)), 12, noise=0.5)
    assert s.gap() < 0.05
    assert s.error() > 1.2 * s.best_rank_error()


def test_the_default_proves_what_is_small_and_lists_what_it_tried() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((50, 40)), rng.standard_normal((50, 2))
    small, large = (lm.select(A, k, target=B) for k in (3, 12))
    assert [trial.label for trial in small.trials] == ["greedy > swap", "exact"]
    assert [trial.label for trial in large.trials] == ["greedy > swap", "iterated"]
    assert small.proved and not large.proved
    for s in (small, large):
        errors = [trial.error for trial in s.trials]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] == pytest.approx(s.error())
        assert all(0 < trial.seconds < 10 for trial in s.trials)


def test_an_error_of_rounding_alone_is_not_proved() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 8))
    B = A[:, :3] @ rng.standard_normal((3, 4))
    two, three = (lm.select(A, k, target=B, method="exact") for k in (2, 3))
    assert two.proved and two.lower_bound() > 0
    assert sorted(three.indices.tolist()) == [0, 1, 2]
    assert not three.proved and three.lower_bound() == 0
