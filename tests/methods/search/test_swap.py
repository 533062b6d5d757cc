"""Swap: a local optimum of all pairs, never worse than its start, on every operator."""

import time
import warnings

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.errors import RankWarning

CRITERIA = ["trace", "frobenius"]
K3 = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])


def data(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def error(K, S, criterion):
    S = list(S)
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


def test_swaps_on_the_trace_lead_the_way_to_a_lower_frobenius_error():
    """On average over starts; each is a local optimum and no worse than its start."""
    K = np.exp(-np.sum((data(60, 2)[:, None] - data(60, 2)) ** 2, axis=2))
    reached = {None: 0.0, "frobenius": 0.0}
    for seed, criterion in ((seed, criterion) for seed in range(10) for criterion in reached):
        found = lm.select(
            lm.psd(K),
            12,
            method=lm.Swap(start="rpcholesky", criterion=criterion),
            criterion="frobenius",
            seed=seed,
        )
        reached[criterion] += error(K, found.indices, "frobenius")
    assert reached[None] < reached["frobenius"]


@pytest.mark.thorough
@pytest.mark.parametrize("criterion", CRITERIA)
def test_swaps_in_single_precision_come_near_those_in_double(criterion):
    """A smooth kernel in float32: when rounding counted as a gain, no swap was found at all."""
    points = np.random.default_rng(1).standard_normal((2200, 2))
    K = np.exp(
        -((points[:, None, 0] - points[:, 0]) ** 2 + (points[:, None, 1] - points[:, 1]) ** 2)
        / 0.49
    )
    errors = {}
    for dtype in (np.float32, np.float64):
        operator = lm.psd(K.astype(dtype))
        start = lm.select(operator, 60, method="greedy")
        found = lm.select(operator, 60, method=lm.Swap(start=start.indices), criterion=criterion)
        errors[dtype] = [error(K, indices, criterion) for indices in (start.indices, found.indices)]
    (before, single), (_, double) = errors.values()
    assert single < before and (before - single) > 0.8 * (before - double)


def test_swap_repairs_the_matrix_on_which_greedy_fails():
    found = lm.select(lm.psd(K3), 2, method=lm.Swap())
    assert sorted(found.indices.tolist()) == [0, 1]
    assert found.error() == pytest.approx(1 / 5)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "K",
    [np.ones((7, 7)), np.eye(7), np.kron(np.eye(3), np.ones((3, 3)))],
    ids=["equal", "identity", "triplets"],
)
def test_swap_ends_on_ties(K, criterion):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = lm.select(lm.psd(K), 3, method=lm.Swap(), criterion=criterion)
    assert found.error() == pytest.approx(error(K, [0, 3, 6], criterion), abs=1e-12)


def test_redundant_members_of_the_start_are_replaced():
    X = data(20, 8)
    X = np.concatenate([X, X], axis=1)
    found = lm.select(X, 4, method=lm.Swap(start=[0, 8, 1, 9]))
    assert len({j % 8 for j in found.indices.tolist()}) == 4


def test_a_repeated_column_that_must_be_included_keeps_its_place():
    X = data(20, 6)
    X = np.concatenate([X, X[:, :1]], axis=1)
    found = lm.select(X, 4, method=lm.Swap(), include=[0, 6])
    assert {0, 6} <= set(found.indices.tolist()) and len(found) == 4


def test_a_deadline_in_the_past_returns_the_start():
    operator = lm.psd(data(20, 20).T @ data(20, 20))
    choice = lm.Swap(start=[0, 1, 2]).choose(
        lm.Problem(operator, 3, deadline=time.monotonic() - 1), np.random.default_rng(0)
    )
    assert choice.indices.tolist() == [0, 1, 2] and choice.details["swaps"] == 0


def test_the_number_of_swaps_can_be_limited():
    operator = lm.psd(data(20, 20).T @ data(20, 20))
    one, two = (
        lm.Swap(start=[0, 1, 2], max_swaps=m).choose(
            lm.Problem(operator, 3), np.random.default_rng(0)
        )
        for m in (1, 2)
    )
    assert (one.details["swaps"], two.details["swaps"]) == (1, 2)
    assert selection_error(operator, two.indices, "trace") < selection_error(
        operator, one.indices, "trace"
    )


def test_a_start_of_another_size_is_refused():
    with pytest.raises(ValueError, match="start must list k = 3 indices, got 2"):
        lm.select(np.eye(5), 3, method=lm.Swap(start=[0, 1]))
