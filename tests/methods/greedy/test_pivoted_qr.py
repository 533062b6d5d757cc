"""Pivoted QR against LAPACK."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import landmarks as lm
from landmarks.errors import RankWarning


def lapack_pivots(X):
    return scipy.linalg.qr(X, mode="r", pivoting=True)[1]


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (20, 20)])
@pytest.mark.parametrize("seed", range(5))
def test_pivots_are_those_of_lapack(shape, seed):
    X, k = np.random.default_rng(seed).standard_normal(shape), min(shape)
    assert lm.select(X, k, method=lm.PivotedQR()).indices.tolist() == lapack_pivots(X)[:k].tolist()
    assert (
        lm.select(scipy.sparse.csc_array(X), k, method=lm.PivotedQR()).indices.tolist()
        == lapack_pivots(X)[:k].tolist()
    )


def test_pivots_agree_over_many_orders_of_magnitude():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 25)) * np.logspace(0, -4, 25)[rng.permutation(25)]
    chosen = lm.select(X, 25, method=lm.PivotedQR(), scale=False).indices
    assert chosen.tolist() == lapack_pivots(X).tolist()


def test_ties_go_to_the_lowest_index():
    assert lm.select(np.eye(4), 3, method=lm.PivotedQR()).indices.tolist() == [0, 1, 2]


def test_the_numerical_rank_is_found():
    X = np.random.default_rng(0).standard_normal((20, 3)) @ np.random.default_rng(
        1
    ).standard_normal((3, 10))
    with pytest.warns(RankWarning, match="numerical rank 3 < k = 6"):
        assert (
            lm.select(X, 6, method=lm.PivotedQR()).indices[:3].tolist()
            == lapack_pivots(X)[:3].tolist()
        )


def test_on_a_gaussian_kernel_the_second_pick_is_farthest_from_the_first():
    points = np.random.default_rng(0).uniform(size=(30, 2))
    first, second = lm.select(lm.kernel(points, lm.rbf()), 2, method=lm.PivotedQR()).indices
    assert first == 0 and second == np.argmax(np.sum((points - points[0]) ** 2, axis=1))
