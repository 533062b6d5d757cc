"""Annealing for a target and noise: gains against least squares, choices against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from landmarks.linalg.aim import Aim
from landmarks.methods.annealed.aimed_covariance import AimedCovariance
from landmarks.residual.aimed.rebuilding import rebuilding

import landmarks as lm
from landmarks.methods.annealed.covariance import jump_gains

from .plain import best, least_squares, posterior
from .test_enumeration import graded


def weighted_error(X: np.ndarray, B: np.ndarray, variances: np.ndarray) -> float:
    """tr BᵀB − tr BᵀX (XᵀX + diag)⁻¹ XᵀB over the candidates of finite variance."""
    S = np.flatnonzero(np.isfinite(variances))
    H, G = X[:, S].T @ B, X[:, S].T @ X[:, S] + np.diag(variances[S])
    return float(np.sum(B * B) - np.trace(H.T @ np.linalg.solve(G, H)))


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_jump_gain_is_the_exact_change_from_out_to_in(seed: int, noisy: bool) -> None:
    rng = np.random.default_rng(seed)
    X, B = rng.standard_normal((7, 9)), rng.standard_normal((7, 3))
    noise = rng.uniform(0.1, 1.0, 9) if noisy else None
    base = rebuilding(lm.data(X), Aim(target=B, noise=noise))
    d = rng.uniform(0.1, 2.0, 9) * (rng.random(9) < 0.6)
    K = AimedCovariance(base, 4)
    found = K.diagonals(d)
    with np.errstate(divide="ignore"):
        variances = (0.0 if noise is None else noise) + 1 / d
    assert found.error == pytest.approx(weighted_error(X, B, variances))
    gains = jump_gains(found, d)
    for j in range(9):
        out, inside = variances.copy(), variances.copy()
        out[j], inside[j] = np.inf, 0.0 if noise is None else noise[j]
        change = weighted_error(X, B, out) - weighted_error(X, B, inside)
        assert gains[j] == pytest.approx(change, rel=1e-9)


@pytest.mark.parametrize("noisy", [False, True])
def test_conditioning_leaves_what_the_chosen_leave(noisy: bool) -> None:
    rng = np.random.default_rng(2)
    X, B = rng.standard_normal((7, 9)), rng.standard_normal((7, 3))
    noise = rng.uniform(0.1, 1.0, 9) if noisy else None
    base = rebuilding(lm.data(X), Aim(target=B, noise=noise))
    K, chosen = AimedCovariance(base, 3), []
    for j in (4, 1, 7):
        before = base.error(np.asarray(chosen, dtype=np.int64)) if chosen else base.total
        chosen.append(j)
        fall = K.condition(j, False)
        assert fall == pytest.approx(before - base.error(np.asarray(chosen)))
    assert K.diagonals(np.zeros(9)).error == pytest.approx(base.error(np.asarray(chosen)))


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


def test_an_annealed_choice_of_what_must_be_included_has_no_path() -> None:
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((12, 6)), rng.standard_normal((12, 2))
    found = lm.select(X, 2, target=B, include=[4, 1], method="annealed")
    assert sorted(found.indices.tolist()) == [1, 4]


def test_the_path_of_an_annealed_choice_holds_the_error_of_the_target() -> None:
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((30, 20)), rng.standard_normal((30, 4))
    s = lm.select(A, 4, target=B, include=[3], exclude=[0], method="annealed", scale=False)
    assert 3 in s.indices and 0 not in s.indices
    values = np.asarray(s.path.value)
    assert np.all(values <= s.total()) and np.all(values > 0)


@pytest.mark.parametrize("sweeps", [1, 3])
def test_at_most_so_many_swaps_for_each_chosen_column_follow(sweeps: int) -> None:
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((30, 20)), rng.standard_normal((30, 4))
    hasty = lm.Annealed(sweeps=sweeps, n_steps=1, between=0, fixed=1.0)
    heard: list[lm.Progress] = []
    lm.select(A, 4, target=B, method=hasty, scale=False, callback=lambda p: heard.append(p))
    assert {p.total for p in heard if p.phase == "swap"} == {4 * sweeps}
