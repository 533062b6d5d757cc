"""Arithmetic with 106 bits, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from landmarks.proof import twofold
from landmarks.proof.conditioned import dependent

pytestmark = pytest.mark.thorough


def exact(a, *index):
    return Fraction(float(a.high[index])) + Fraction(float(a.low[index]))


def random(n, seed):
    rng = np.random.default_rng(seed)
    return twofold.two_sum(rng.standard_normal(n), 1e-17 * rng.standard_normal(n))


@pytest.mark.parametrize(
    "ours, true",
    [
        (twofold.add, lambda x, y: x + y),
        (twofold.subtract, lambda x, y: x - y),
        (twofold.multiply, lambda x, y: x * y),
        (twofold.divide, lambda x, y: x / y),
    ],
)
def test_operations_are_right_to_a_unit(ours, true):
    a, b = random(200, 0), random(200, 1)
    found = ours(a, b)
    for i in range(200):
        expected = true(exact(a, i), exact(b, i))
        assert abs(exact(found, i) - expected) <= abs(expected) * Fraction(twofold.UNIT)


def test_the_outer_product_is_that_of_the_entries():
    a, b = random(5, 2), random(6, 3)
    found = twofold.outer(a, b)
    for i in range(5):
        for j in range(6):
            expected = exact(a, i) * exact(b, j)
            assert abs(exact(found, i, j) - expected) <= abs(expected) * Fraction(twofold.UNIT)


@pytest.mark.parametrize("m, n, scales", [(7, 4, 0), (40, 5, 12), (2000, 3, 3)])
def test_the_gram_matrix_is_right_to_a_hundred_bits(m, n, scales):
    X = np.random.default_rng(m).standard_normal((m, n)) * np.geomspace(1, 10.0**-scales, n)
    K = twofold.gram(X)
    norms = np.linalg.norm(X, axis=0)
    for i in range(n):
        for j in range(n):
            pairs = zip(X[:, i].tolist(), X[:, j].tolist(), strict=True)
            expected = sum(Fraction(x) * Fraction(y) for x, y in pairs)
            assert abs(float(exact(K, i, j) - expected)) <= 2.0**-100 * norms[i] * norms[j]


@pytest.mark.parametrize("change, expected", [(0.0, True), (2.0**-60, False)])
def test_dependence_is_exact(change, expected):
    X = np.round(np.random.default_rng(0).standard_normal((6, 3)) * 8) / 8
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 2]])
    X[0, 3] = X[0, 3] if change == 0.0 else 0.0
    X[0] = X[0] if change == 0.0 else [0.0, change, 0.0, 2 * change]
    assert dependent(X) is expected


def test_more_columns_than_rows_are_dependent():
    assert dependent(np.random.default_rng(0).standard_normal((2, 3)))


def test_sums_and_products_of_floats_are_exact():
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal(300), rng.standard_normal(300) * np.geomspace(1e-9, 1e9, 300)
    total, product = twofold.two_sum(a, b), twofold.two_product(a, b)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        assert exact(total, i) == Fraction(x) + Fraction(y)
        assert exact(product, i) == Fraction(x) * Fraction(y)
    high, low = twofold.halves(a)
    np.testing.assert_array_equal(high + low, a)
    for half in (high, low):
        assert np.all(np.ldexp(np.frexp(half)[0], 26) % 1 == 0)
