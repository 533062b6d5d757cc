"""Certificates with a target or noise: below the best of all choices, and often equal to it."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from .plain import best, least_squares, posterior
from .test_enumeration import graded


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("seed", range(30))
def test_the_certificate_is_below_the_best_of_all_choices_for_a_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 10, 1 + seed % 5
    A, B = graded(rng, 9 + seed % 5, n, 2.0), graded(rng, 9 + seed % 5, 1 + seed % 4, 2.0)
    least = best(least_squares(A, B), n, k)
    s = lm.select(A, k, target=B, method="greedy", scale=False)
    found = s.certificate(budget=20)
    assert found.bound <= least * (1 + 1e-9)
    assert found.bound == pytest.approx(least, rel=1e-6)  # small cases are searched completely
    assert s.lower_bound() == found.bound
    assert s.gap() == pytest.approx(1 - least / s.error(), abs=1e-6)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_the_certificate_is_below_the_best_of_all_choices_with_noise(
    seed: int, repeats: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, k = 8, 1 + seed % 4
    X = graded(rng, 6, n, 1.0)
    noise = rng.uniform(0.01, 1.0, n) * 10.0 ** rng.integers(-4, 1)
    least = best(posterior(X.T @ X, noise), n, k, repeats=repeats)
    s = lm.select(X, k, noise=noise, repeats=repeats, method="greedy", scale=False)
    assert s.certificate(budget=20).bound == pytest.approx(least, rel=1e-6)


def test_looking_ahead_proves_more_than_eigenvalues() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 60)) * np.geomspace(1, 1e-2, 60)
    s = lm.select(X, 8, target=X @ rng.standard_normal((60, 60)), method="swap", scale=False)
    before = s.gap()
    found = s.certificate(budget=30)
    assert found.source in ("lookahead", "search")
    assert found.gap < before


def test_where_all_are_included_the_error_is_proved() -> None:
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((20, 10)), rng.standard_normal((20, 3))
    s = lm.select(A, 2, target=B, include=[9, 1], method="greedy", scale=False)
    found = s.certificate(budget=20)
    assert found.bound == pytest.approx(s.error(), rel=1e-9) and found.bound <= s.error()


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
def test_the_best_beside_dependent_columns_that_must_be_included() -> None:
    rng = np.random.default_rng(6)
    A, B = rng.standard_normal((12, 6)), rng.standard_normal((12, 2))
    A[:, 1] = 2 * A[:, 0]
    s = lm.select(A, 3, target=B, include=[0, 1], method="exact", scale=False)
    assert {0, 1} <= set(s.indices.tolist())
    error = least_squares(A, B, rounding=1e-12)
    assert s.error() == pytest.approx(min(error([0, j]) for j in range(2, 6)))
