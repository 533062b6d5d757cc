"""The k-DPP against determinants by enumeration.

Chi-square tests have a fixed seed and reject below 1e-4: there are many, and wrong laws score less.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

import landmarks as lm
from landmarks.errors import RankWarning

X = np.random.default_rng(3).standard_normal((5, 4))
K = X.T @ X
DRAWS = 1000


def law(k, include=(), exclude=()):
    """Determinants of all allowed subsets, normalised."""
    subsets = [
        S
        for S in combinations(range(len(K)), k)
        if set(include) <= set(S) and not set(exclude) & set(S)
    ]
    weights = np.array([np.linalg.det(K[np.ix_(S, S)]) for S in subsets])
    return dict(zip(subsets, weights / weights.sum(), strict=True))


def fits(draws, expected):
    assert set(draws) <= set(expected)
    return (
        chisquare(
            [draws.count(S) for S in expected], [len(draws) * p for p in expected.values()]
        ).pvalue
        > 1e-4
    )


@pytest.mark.parametrize(
    ("k", "constraints"), [(1, {}), (2, {}), (2, {"exclude": (1,)}), (3, {"include": (1,)})]
)
def test_subsets_are_drawn_in_proportion_to_their_determinants(k, constraints):
    problem, rng = lm.Problem(lm.psd(K), k, **constraints), np.random.default_rng(5)
    draws = [tuple(sorted(lm.KDPP().choose(problem, rng).indices.tolist())) for _ in range(DRAWS)]
    assert fits(draws, law(k, **constraints))


def test_beyond_the_rank_the_rank_is_drawn_and_the_rest_filled_up():
    wide = lm.data(np.random.default_rng(0).standard_normal((3, 8)))
    with pytest.warns(RankWarning, match="numerical rank 3 < k = 5"):
        indices = lm.select(wide, 5, method=lm.KDPP()).indices
    assert np.linalg.matrix_rank(wide.X[:, indices[:3]]) == 3


def test_many_columns_of_a_smooth_kernel_are_drawn_without_trouble():
    points = np.linspace(0, 1, 300)[:, None]
    selection = lm.select(lm.kernel(points, lm.rbf(sigma=0.1)), 20, method=lm.KDPP())
    assert selection.relative_error() < 1e-3
