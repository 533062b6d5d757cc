"""Loads of choices whose columns nearly represent one another."""

import numpy as np
import pytest
import scipy.linalg
from errors_of import DEPTH, plain

import landmarks as lm
from landmarks.operators import cubes
from landmarks.residual import loading
from landmarks.residual.base import Base
from landmarks.residual.exchange import Exchange
from landmarks.residual.loading import factors_and_diagonal


def nearly_dependent(seed):
    """A smooth kernel, and more of its points than it has digits for, in a drawn order."""
    rng = np.random.default_rng(seed)
    x = rng.random((300, 1 + seed % 3))
    K = lm.kernel(x, lm.rbf(sigma=[0.3, 1, 3][seed // 3 % 3]))
    return Base(plain(K), 1, 40), rng.permutation(300)[:60]


@pytest.mark.parametrize("seed", [27, 45, 99])  # 1e-5, 9e-3 and 3e-2 below zero as they are drawn
def test_an_unlucky_order_does_not_spoil_the_diagonal(seed):
    base, indices = nearly_dependent(seed)
    F = factors_and_diagonal(base, indices)[0].F
    assert np.min(base.of_K[0] - np.sum(F * F, axis=1)) > -1e-11


@pytest.mark.parametrize("seed", [27, 45, 99])
def test_the_error_of_an_unlucky_order_is_that_of_the_space_of_its_columns(seed):
    base, indices = nearly_dependent(seed)
    state = Exchange(base, len(indices))
    state.load(indices)
    K = base.operator.columns(np.arange(300))
    d, V = scipy.linalg.eigh(K[np.ix_(indices, indices)])
    G = K[:, indices] @ V[:, d > 1e-13] / np.sqrt(d[d > 1e-13])
    expected = np.trace(K) - np.sum(G * G)
    assert state.error == pytest.approx(expected, abs=1e-9 * np.trace(K))
    assert state.recomputed_error() == pytest.approx(expected, abs=1e-9 * np.trace(K))


def test_a_search_from_an_unlucky_start_goes_on():
    base, indices = nearly_dependent(99)
    s = lm.select(base.operator, 60, method=lm.Swap(start=indices))
    assert s.relative_error() < 1e-9


@pytest.mark.parametrize("indices", [[3], [5, 250, 17, 40, 100]])
def test_pairs_of_blocks_of_the_residual_load_the_same(indices, monkeypatch):
    K = lm.kernel(np.random.default_rng(3).random((300, 2)), lm.rbf(1.0))
    base = Base(plain(K), 2, len(indices))
    F = factors_and_diagonal(base, np.asarray(indices))[0].F
    images, diagonals = loading._from_residual(base, F)
    monkeypatch.setattr(cubes, "PANEL", 8 * 300 * 70)
    images_of_pairs, diagonals_of_pairs = loading._from_pairs(K, F)
    for one, other in zip(images + diagonals, images_of_pairs + diagonals_of_pairs, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-14 * np.max(np.abs(one)))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_error_alone_is_that_of_the_dense_residual(criterion):
    K = lm.kernel(np.random.default_rng(4).random((60, 2)), lm.rbf(0.3))
    whole, s = K.columns(np.arange(60)), np.asarray([5, 50, 17, 40])
    C = whole - whole[:, s] @ np.linalg.solve(whole[np.ix_(s, s)], whole[s])
    expected = np.trace(C) if criterion == "trace" else np.sum(C * C)
    assert loading.error_of(Base(plain(K), DEPTH[criterion], 4), s) == pytest.approx(
        expected, rel=1e-12
    )
