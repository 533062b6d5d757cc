"""Sums that carry their rounding errors, against exact sums."""

import math

import numpy as np

from landmarks.operators.blocks.ahead import in_order
from landmarks.operators.moments import CompensatedSum, Moments


def test_a_compensated_sum_is_the_exact_sum_rounded():
    rng = np.random.default_rng(0)
    terms = rng.standard_normal((500, 3)) * 10.0 ** rng.integers(-8, 8, size=(500, 3))
    total = CompensatedSum((3,))
    for term in terms:
        total.add(term)
    np.testing.assert_array_equal(total.total, [math.fsum(column) for column in terms.T])


def test_results_keep_the_order_of_the_items_whatever_the_threads():
    items = [(i,) for i in range(50)]
    for ahead in (1, 2, 5):
        assert list(in_order(lambda i: i * i, items, ahead)) == [i * i for i in range(50)]


def test_no_more_items_exist_at_a_time_than_allowed():
    alive, most = set(), 0

    def items():
        nonlocal most
        for i in range(30):
            alive.add(i)
            most = max(most, len(alive))
            yield (i,)

    for done in in_order(lambda i: i, items(), 3):
        alive.discard(done)
    assert most <= 3


def moments_of(X):
    return Moments(float(len(X)), X.mean(axis=0), len(X) * np.cov(X, rowvar=False, ddof=0))


def test_moments_of_two_sets_of_rows_are_those_of_all_rows():
    X = np.random.default_rng(1).standard_normal((30, 4)) + 5.0
    both, whole = moments_of(X[:11]) + moments_of(X[11:]), moments_of(X)
    assert both.weight == 30
    np.testing.assert_allclose(both.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(both.scatter, whole.scatter, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(both.variance, X.var(axis=0), rtol=1e-11)
    np.testing.assert_allclose(both.gram(center=False), X.T @ X, rtol=1e-11)


def test_rows_without_weight_have_the_moments_they_had():
    nothing = Moments(0.0, np.zeros(2), np.zeros((2, 2)))
    assert (nothing + nothing) is nothing
