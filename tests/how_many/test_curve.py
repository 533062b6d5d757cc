"""The curve of error against k."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import RankWarning


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 6)) @ rng.standard_normal((6, 25)) + 0.1 * rng.standard_normal(
        (40, 25)
    )


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_every_point_is_the_error_of_its_choice(X, criterion, xp):
    curve = lm.path(xp.asarray(X), [2, 5, 11, 20], criterion=criterion)
    assert curve.criterion == criterion
    for k, relative in zip(curve.ks, curve.relative, strict=True):
        chosen = lm.select(X, int(k), method="greedy", criterion=criterion)
        assert np.array_equal(curve.indices[:k], chosen.indices)
        assert_allclose(relative, chosen.relative_error(), atol=1e-9)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_errors_never_rise(X, criterion):
    assert np.all(np.diff(lm.path(X, range(1, 26), criterion=criterion).relative) <= 0)


def test_thirty_points_cost_no_more_than_twice_the_last(X):
    kernel = lm.kernel(np.random.default_rng(1).standard_normal((300, 3)), lm.rbf())
    lm.path(kernel, range(1, 60, 2))
    alone = lm.select(lm.kernel(kernel.points, lm.rbf()), 59, method="greedy").ledger.products
    assert kernel.ledger.products <= 2 * alone


def test_the_smallest_k_for_an_error_is_the_first_that_reaches_it(X):
    curve = lm.path(X, range(1, 26))
    k = curve.smallest(error=0.05)
    assert curve.relative[k - 1] <= 0.05 < curve.relative[k - 2]
    with pytest.raises(ValueError, match="no k up to 2 has a relative error of at most 0.0001"):
        lm.path(X, [1, 2]).smallest(error=1e-4)


def test_the_knee_is_at_the_planted_rank(X):
    assert abs(lm.path(X, range(1, 26)).knee() - 6) <= 1


def test_constraints_are_honoured_and_beyond_the_rank_nothing_is_left(X):
    curve = lm.path(X, [3], include=[7], exclude=[0])
    assert curve.indices[0] == 7 and 0 not in curve.indices
    with pytest.warns(RankWarning):
        assert lm.path(np.ones((4, 3)), [1, 3], scale=False).relative == pytest.approx(
            0.0, abs=1e-30
        )


@pytest.mark.parametrize(
    ("ks", "message"),
    [([], "at least one"), ([0], "between 1 and n = 25"), ([26], "between 1 and n = 25")],
)
def test_wrong_sizes_are_reported(X, ks, message):
    with pytest.raises(ValueError, match=message):
        lm.path(X, ks)


def test_the_sizes_of_a_curve_rise_and_come_once(X):
    curve = lm.path(X, [5, 2, 5, np.int64(3)])
    assert curve.ks.tolist() == [2, 3, 5] and len(curve.indices) == 5 and curve.criterion == "trace"
    assert curve.smallest(error=float(curve.relative[1])) == 3
    assert lm.path(np.zeros((3, 2)) + 1e-300, [1], scale=False).relative[0] < 1e-30
