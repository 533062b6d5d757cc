"""Backward elimination."""

from __future__ import annotations

import numpy as np
import pytest

from landmarks.methods.annealed.elimination import eliminate, explained

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 9))
K = X.T @ X


def blocks(S, criterion):
    parts = [K, K @ K, K @ K @ K]
    return [part[np.ix_(S, S)] for part in parts[: 2 if criterion == "trace" else 3]]


def error(S, criterion):
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)]) @ K[S]
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_each_drop_is_the_one_that_costs_least(criterion):
    S = [0, 2, 3, 5, 6, 8]
    expected = list(S)
    while len(expected) > 3:
        expected = min(
            ([i for i in expected if i != j] for j in expected), key=lambda T: error(T, criterion)
        )
    assert [S[i] for i in eliminate(blocks(S, criterion), 3)] == expected


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_explained_is_the_fall_of_the_error(criterion):
    S = [1, 4, 7]
    whole = np.trace(K) if criterion == "trace" else np.sum(K * K)
    assert explained(blocks(S, criterion), ridge=1e-10) == pytest.approx(
        whole - error(S, criterion), rel=1e-7
    )  # as the ridge


def test_kept_columns_stay():
    assert eliminate(blocks([3, 1, 2, 0], "trace"), 2, keep=2).tolist() == [0, 1]


def test_of_duplicates_one_goes_first():
    D = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1e-2]])
    left = eliminate([D, D @ D, D @ D @ D], 2)
    assert 2 in left


def test_columns_that_nearly_coincide_do_not_spoil_the_rest():
    Y = RNG.standard_normal((80, 40))
    near = np.concatenate([Y, Y[:, :20] + 1e-5 * RNG.standard_normal((80, 20))], axis=1)
    G = near.T @ near
    left = eliminate([G, G @ G], 40)
    assert sorted(left % 40) == list(range(40))
