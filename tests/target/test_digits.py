"""Greedy and swap against a plain transcription in extended precision, where spectra fall fast."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from .plain import greedy, least_squares, swapped


def fields(seed: int, m: int = 24, n: int = 40) -> np.ndarray:
    """Smooth random fields: the singular values fall as 2**-i, the tail below 1e-10 at k = 16."""
    rng = np.random.default_rng(seed)
    modes = np.cos(np.pi * np.arange(m)[:, None] * np.linspace(0, 1, n))
    return rng.standard_normal((m, m)) @ (modes * 2.5 ** -np.arange(m)[:, None])


def targets(seed: int, A: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(100 + seed)
    return A @ rng.standard_normal((A.shape[1], 5))


@pytest.mark.parametrize("k", [4, 12])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_picks_what_the_transcription_picks(seed: int, k: int) -> None:
    A = fields(seed)
    B = targets(seed, A)
    error = least_squares(A, B)
    found = lm.select(A, k, target=B, method="greedy", scale=False).indices.tolist()
    assert found == greedy(error, A.shape[1], k)


@pytest.mark.parametrize("k", [3, pytest.param(10, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("seed", range(3))
def test_swap_ends_where_the_transcription_ends(seed: int, k: int) -> None:
    A = fields(seed)
    B = targets(seed, A)
    error = least_squares(A, B)
    start = list(range(0, 4 * k, 4))[:k]
    found = lm.select(A, k, target=B, method=lm.Swap(start=start), scale=False)
    assert sorted(found.indices.tolist()) == sorted(swapped(error, A.shape[1], start))


def test_the_error_keeps_its_digits_where_ten_of_them_are_gone_from_the_total() -> None:
    A = fields(0)
    B = targets(0, A)
    s = lm.select(A, 14, target=B, method="swap", scale=False)
    assert s.relative_error() < 1e-10
    assert s.error() == pytest.approx(least_squares(A, B)(s.indices), rel=1e-6)


@pytest.mark.parametrize("method", ["greedy", "swap"])
def test_a_rotated_copy_of_the_data_as_target_gives_the_choice_without_target(method: str) -> None:
    for A in (fields(1), np.random.default_rng(2).standard_normal((20, 30))):
        Q = np.linalg.qr(np.random.default_rng(3).standard_normal((A.shape[1], A.shape[1])))[0]
        plain = lm.select(A, 8, method=method, scale=False)
        rotated = lm.select(A, 8, target=A @ Q, method=method, scale=False)
        assert rotated.objective.target is not None
        assert sorted(rotated.indices.tolist()) == sorted(plain.indices.tolist())
        assert rotated.error() == pytest.approx(plain.error(), rel=1e-5)
