"""Estimates of seconds have the order of magnitude of a present-day machine."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods import costs

X = np.random.default_rng(0).standard_normal((1000, 2))
OPERATORS = {
    "kernel": lambda: lm.kernel(X, lm.rbf()),
    "data": lambda: lm.data(X.T),
    "matrix": lambda: lm.psd(np.eye(1000)),
    "function": lambda: lm.function(lambda V: 1.0 * V, n=1000),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_product_with_a_small_matrix_takes_milliseconds(name):
    assert 1e-8 < costs.product_seconds(OPERATORS[name]()) < 0.1


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_round_takes_longer_with_more_columns_and_members(criterion):
    small, large = (
        costs.round_seconds(lm.Problem(lm.psd(np.eye(n)), k, criterion))
        for n, k in ((100, 5), (1000, 50))
    )
    assert 1e-5 < small < large < 10
