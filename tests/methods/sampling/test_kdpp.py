"""The k-DPP against determinants by enumeration.

Chi-square tests have a fixed seed and reject below 1e-4: there are many, and wrong laws score less.
"""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.sampling.kdpp import draw_eigenvalues, draw_projection, log_elementary

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


def test_elementary_polynomials_are_the_coefficients_of_the_polynomial_of_the_roots():
    values = np.array([0.1, 2.0, 3.5, 1.2, 0.7])
    assert_allclose(np.exp(log_elementary(values, 5)[-1]), np.poly(-values), rtol=1e-13)


def test_elementary_polynomials_do_not_overflow():
    E = log_elementary(np.full(2000, 1e200), 1000)
    assert np.all(np.isfinite(E[1000:]))
    assert_allclose(E[2000, 2], np.log(1999000.0) + 400 * np.log(10), rtol=1e-13)


def test_eigenvalues_are_drawn_in_proportion_to_their_products():
    values, rng = np.array([1.0, 2.0, 0.5, 3.0]), np.random.default_rng(0)
    draws = [tuple(sorted(draw_eigenvalues(values, 2, rng).tolist())) for _ in range(DRAWS)]
    products = {S: np.prod(values[list(S)]) for S in combinations(range(4), 2)}
    assert fits(draws, {S: p / sum(products.values()) for S, p in products.items()})


def test_a_projection_is_drawn_by_its_determinants():
    V, rng = np.linalg.qr(X[:4, :2])[0], np.random.default_rng(0)
    draws = [tuple(sorted(draw_projection(V, rng))) for _ in range(DRAWS)]
    assert fits(draws, {S: np.linalg.det(V[list(S)]) ** 2 for S in combinations(range(4), 2)})


def test_beyond_the_rank_the_rank_is_drawn_and_the_rest_filled_up():
    wide = lm.data(np.random.default_rng(0).standard_normal((3, 8)))
    with pytest.warns(RankWarning, match="numerical rank 3 < k = 5"):
        indices = lm.select(wide, 5, method=lm.KDPP()).indices
    assert np.linalg.matrix_rank(wide.X[:, indices[:3]]) == 3


def test_many_columns_of_a_smooth_kernel_are_drawn_without_trouble():
    points = np.linspace(0, 1, 300)[:, None]
    selection = lm.select(lm.kernel(points, lm.rbf(sigma=0.1)), 20, method=lm.KDPP())
    assert selection.relative_error() < 1e-3


def test_where_all_are_included_nothing_is_drawn():
    assert lm.select(np.eye(3), 3, method="kdpp", include=[2, 0, 1]).indices.tolist() == [2, 0, 1]
