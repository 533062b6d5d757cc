"""Annealing for a target and noise: gains against least squares, choices against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from .plain import best, least_squares, posterior
from .test_enumeration import graded


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("seed", range(20))
def test_annealed_is_near_the_best_of_all_choices_for_a_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B, k = graded(rng, 12, 10, 1.0), rng.standard_normal((12, 4)), 2 + seed % 4
    s = lm.select(A, k, target=B, method="annealed", scale=False)
    least = best(least_squares(A, B), 10, k)
    greedy = lm.select(A, k, target=B, method="greedy", scale=False)
    assert least * (1 - 1e-9) <= s.error() <= greedy.error() * (1 + 1e-9)
    assert s.error() <= 1.05 * least  # swaps that pay lead to a local optimum


@pytest.mark.parametrize("repeats", [False, True])
def test_annealed_with_noise_is_near_the_best_of_all_choices(repeats: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 8))
    noise = rng.uniform(0.1, 1.0, 8)
    s = lm.select(X, 3, noise=noise, repeats=repeats, method="annealed", scale=False)
    least = best(posterior(X.T @ X, noise), 8, 3, repeats=repeats)
    assert s.error() <= 1.05 * least


def test_the_path_of_an_annealed_choice_holds_the_error_of_the_target() -> None:
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((30, 20)), rng.standard_normal((30, 4))
    s = lm.select(A, 4, target=B, include=[3], exclude=[0], method="annealed", scale=False)
    assert 3 in s.indices and 0 not in s.indices
    values = np.asarray(s.path.value)
    assert np.all(values <= s.total()) and np.all(values > 0)
