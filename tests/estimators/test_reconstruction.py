"""Coefficients against NumPy's least squares, losses against removing each column."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.estimators.reconstruction import reconstruct

X = np.random.default_rng(0).standard_normal((20, 9)) @ np.random.default_rng(1).standard_normal((9, 9))
CHOSEN = [1, 4, 5]
OPERATORS = {"data": lm.data(X), "gram": lm.psd(X.T @ X), "function": lm.function(lambda V: X.T @ (X @ V), n=9)}


def left(columns: list[int]) -> float:
    B = np.linalg.lstsq(X[:, columns], X, rcond=None)[0]
    return float(np.sum((X - X[:, columns] @ B) ** 2))


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_coefficients_are_those_of_least_squares(operator):
    expected = np.linalg.lstsq(X[:, CHOSEN], X, rcond=None)[0]
    np.testing.assert_allclose(reconstruct(operator, CHOSEN).coefficients, expected, atol=1e-10)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_loss_is_the_rise_of_the_error_without_the_column(operator):
    expected = [left([j for j in CHOSEN if j != i]) - left(CHOSEN) for i in CHOSEN]
    np.testing.assert_allclose(reconstruct(operator, CHOSEN).losses, expected, rtol=1e-9)


@pytest.mark.parametrize("make", [lm.data, lambda Y: lm.psd(Y.T @ Y)], ids=["data", "gram"])
def test_superfluous_columns_lose_nothing(make):
    Y = np.column_stack([X[:, :4], X[:, 1], X[:, 0] + X[:, 2], np.zeros(20)])
    rebuilt = reconstruct(make(Y), [0, 1, 2, 3, 4, 5, 6])
    assert np.all(rebuilt.losses[[0, 1, 2, 4, 5, 6]] == 0)
    assert rebuilt.losses[3] > 0
    np.testing.assert_allclose(rebuilt.coefficients, np.eye(7))


def test_losses_are_in_the_units_of_the_data():
    # 2⁵⁰⁰ squared is within the range of floats; its fourth power is not
    np.testing.assert_allclose(reconstruct(lm.data(X * 2.0**500), CHOSEN).losses, reconstruct(lm.data(X), CHOSEN).losses * 2.0**1000)
