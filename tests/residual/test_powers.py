"""The diagonals of the powers of a residual: changes, gains, rounding, against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import DEPTH, plain

from landmarks.operators import dense
from landmarks.operators.dense import Dense
from landmarks.residual.base import Base
from landmarks.residual.powers import Powers, best_addition, gain, rank_one
from landmarks.residual.stored_powers import StoredPowers

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9, 6))
C = X.T @ X
FLOOR = np.array([1e-9, 1e-9, 1e-9, 1e9, 1e-9, 1e-9])  # column 3 counts as represented
UNIT = 1e-10
PAIR = plain(Dense(C))


def diagonals(C: np.ndarray, count: int) -> list[np.ndarray]:
    return [np.diag(np.linalg.matrix_power(C, p)).copy() for p in range(1, count + 1)]


def powers(count: int) -> Powers:
    return Powers(diagonals(C, count), FLOOR, UNIT, PAIR)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_rank_one_change_is_that_of_the_matrix(count, sign):
    v = RNG.standard_normal(6)
    x = [np.linalg.matrix_power(C, p) @ v for p in range(count)]
    after = diagonals(C + sign * np.outer(v, v), count)
    changes = [new - old for new, old in zip(after, diagonals(C, count), strict=True)]
    np.testing.assert_allclose(rank_one(sign, x, PAIR), changes, rtol=1e-9)


@pytest.mark.parametrize("count", [2, 3])
def test_the_gain_is_the_fall_of_the_error(count):
    for j in range(6):
        left = C - np.outer(C[:, j], C[:, j]) / C[j, j]
        fall = np.trace(C) - np.trace(left) if count == 2 else np.sum(C**2) - np.sum(left**2)
        found = gain(*(diagonal[j] for diagonal in diagonals(C, count)))
        assert found == pytest.approx(fall, rel=1e-9)


def test_what_is_put_in_leaves_its_rounding_and_what_is_taken_out_does_not():
    v = 3.0 * np.linspace(1.0, 2.0, 6) * np.array([1, -1, 1, 1, -1, -1])
    x = [v, C @ v]
    found, before = powers(2), powers(2)
    found.change(1.0, x)
    np.testing.assert_allclose(found.diagonals, diagonals(C + np.outer(v, v), 2), rtol=1e-9)
    found.change(-1.0, [v, (C + np.outer(v, v)) @ v])
    np.testing.assert_allclose(found.diagonals, before.diagonals, rtol=1e-9)
    assert all(np.all(e > b) for e, b in zip(found.errors, before.errors, strict=True))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_gain_has_a_lower_and_an_upper_bound(side):
    (c, a), found = diagonals(C, 2), powers(2)
    found.errors[1] = 0.1 * a
    expected = np.where(np.arange(6) == 3, 0.0, np.maximum(a * (1 + 0.1 * side), c * c) / c)
    np.testing.assert_allclose(found.gains(side), expected)
    np.testing.assert_allclose(found.gains(), found.gains(-1.0))
    assert found.doubt() == pytest.approx(np.max(found.gains(1.0) - found.gains(-1.0)))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_gain_in_the_squares_has_a_lower_and_an_upper_bound(side):
    (c, a, b), found = diagonals(C, 3), powers(3)
    found.errors[1:] = [0.001 * a, 0.1 * b]
    squares, cubes = a * (1 - 0.001 * side), np.maximum(b * (1 + 0.1 * side), a * a / c)
    expected = 2 * cubes / c - (np.maximum(squares, c * c) / c) ** 2
    np.testing.assert_allclose(found.gains(side), np.where(np.arange(6) == 3, 0.0, expected))


def test_a_doubtful_column_is_computed_again_until_one_is_sure():
    (c, a), asked, refreshed = diagonals(C, 2), list[int](), list[int]()
    order = [j for j in np.argsort(-a / c) if j != 3]
    found = powers(2)
    found.errors[1] = 0.9 * a

    def recompute(j):
        asked.append(j)
        return [c[j], a[j]]

    best = best_addition(found, np.ones(6), recompute, lambda: refreshed.append(1))
    assert best == order[0] and asked[0] == order[0] and len(set(asked)) == len(asked)
    assert refreshed == []
    others = np.where(np.arange(6) == order[0], 0.0, 1.0)
    assert best_addition(found, others, recompute, lambda: None) == order[1]
    assert best_addition(found, np.zeros(6), recompute, lambda: None) is None


def test_the_powers_of_a_stored_matrix_give_the_columns_of_the_powers_of_what_is_left():
    members = np.array([4, 1])
    W = np.linalg.solve(C[np.ix_(members, members)], C[members])
    left = C - C[:, members] @ W
    rows = [W, W @ left, W @ left @ left]
    stored = StoredPowers(PAIR, 2)
    for power in (1, 2):
        found = stored.column(power, 2, rows, members)
        np.testing.assert_allclose(found, np.linalg.matrix_power(left, power + 1)[:, 2], atol=1e-9)


def test_a_power_is_used_while_it_has_the_digits_of_the_residual():
    stored = StoredPowers(PAIR, 2)
    totals = [1.0, 1.0, 1.0]
    for traces, count in (([1, 1e-8, 1e-7], 3), ([1, 1e-8, 9e-8], 2), ([1, 9e-9, 1.0], 1)):
        assert len(stored.usable(traces, totals)) == count
    np.testing.assert_allclose(stored.usable([1, 1, 1], totals)[2], C @ C @ C, atol=1e-12)


@pytest.mark.parametrize("n", [5, 511, 512, 700])
def test_half_of_a_symmetric_product_gives_all_of_it(n):
    A = RNG.standard_normal((n, n))
    A = A + A.T
    found = dense.symmetric_product(A @ A, A)
    np.testing.assert_allclose(found, A @ A @ A, rtol=1e-9, atol=1e-9 * n)
    np.testing.assert_array_equal(dense.symmetric_product(A, A), A @ A.T)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_total_is_the_error_of_choosing_nothing(criterion):
    found = Base(plain(Dense(C)), DEPTH[criterion], 2)
    assert found.total == pytest.approx(np.trace(C) if criterion == "trace" else np.sum(C * C))
    assert found.largest == pytest.approx(np.max(np.diag(C)))
    expected = diagonals(C, 2 if criterion == "trace" else 3)
    np.testing.assert_allclose(found.of_K, expected, rtol=1e-12)
