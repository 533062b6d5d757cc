"""A choice comes in the order of greedy selection among its members, whatever found it."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

X = np.random.default_rng(3).standard_normal((14, 10)) * np.linspace(1, 3, 10)
DOORS = {"data": X, "matrix": lm.psd(X.T @ X)}


def error(S: list[int]) -> float:
    left = X - X[:, S] @ np.linalg.lstsq(X[:, S], X, rcond=None)[0]
    return float(np.sum(left * left))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("include", [(), (8,), (5, 2)])
@pytest.mark.parametrize("method", ["swap", "iterated", "auto", "exact", "annealed"])
def test_each_member_adds_the_most_of_those_that_follow(method, include, door):
    found = lm.select(DOORS[door], 5, method=method, include=include).indices.tolist()
    assert found[: len(include)] == list(include)
    for i in range(len(include), 5):
        assert found[i] == min(found[i:], key=lambda j: error([*found[:i], j]))


@pytest.mark.parametrize("method", ["swap", "iterated", "auto", "annealed"])
@pytest.mark.parametrize("fall", [0.1, 0.01])
def test_the_order_holds_where_the_residual_falls_by_many_powers_of_ten(fall, method):
    """Each column adds a tenth or a hundredth of the last direction, to parts of these."""
    n = 7
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, n)))[0]
    parts = np.eye(n) + np.triu(rng.uniform(0.0, 0.3, (n, n)), 1)
    Y = ((Q * fall ** np.arange(n)) @ parts)[:, rng.permutation(n)]
    greedy = lm.select(Y, n, method="greedy", scale=False).indices.tolist()
    assert lm.select(Y, n, method=method, scale=False).indices.tolist() == greedy
