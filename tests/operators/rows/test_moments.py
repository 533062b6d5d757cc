"""Sums that carry their rounding errors, against exact sums."""

import math

import numpy as np
import pytest

from landmarks.operators.rows.files import as_rows
from landmarks.operators.rows.moments import (
    CompensatedSum,
    Moments,
    MomentSum,
    gram,
    in_order,
    part,
    squares,
    summed,
)

from .sources import cut


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


def test_a_long_sum_is_that_of_its_strips():
    rng = np.random.default_rng(0)
    terms = rng.standard_normal((3, 300, 300)) * 10.0 ** rng.integers(-8, 8, size=(3, 300, 300))
    total = CompensatedSum((300, 300))
    for term in terms:
        total.add(term)
    np.testing.assert_array_equal(
        total.total[:, ::60],
        [[math.fsum(terms[:, i, j]) for j in range(0, 300, 60)] for i in range(300)],
    )
    total.rescale(3)
    np.testing.assert_array_equal(
        total.total[:, 0], [math.fsum(terms[:, i, 0]) / 8 for i in range(300)]
    )


def test_what_has_no_weight_has_no_variance():
    assert Moments(0.0, np.zeros(2), np.zeros((2, 2))).variance.tolist() == [0.0, 0.0]
    assert Moments(4.0, np.ones(2), np.diag([8.0, -1e-20])).variance.tolist() == [2.0, 0.0]
    assert moments_of(np.eye(3)).resolved("any").weight == 3


def weighted(X, w, about_mean):
    """The weight, the mean and the scatter by their formulas."""
    mean = w @ X / w.sum() if about_mean else np.zeros(X.shape[1])
    return w.sum(), mean, ((X - mean) * w[:, None]).T @ (X - mean)


TILED = np.random.default_rng(3).standard_normal((40, 3)) * [1.0, 5.0, 0.1] + [2.0, 0.0, -7.0]


@pytest.mark.parametrize("product", [gram, squares])
@pytest.mark.parametrize("about_mean", [False, True])
@pytest.mark.parametrize(
    "weights",
    [None, np.linspace(0.5, 3.0, 40), np.full(40, 0.01)],
    ids=["plain", "weighted", "less than one in all"],
)
@pytest.mark.parametrize("powers", [(0, 0, 0), (200, -200, 250), (-300, 0, 150)])
def test_tiles_of_any_scale_add_up_to_the_moments_of_all_rows(product, about_mean, weights, powers):
    w = np.ones(40) if weights is None else weights
    tiles = [
        np.ldexp(tile, power) for tile, power in zip(np.split(TILED, [7, 30]), powers, strict=True)
    ]
    sums, starts = MomentSum(3, product), [0, 7, 30]
    for start, X in zip(starts, tiles, strict=True):
        inside = None if weights is None else w[start : start + len(X)]
        sums.add(part(X, float(np.max(np.abs(X))), inside, about_mean=about_mean, product=product))
    top = max(powers)
    weight, mean, scatter = weighted(np.ldexp(np.concatenate(tiles), -top), w, about_mean)
    found = sums.moments
    assert found.weight == pytest.approx(weight) and (
        sums.power == 0 if top == 0 else top <= sums.power <= top + 4
    )
    np.testing.assert_allclose(np.ldexp(found.mean, sums.power - top), mean, rtol=1e-12, atol=1e-15)
    expected = scatter if product is gram else np.diag(scatter)
    np.testing.assert_allclose(
        np.ldexp(found.scatter, 2 * (sums.power - top)),
        expected,
        rtol=1e-11,
        atol=1e-13 * np.max(scatter),
    )


@pytest.mark.parametrize("product", [gram, squares])
@pytest.mark.parametrize("about_mean", [False, True])
def test_a_pass_over_the_rows_gives_their_moments(product, about_mean):
    X, w = np.tile(TILED, (100, 1)), np.linspace(0.0, 1.0, 4000)
    sums = summed(
        as_rows(cut(X, 333)), about_mean=about_mean, product=product, memory=10**5, weights=w
    )
    weight, mean, scatter = weighted(X, w, about_mean)
    assert sums.weight == pytest.approx(weight)
    np.testing.assert_allclose(sums.moments.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(
        sums.moments.scatter,
        scatter if product is gram else np.diag(scatter),
        rtol=1e-11,
        atol=1e-9,
    )


def test_rows_without_any_weight_leave_the_sums_at_zero():
    sums = MomentSum(3, gram)
    for X in (TILED[:5], TILED[5:9]):
        sums.add(part(X, 10.0, np.zeros(len(X)), about_mean=True, product=gram))
    assert sums.weight == 0 and not np.any(sums.moments.scatter) and not np.any(sums.moments.mean)
