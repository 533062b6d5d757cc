"""Loads of choices whose columns nearly represent one another."""

import numpy as np
import pytest
import scipy.linalg

import landmarks as lm
from landmarks.residual.base import Base
from landmarks.residual.exchange import Exchange
from landmarks.residual.loading import factors_and_diagonal


def nearly_dependent(seed):
    """A smooth kernel, and more of its points than it has digits for, in a drawn order."""
    rng = np.random.default_rng(seed)
    x = rng.random((300, 1 + seed % 3))
    K = lm.kernel(x, lm.rbf(sigma=[0.3, 1, 3][seed // 3 % 3]))
    return Base(K, "trace", 40), rng.permutation(300)[:60]


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
