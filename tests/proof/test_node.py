"""Bounds below some picks: eigenvalues of the residual, and of the candidates' span."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg

import landmarks as lm
from landmarks.proof.conditioned import conditioned
from landmarks.proof.node import Node

pytestmark = pytest.mark.thorough

X = np.random.default_rng(2).standard_normal((14, 9)) * np.linspace(1, 3, 9)
K = X.T @ X
SOME = np.array([1, 3, 4, 6, 8])
each_criterion = pytest.mark.parametrize("depth", [1, 2], ids=["trace", "frobenius"])


def node(candidates: np.ndarray, r: int, depth: int, picks: tuple[int, ...] = ()) -> Node:
    state, unknown = conditioned(lm.Problem(lm.psd(K), 4)).pick_all(picks)
    assert unknown == 0
    return Node(state, candidates, r, depth)


def residual(*picks: int) -> np.ndarray:
    S = list(picks)
    return K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]) if S else K


def error(C: np.ndarray, depth: int) -> float:
    return float(np.sum(C * C) if depth == 2 else np.trace(C))


@each_criterion
@pytest.mark.parametrize("picks", [(), (0,), (7, 2)])
def test_the_tail_is_that_of_the_eigenvalues(picks, depth):
    C = residual(*picks)
    values = scipy.linalg.eigvalsh(C)[::-1] ** (2 if depth == 2 else 1)
    found = node(SOME, 2, depth, picks)
    assert found.error == pytest.approx(error(C, depth), rel=1e-12)
    for r in (0, 1, 3):
        expected = np.sum(values[r:])
        assert expected * (1 - 1e-9) <= found.tail(r) <= expected


@each_criterion
@pytest.mark.parametrize("r", [1, 2, 5])
def test_the_tail_of_the_span_is_what_its_best_directions_leave(r, depth):
    C = residual(0)
    root = scipy.linalg.inv(scipy.linalg.sqrtm(C[np.ix_(SOME, SOME)]))
    values = scipy.linalg.eigvalsh(root @ (C @ C)[np.ix_(SOME, SOME)] @ root)[::-1]
    if depth == 2:
        left = C - C[:, SOME] @ np.linalg.solve(C[np.ix_(SOME, SOME)], C[SOME])
        expected = np.sum(left**2) + np.sum(values[r:] ** 2)
    else:
        expected = np.trace(C) - np.sum(values[:r])
    found = node(SOME, r, depth, (0,)).span_tail()
    # the bound of the span is used while it is known to 1e-9
    assert found == pytest.approx(expected, rel=2e-9) and found <= expected


@each_criterion
def test_the_bound_is_below_every_choice_and_the_better_of_two_tails(depth):
    found = node(SOME, 2, depth, (0,))
    best = min(error(residual(0, *S), depth) for S in combinations(SOME.tolist(), 2))
    assert found.bound() == max(found.tail(2), found.span_tail()) <= best
    assert depth == 2 or found.span_tail() > found.tail(2)
    every = node(np.arange(1, 9), 2, depth, (0,))
    assert every.bound() == every.tail(2)


def test_without_candidates_the_error_stays():
    found = node(np.zeros(0, dtype=np.int64), 2, 1, (0,))
    assert found.bound() == pytest.approx(found.error, rel=1e-12) and found.bound() < found.error


def test_candidates_that_represent_one_another_are_bounded_by_the_eigenvalues_alone():
    Y = X.copy()
    Y[:, 3] = Y[:, 1] * (1 + 1e-9) + 1e-9 * Y[:, 5]
    state = conditioned(lm.Problem(lm.data(Y), 4))
    found = Node(state, np.array([1, 3, 4]), 2, 1)
    assert found.span_tail() == 0 and found.bound() == found.tail(2)


def test_doubt_grows_as_the_residual_of_a_candidate_falls():
    free = node(SOME, 2, 1).doubts
    later = node(SOME, 2, 1, (0, 2, 5, 7)).doubts
    assert np.all(later > free) and np.all(free > 0)


def test_without_picks_a_residual_is_known_to_the_digits_of_the_matrix():
    found = node(SOME, 2, 1)
    expected = 16 * (9 + 8) * 2.0**-53 + 8 * found.state.omega * 3  # 3 is the root of n = 9
    np.testing.assert_allclose(found.doubts, expected, rtol=1e-12)
