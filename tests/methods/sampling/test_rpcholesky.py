"""Randomly pivoted Cholesky against its exact law, by chi-square tests with a fixed seed."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

import landmarks as lm
from landmarks.errors import RankWarning

X = np.random.default_rng(2).standard_normal((6, 5)) * [1.0, 1.6, 0.8, 1.3, 1.0]
K = X.T @ X
DRAWS = 1000


def residual_matrix(S):
    S = list(S)
    return K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)]) @ K[S]


def exact_law(problem):
    """The probability of every order: the product of residual shares of its pivots."""
    free, start = problem.free.tolist(), problem.include
    return {
        start + order: chance(start, order, free)
        for order in permutations(free, problem.k - len(start))
    }


def chance(picks, order, free):
    if not order:
        return 1.0
    c = np.diag(residual_matrix(picks))
    return c[order[0]] / c[free].sum() * chance((*picks, order[0]), order[1:], free)


@pytest.mark.parametrize("block", [1, pytest.param(2, marks=pytest.mark.thorough), 7])
@pytest.mark.parametrize("constraints", [{"exclude": (1,)}, {"include": (3,)}], ids=str)
def test_ordered_pivots_follow_their_exact_law_in_every_block_size(block, constraints):
    problem, rng = lm.Problem(lm.psd(K), 3, **constraints), np.random.default_rng(11)
    law = exact_law(problem)
    assert_allclose(sum(law.values()), 1.0)
    draws = [
        tuple(lm.RPCholesky(block=block).choose(problem, rng).indices.tolist())
        for _ in range(DRAWS)
    ]
    assert (
        chisquare([draws.count(order) for order in law], [DRAWS * p for p in law.values()]).pvalue
        > 1e-4
    )


@pytest.mark.parametrize("block", [1, 4, 50, None])
@pytest.mark.parametrize("seed", range(5))
def test_rank_five_gives_five_pivots_and_no_repeats(block, seed):
    low = np.random.default_rng(seed).standard_normal((5, 40))
    with pytest.warns(RankWarning, match="numerical rank 5 < k = 20"):
        indices = lm.select(low, 20, method=lm.RPCholesky(block=block), seed=seed).indices
    assert len(np.unique(indices)) == 20 and np.linalg.matrix_rank(low[:, indices[:5]]) == 5


def test_one_at_a_time_reads_k_columns_and_multiplies_nothing():
    ledger = lm.select(lm.psd(K), 3, method=lm.RPCholesky(block=1)).ledger
    assert (ledger.columns, ledger.products) == (3, 0)


def test_where_columns_cost_a_product_none_is_wasted():
    ledger = lm.select(
        lm.function(lambda V: K @ V, n=5, diagonal=np.diag(K)), 3, method=lm.RPCholesky()
    ).ledger
    assert ledger.products == 3
