"""The factor of a K of low rank: by substitution, and by the inverse that a card uses."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import NotPSDError
from landmarks.operators import pivoted_factor as module
from landmarks.operators.pivoted_factor import pivoted_factor

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


def test_a_diagonal_with_fewer_digits_than_the_columns_ends_at_the_rank():
    X = np.random.default_rng(3).standard_normal((5, 40))
    K = X.T @ X
    operator = lm.function(lambda V: K @ V, n=40, diagonal=np.diag(K) * (1 + 1e-11))
    F = pivoted_factor(operator, 30)
    assert F is not None and F.shape[1] == 5
    np.testing.assert_allclose(F @ F.T, K, rtol=0, atol=1e-12 * np.max(np.abs(K)))


def test_a_factor_is_given_up_where_it_would_take_more_columns():
    X = np.random.default_rng(4).standard_normal((60, 40))
    assert pivoted_factor(lm.psd(X[:12].T @ X[:12]), 12).shape[1] == 12
    assert pivoted_factor(lm.psd(X[:12].T @ X[:12]), 11) is None
    assert pivoted_factor(lm.psd(X.T @ X), 40) is None  # the trace falls too slowly
    assert pivoted_factor(lm.psd(np.zeros((3, 3))), 1).shape == (3, 0)


def test_an_indefinite_matrix_is_refused_with_its_entry():
    K = np.diag([4.0, 1.0, 1.0])
    K[0, 1] = K[1, 0] = 3.0  # 1 − 9/4 is left
    operator = lm.function(lambda V: K @ V, n=3, diagonal=np.diag(K))
    with pytest.raises(NotPSDError, match=r"K\[1, 1\] = 1 is -1.25; clip its negative"):
        pivoted_factor(operator, 3)
