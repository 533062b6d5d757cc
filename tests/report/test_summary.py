"""What the first picks explain."""

import numpy as np

import landmarks as lm
from landmarks.operators.pair import Pair
from landmarks.report.summary import explained_shares


def test_shares_are_those_of_the_nested_choices():
    X = np.random.default_rng(0).standard_normal((20, 7))
    picks = [4, 1, 6]
    expected = [
        1 - lm.select(X, r, method=lm.Swap(start=picks[:r], max_swaps=0)).relative_error()
        for r in (1, 2, 3)
    ]
    np.testing.assert_allclose(
        explained_shares(Pair(lm.data(X), X.shape[1]), picks), expected, rtol=1e-12
    )


def test_they_end_at_the_rank():
    X = np.ones((5, 3))
    np.testing.assert_allclose(explained_shares(Pair(lm.data(X), X.shape[1]), [0, 2]), [1.0])
