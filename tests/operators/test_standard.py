"""Centred and scaled columns in memory, against the formulas on NumPy."""

import numpy as np
import pytest

from landmarks._array import host
from landmarks.operators.standard import Standard

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 3)) * [1.0, 5.0, 0.1] + [0.0, 3.0, -2.0]
W = RNG.uniform(0.5, 2.0, 20)


@pytest.mark.parametrize("weights", [None, W], ids=["alike", "weighted"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_columns_are_prepared_as_by_the_formulas(weights, center, scale, xp):
    w = np.ones(20) if weights is None else weights
    mean = np.average(X, axis=0, weights=w)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w)) if scale else np.ones(3)
    Z, taken, divided = Standard(center, scale).of_array(xp.asarray(X), weights)
    np.testing.assert_allclose(
        host(Z), (X - mean * center) / deviation * np.sqrt(w)[:, None], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(taken, mean * center, rtol=1e-12)
    np.testing.assert_allclose(divided, deviation, rtol=1e-12)


def test_a_constant_column_is_zero_once_centred():
    Z, _, scale = Standard(center=True, scale=True).of_array(
        np.array([[1.0, 7.1], [2.0, 7.1], [3.0, 7.1]])
    )
    assert not np.any(Z[:, 1]) and scale[1] == 1.0
