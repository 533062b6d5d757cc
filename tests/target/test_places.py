"""Constraints on places with a target or noise, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from ..placement.test_constraints import CASES, METHODS, N, all_allowed, satisfies
from .plain import least_squares, posterior


@pytest.mark.parametrize("method", METHODS)
def test_constraints_are_satisfied_with_noise_and_the_best_is_found(method: str) -> None:
    for number, (X, constraints) in enumerate(CASES):
        allowed = all_allowed(number, 3)
        noise = np.linspace(0.01, 0.1, N)
        if not allowed:
            continue
        s = lm.select(X, 3, noise=noise, method=method, constraints=constraints, scale=False)
        assert satisfies(constraints, s.indices)
        error = posterior(X.T @ X, noise)
        least = min(error(S) for S in allowed)
        assert s.error() >= least * (1 - 1e-9)
        if method == "auto":
            assert s.error() <= least * (1 + 1e-9)
        assert s.lower_bound() <= least * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("method", METHODS)
def test_constraints_are_satisfied_with_a_target(method: str) -> None:
    rng = np.random.default_rng(0)
    for number, (X, constraints) in enumerate(CASES):
        allowed = all_allowed(number, 4)
        B = rng.standard_normal((6, 3))
        if not allowed:
            with pytest.raises(ValueError, match="choose fewer or relax"):
                lm.select(X, 4, target=B, method=method, constraints=constraints, scale=False)
            continue
        s = lm.select(X, 4, target=B, method=method, constraints=constraints, scale=False)
        error = least_squares(X, B)
        assert satisfies(constraints, s.indices)
        assert s.error() >= min(error(S) for S in allowed) * (1 - 1e-9) - 1e-15


def test_swaps_under_constraints_end_where_no_allowed_swap_pays() -> None:
    for number, (X, constraints) in enumerate(CASES):
        if not all_allowed(number, 3):
            continue
        noise = np.full(N, 0.05)
        error = posterior(X.T @ X, noise)
        s = lm.select(X, 3, noise=noise, method="swap", constraints=constraints, scale=False)
        S = s.indices.tolist()
        for place in range(3):
            for j in set(range(N)) - set(S):
                other = [*S[:place], j, *S[place + 1 :]]
                if satisfies(constraints, other):
                    assert error(other) >= error(S) * (1 - 1e-8)
