"""The number of columns against the errors of every prefix."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.estimators.how_many import explained_shares, fewest

X = np.random.default_rng(0).standard_normal((40, 12)) * 0.7 ** np.arange(12)


def test_shares_are_those_of_the_projection():
    picks = np.array([0, 3, 1])
    expected = [1 - left_after(picks[:k]) for k in (1, 2, 3)]
    np.testing.assert_allclose(explained_shares(lm.data(X), picks), expected)


def left_after(picks: np.ndarray) -> float:
    B = np.linalg.lstsq(X[:, picks], X, rcond=None)[0]
    return np.sum((X - X[:, picks] @ B) ** 2) / np.sum(X**2)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
def test_one_column_fewer_would_not_be_enough(share):
    k = fewest(lm.data(X), share, [], [])
    greedy = lm.select(X, k, method="greedy").indices
    assert 1 - left_after(greedy) >= share
    assert k == 1 or 1 - left_after(greedy[:-1]) < share


def test_everything_is_explained_at_the_rank():
    low_rank = X[:, :5] @ np.random.default_rng(1).standard_normal((5, 30))
    assert fewest(lm.data(low_rank), 1.0, [], []) == 5


def test_all_included_columns_are_kept():
    assert fewest(lm.data(X), 0.01, [7, 8, 9], []) == 3


def test_a_share_out_of_reach_is_said():
    with pytest.warns(UserWarning, match=r"explained_variance=0.95 cannot be reached: the columns that exclude leaves explain 0\.\d+"):
        assert fewest(lm.data(np.eye(4)), 0.95, [], [0, 1]) == 2


def test_nothing_to_explain_takes_one_column():
    assert fewest(lm.data(np.zeros((3, 4))), 0.95, [], []) == 1
