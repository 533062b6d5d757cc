"""Equal candidates: the first ones are chosen, in their order.

There are more than 16 of them, and long and short ones alternate without a pattern: otherwise NumPy
keeps the order of equal numbers even where it is not asked to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import landmarks as lm

N = 60
LENGTHS = np.where(np.random.default_rng(45).random(N) < 0.4, 2.0, 1.0)
X = np.diag(LENGTHS)
FIRST = np.flatnonzero(LENGTHS == 2)[:4].tolist()
NEXT = int(np.flatnonzero(LENGTHS == 2)[4])
METHODS = [
    "greedy",
    lm.Greedy(gain="frobenius"),
    "nuclear",
    "pivoted_qr",
    "swap",
    lm.Iterated(rounds=2),
    "exact",
    "knapsack",
    lm.Continuous(strategy="path", n_probes=None),
    "auto",
]


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_first_of_equal_columns_are_chosen(method: Any, criterion: str) -> None:
    assert lm.select(X, 4, method=method, criterion=criterion).indices.tolist() == FIRST
    assert lm.select(lm.psd(X @ X), 4, method=method, criterion=criterion).indices.tolist() == FIRST


@pytest.mark.parametrize("method", ["greedy", "swap", "exact", "auto"])
def test_the_first_of_equal_columns_are_chosen_for_a_target(method: str) -> None:
    target = np.diag(X)[:, None] - 1.0
    assert lm.select(X, 3, method=method, target=target).indices.tolist() == FIRST[:3]


def test_a_run_for_a_target_that_is_stopped_fills_up_with_the_first_of_equal_columns() -> None:
    target = np.diag(X)[:, None] - 1.0
    s = lm.select(X, 4, method="greedy", target=target, callback=lambda progress: True)
    assert s.stopped and s.indices.tolist() == FIRST


def test_the_first_of_equal_groups_are_chosen() -> None:
    groups = np.arange(2 * N) // 2
    found = lm.select(np.diag(np.repeat(LENGTHS, 2)), 3, groups=groups)
    assert found.indices.tolist() == [j for g in FIRST[:3] for j in (2 * g, 2 * g + 1)]


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_a_run_for_a_target_that_is_stopped_leaves_out_what_is_excluded(size: float) -> None:
    target = size * (np.diag(X)[:, None] - 1.0)
    s = lm.select(
        X, 4, method="greedy", target=target, exclude=FIRST[:1], callback=lambda progress: True
    )
    assert s.indices.tolist() == [*FIRST[1:], NEXT]


def test_algorithm_1_lists_columns_of_equal_weight_from_the_first_on() -> None:
    method = lm.Continuous(penalty=0.01, n_probes=None, threshold=0.01)
    found = lm.select(X, method=method)
    weights = found.path.t[-1][found.indices]
    order = np.lexsort((found.indices, -weights))
    assert len(found) == N and found.indices.tolist() == found.indices[order].tolist()
