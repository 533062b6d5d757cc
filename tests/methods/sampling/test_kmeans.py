"""Points nearest to the centres of k-means."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning


def clusters():
    rng = np.random.default_rng(0)
    return np.concatenate(
        [centre + 0.01 * rng.standard_normal((10, 2)) for centre in ([0, 0], [5, 0], [0, 5])]
    )


def test_every_cluster_gives_its_most_central_point():
    points = clusters()
    found = sorted(lm.select(lm.kernel(points, lm.rbf()), 3, method=lm.KMeans()).indices)
    parts = [np.arange(start, start + 10) for start in (0, 10, 20)]
    assert found == [
        part[np.argmin(np.sum((points[part] - points[part].mean(0)) ** 2, axis=1))]
        for part in parts
    ]


def test_equal_points_are_chosen_once():
    points = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    with pytest.warns(RankWarning, match="numerical rank 4 < k = 6"):
        indices = lm.select(lm.kernel(points, lm.rbf(0.5)), 6, method=lm.KMeans()).indices
    assert sorted(points[indices[:4], 0]) == [0, 1, 2, 3]


def test_an_excluded_point_is_replaced_by_the_next_nearest():
    points = np.array([[0.0], [1.0], [2.0], [10.0]])
    assert set(
        lm.select(lm.kernel(points, lm.rbf()), 2, method=lm.KMeans(), exclude=[1]).indices
    ) in (
        {0, 3},
        {2, 3},
    )
