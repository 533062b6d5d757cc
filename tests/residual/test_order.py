"""The order of a choice is that of greedy selection among its members."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.residual.explicit import Factored
from landmarks.residual.order import greedy_order

X = np.random.default_rng(3).standard_normal((14, 10)) * np.linspace(1, 3, 10)


def error(S: list[int]) -> float:
    left = X - X[:, S] @ np.linalg.lstsq(X[:, S], X, rcond=None)[0]
    return float(np.sum(left * left))


@pytest.mark.parametrize("form", [lambda: lm.psd(X.T @ X), lambda: lm.data(X), lambda: Factored(X)])
@pytest.mark.parametrize("include", [(), (8,), (5, 2)])
def test_a_choice_is_put_into_the_order_of_what_each_adds(form, include):
    chosen, expected = [1, 8, 3, 9, 5], [j for j in include if j != 2]
    while len(expected) < 5:
        rest = [j for j in chosen if j not in expected]
        expected.append(min(rest, key=lambda j: error([*expected, j])))
    problem = lm.Problem(form(), 5, include=include)
    assert greedy_order(problem, np.asarray(chosen)).tolist() == expected


def test_columns_that_add_nothing_come_last_in_their_order():
    Y = X.copy()
    Y[:, 2], Y[:, 7] = 2 * Y[:, 1], -Y[:, 1]
    found = greedy_order(lm.Problem(lm.data(Y), 4), np.array([7, 2, 9, 1])).tolist()
    assert 9 in found[:2] and sorted(found) == [1, 2, 7, 9]
    assert found[2:] == [j for j in (7, 2, 1) if j not in found[:2]]


@pytest.mark.parametrize("fall", [0.1, 0.01])
def test_the_order_holds_where_the_residual_falls_by_many_powers_of_ten(fall):
    """Each column adds a tenth or a hundredth of the last direction, to parts of these."""
    n = 7
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, n)))[0]
    parts = np.eye(n) + np.triu(rng.uniform(0.0, 0.3, (n, n)), 1)
    Y = (Q * fall ** np.arange(n)) @ parts
    moved = rng.permutation(n)
    rows = Factored(np.ascontiguousarray(Y[:, moved]))
    greedy = lm.select(rows, n, method="greedy").indices.tolist()
    assert greedy_order(lm.Problem(rows, n), np.arange(n)).tolist() == greedy
