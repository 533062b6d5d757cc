"""Greedy and swap against a plain transcription in extended precision, where spectra fall fast."""

from __future__ import annotations

import numpy as np
import pytest
from landmarks.linalg.aim import Aim
from landmarks.methods.aimed.search import Hunt, descend
from landmarks.residual.aimed.cross import Cross
from landmarks.residual.aimed.rebuilding import rebuilding

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


@pytest.mark.parametrize("noisy", [False, True])
def test_exchanges_leave_what_a_fresh_start_leaves(noisy: bool) -> None:
    rng = np.random.default_rng(5)
    A = lm.data(rng.standard_normal((12, 30)))
    aim = Aim(target=rng.standard_normal((12, 4)), noise=np.full(30, 0.5) if noisy else None)
    state = Cross(rebuilding(A, aim), 6)
    for step in range(60):
        place = int(rng.integers(6))
        if state.members[place] >= 0:
            state.drop(place)
        free = np.setdiff1d(np.arange(30), state.chosen)
        state.add(int(rng.choice(free)), place)
        if step % 10 == 9:
            fresh = Cross(state.base, 6)
            fresh.load(state.chosen)
            assert state.error == pytest.approx(fresh.error, rel=1e-9)
            np.testing.assert_allclose(state.gains(), fresh.gains(), rtol=1e-8)


@pytest.mark.parametrize("noisy", [False, True])
def test_the_gain_of_every_swap_is_the_difference_of_two_errors(noisy: bool) -> None:
    rng = np.random.default_rng(6)
    A = lm.data(rng.standard_normal((9, 14)))
    aim = Aim(target=rng.standard_normal((9, 3)), noise=np.full(14, 0.3) if noisy else None)
    base = rebuilding(A, aim)
    state = Cross(base, 4)
    state.load(np.array([1, 5, 8, 11]))
    gains, costs = state.pair_gains(np.arange(4))
    for place in range(4):
        rest = np.delete(state.chosen, place)
        assert costs[place] == pytest.approx(base.error(rest) - state.error, rel=1e-9)
        for j in np.setdiff1d(np.arange(14), state.chosen):
            after = base.error(np.append(rest, j))
            assert gains[place, j] == pytest.approx(state.error - after, rel=1e-7, abs=1e-10)


def test_no_swap_is_left_after_a_descent() -> None:
    rng = np.random.default_rng(7)
    problem = lm.Problem(
        lm.data(rng.standard_normal((15, 40))), 5, aim=Aim(target=rng.standard_normal((15, 6)))
    )
    hunt = Hunt(problem)
    state = hunt.state(np.arange(5))
    assert descend(hunt, state) > 0
    gains, _ = state.pair_gains(np.arange(5))
    gains[:, state.chosen] = 0.0
    assert gains.max() <= 1e-9 * state.error


@pytest.mark.parametrize("method", ["greedy", "swap"])
def test_a_rotated_copy_of_the_data_as_target_gives_the_choice_without_target(method: str) -> None:
    for A in (fields(1), np.random.default_rng(2).standard_normal((20, 30))):
        Q = np.linalg.qr(np.random.default_rng(3).standard_normal((A.shape[1], A.shape[1])))[0]
        plain = lm.select(A, 8, method=method, scale=False)
        rotated = lm.select(A, 8, target=A @ Q, method=method, scale=False)
        assert rotated.aim is not None
        assert sorted(rotated.indices.tolist()) == sorted(plain.indices.tolist())
        assert rotated.error() == pytest.approx(plain.error(), rel=1e-5)
