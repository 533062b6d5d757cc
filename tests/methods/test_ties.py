"""Equal candidates: the first ones are chosen, in their order.

There are more than 16 of them: NumPy sorts up to 16 numbers in a stable way whatever it is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.greedy.block_picks import highest_scores
from landmarks.methods.relaxation.box import largest
from landmarks.methods.relaxation.continuous import _ranking as ranking
from landmarks.methods.search.iterated import disturbed
from landmarks.methods.search.local_search import Landscape
from landmarks.methods.search.local_search import _promising as promising
from landmarks.methods.trajectory import Trajectory
from landmarks.proof.dual import fermi
from landmarks.residual.pivoted_factor import _proposed as proposed

N = 60
X = np.diag(np.where(np.arange(N) % 3 == 1, 2.0, 1.0))  # columns 1, 4, 7, … are the longer ones
FIRST = [1, 4, 7, 10]
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


@pytest.mark.parametrize("method", ["greedy", "nuclear", "pivoted_qr"])
def test_a_run_that_is_stopped_fills_up_with_the_first_of_equal_columns(method: str) -> None:
    s = lm.select(X, 4, method=method, callback=lambda progress: progress.phase == method)
    assert s.stopped and s.indices.tolist() == FIRST


@pytest.mark.parametrize("method", ["rpcholesky", "leverage"])
def test_a_draw_that_is_stopped_fills_up_with_the_first_of_equal_columns(method: str) -> None:
    s = lm.select(X, 4, method=method, callback=lambda progress: progress.phase == method)
    drawn = int(s.indices[0])
    assert s.indices[1:].tolist() == [j for j in [*FIRST, 13] if j != drawn][:3]


def test_a_run_for_a_target_that_is_stopped_fills_up_with_the_first_of_equal_columns() -> None:
    target = np.diag(X)[:, None] - 1.0
    s = lm.select(X, 4, method="greedy", target=target, callback=lambda progress: True)
    assert s.stopped and s.indices.tolist() == FIRST


def test_the_first_of_equal_groups_are_chosen() -> None:
    groups = np.arange(N) // 2
    found = lm.select(np.eye(N), 3, groups=groups)
    assert found.indices.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_a_run_for_a_target_that_is_stopped_leaves_out_what_is_excluded(size: float) -> None:
    target = size * (np.diag(X)[:, None] - 1.0)
    s = lm.select(
        X, 4, method="greedy", target=target, exclude=[0, 1, 2], callback=lambda progress: True
    )
    assert s.indices.tolist() == [4, 7, 10, 13]


def test_equal_numbers_are_taken_from_the_first_on() -> None:
    """Of 40, the places that each part of the methods ranks first."""
    ones, first = np.ones(40), [0, 1, 2, 3, 4]
    assert highest_scores(ones, 5)[0].tolist() == first
    assert largest(ones, 5).tolist() == first
    assert promising(np.arange(40), ones).tolist() == first
    assert proposed(ones, np.zeros(40), 5)[0].tolist() == first
    assert fermi.largest(ones, 5)[1].tolist() == [1.0] * 5 + [0.0] * 35


def test_equal_weights_are_ranked_from_the_first_on() -> None:
    path = Trajectory(np.full((1, 40), 0.5), np.zeros(1), np.zeros(1), np.zeros(1))
    problem = lm.Problem(lm.psd(np.eye(40)), 2)
    rest = [j for j in range(40) if j not in (30, 7)]
    assert ranking(problem, np.array([30, 7]), path).tolist() == [30, 7, *rest]


def test_an_algorithm_1_without_gradients_lists_equal_columns_from_the_first_on() -> None:
    method = lm.Continuous(penalty=1e-3, n_probes=None)
    assert lm.select(np.eye(40), method=method).indices.tolist() == list(range(40))


def test_of_equal_members_the_first_are_dropped() -> None:
    landscape = Landscape.of(lm.Problem(lm.psd(np.eye(60)), 40), "trace")
    state = landscape.state(np.arange(40))
    trial, near = disturbed(landscape, state, 0.25, True, np.random.default_rng(0))
    gone = np.setdiff1d(np.arange(40), trial.chosen)
    drawn = int(np.setdiff1d(gone, np.arange(10)).max(initial=gone.max()))
    assert gone.tolist() == sorted([*[j for j in range(40) if j != drawn][:9], drawn])
    assert near.tolist() == sorted([*[j for j in range(40) if j != drawn][: len(near) - 1], drawn])
