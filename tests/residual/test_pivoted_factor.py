"""The factor of a K of low rank: by substitution, and by the inverse that a card uses."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.residual import pivoted_factor as module
from landmarks.residual.pivoted_factor import pivoted_factor

torch = pytest.importorskip("torch", reason="the inverse serves torch arrays on a card")
POINTS = torch.as_tensor(np.random.default_rng(0).uniform(-1, 1, (500, 2)))


@pytest.mark.parametrize("sigma", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("card", [False, True])
def test_the_factor_gives_k_up_to_rounding(monkeypatch, sigma, card):
    monkeypatch.setattr(module, "on_gpu", lambda array: card)
    K = lm.kernel(POINTS, lm.rbf(sigma))
    F = pivoted_factor(K, 300)
    assert F is not None
    exact = np.exp(-np.sum((POINTS[:, None] - POINTS[None]).numpy() ** 2, axis=2) / sigma**2)
    # a factor stops at 32 units in the last place of the diagonal, which is 1
    assert np.max(np.abs((F @ F.T).numpy() - exact)) < 64 * np.finfo(np.float64).eps


def test_the_inverse_keeps_the_digits_that_substitution_keeps(monkeypatch):
    rng = np.random.default_rng(1)
    L = np.linalg.cholesky(np.exp(-(np.subtract.outer(np.arange(12), np.arange(12)) ** 2) / 9.0))
    V = torch.as_tensor(rng.standard_normal((40, 12)))
    columns = V @ torch.as_tensor(L).T
    monkeypatch.setattr(module, "on_gpu", lambda array: True)
    error = np.abs((module._solved(L, columns) - V).numpy())
    # rounding of the columns, magnified by |L⁻¹|, entry by entry
    bound = 32 * np.finfo(np.float64).eps * np.abs(columns.numpy()) @ np.abs(np.linalg.inv(L)).T
    assert np.all(error <= bound)
