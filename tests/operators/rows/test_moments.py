"""Sums that carry their rounding errors, against exact sums."""

import math

import numpy as np
import pytest

from landmarks.operators import sums
from landmarks.operators.sources import as_rows
from landmarks.operators.sums import Moments, Sum, added, in_order, moments_of, moments_of_rows

from .sources import cut


def total(terms: np.ndarray) -> np.ndarray:
    """The sum of some terms as blocks of rows are added."""
    found = None
    for term in terms:
        found = added(found, Sum(0, (term.copy(),)), in_place=True)
    return found.totals[0]


@pytest.mark.parametrize("shape", [(3,), (300, 300)])
def test_a_sum_is_the_exact_sum_rounded(shape):
    rng = np.random.default_rng(0)
    terms = rng.standard_normal((50, *shape)) * 10.0 ** rng.integers(-8, 8, size=(50, *shape))
    exact = [math.fsum(entries) for entries in terms.reshape(50, -1)[:, :1000].T]
    np.testing.assert_array_equal(total(terms).reshape(-1)[:1000], exact)


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


def by_formula(X):
    return Moments(float(len(X)), X.mean(axis=0), len(X) * np.cov(X, rowvar=False, ddof=0))


def test_moments_of_two_sets_of_rows_are_those_of_all_rows():
    X = np.random.default_rng(1).standard_normal((30, 4)) + 5.0
    both, whole = by_formula(X[:11]) + by_formula(X[11:]), by_formula(X)
    assert both.weight == 30
    np.testing.assert_allclose(both.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(both.scatter, whole.scatter, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(both.variance, X.var(axis=0), rtol=1e-11)
    np.testing.assert_allclose(both.gram(center=False), X.T @ X, rtol=1e-11)


def test_rows_without_weight_have_the_moments_they_had():
    nothing = Moments(0.0, np.zeros(2), np.zeros((2, 2)))
    assert (nothing + nothing) is nothing


def test_what_has_no_weight_has_no_variance():
    assert Moments(0.0, np.zeros(2), np.zeros((2, 2))).variance.tolist() == [0.0, 0.0]
    assert Moments(4.0, np.ones(2), np.diag([8.0, -1e-20])).variance.tolist() == [2.0, 0.0]
    assert by_formula(np.eye(3)).resolved("any").weight == 3


def weighted(X, w, about_mean):
    """The weight, the mean and the scatter by their formulas."""
    mean = w @ X / w.sum() if about_mean else np.zeros(X.shape[1])
    return w.sum(), mean, ((X - mean) * w[:, None]).T @ (X - mean)


TILED = np.random.default_rng(3).standard_normal((40, 3)) * [1.0, 5.0, 0.1] + [2.0, 0.0, -7.0]


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("about_mean", [False, True])
@pytest.mark.parametrize(
    "weights",
    [None, np.linspace(0.5, 3.0, 40), np.full(40, 0.01)],
    ids=["plain", "weighted", "less than one in all"],
)
@pytest.mark.parametrize("powers", [(0, 0, 0), (200, -200, 250), (-300, 0, 150)])
def test_tiles_of_any_scale_add_up_to_the_moments_of_all_rows(
    products, about_mean, weights, powers, monkeypatch
):
    monkeypatch.setattr(sums, "tile_height", lambda n: 15)
    w = np.ones(40) if weights is None else weights
    scales = np.repeat(np.asarray(powers), (7, 23, 10))
    X, top = np.ldexp(TILED, scales[:, None]), max(powers)
    weight, mean, scatter = weighted(np.ldexp(X, -top), w, about_mean)
    found, power = moments_of(X, weights, about_mean=about_mean, products=products)
    assert found.weight == pytest.approx(weight)
    assert power == 0 if top == 0 else top <= power <= top + 4
    if about_mean:
        np.testing.assert_allclose(np.ldexp(found.mean, power - top), mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        np.ldexp(found.scatter, 2 * (power - top)),
        scatter if products else np.diag(scatter),
        rtol=1e-11,
        atol=1e-13 * np.max(scatter),
    )


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("about_mean", [False, True])
def test_a_pass_over_the_rows_gives_their_moments(products, about_mean):
    X, w = np.tile(TILED, (100, 1)), np.linspace(0.0, 1.0, 4000)
    asked = {"about_mean": about_mean, "products": products}
    found, power = moments_of_rows(as_rows(cut(X, 333)), memory=10**5, weights=w, **asked)
    weight, mean, scatter = weighted(X, w, about_mean)
    assert power == 0 and found.weight == pytest.approx(weight)
    if about_mean:
        np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    expected = scatter if products else np.diag(scatter)
    np.testing.assert_allclose(found.scatter, expected, rtol=1e-11, atol=1e-9)


def test_rows_without_any_weight_leave_the_sums_at_zero():
    found, _ = moments_of(TILED, np.zeros(40), products=True)
    assert found.weight == 0 and not np.any(found.scatter)


def test_a_level_that_changes_after_the_first_block_costs_no_digits(monkeypatch):
    monkeypatch.setattr(sums, "tile_height", lambda n: 10)
    X = np.concatenate([TILED[:10], np.tile(TILED[10:], (30, 1)) + 1e8])
    exact = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    found, _ = moments_of(X, products=True)
    np.testing.assert_allclose(found.scatter, (exact.T @ exact).astype(float), rtol=1e-13)
