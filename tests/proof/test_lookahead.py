"""Which candidates are left, and which of them are independent."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import landmarks as lm
from landmarks.proof.conditioned import conditioned
from landmarks.proof.lookahead import (
    allowed,
    independent,
    largest_after,
    tails_after,
    uncertainties,
)
from landmarks.proof.node import Node

pytestmark = pytest.mark.thorough

X = np.random.default_rng(4).standard_normal((12, 7))
FREE = np.array([0, 2, 3, 5, 6])


def with_copy() -> np.ndarray:
    Y = X.copy()
    Y[:, 5] = 4 * Y[:, 1]
    return Y


def test_candidates_that_the_picks_represent_are_left_out():
    state = conditioned(lm.Problem(lm.data(with_copy()), 3))
    assert allowed(state, FREE).tolist() == FREE.tolist()
    assert allowed(state.pick(1), FREE).tolist() == [0, 2, 3, 6]


def test_nothing_is_said_where_rounding_hides_a_candidate():
    Y = np.round(with_copy() * 64)
    Y[:, 5] = 4 * Y[:, 1]
    K = Y.T @ Y
    K[0, 5] = K[5, 0] = np.nextafter(K[0, 5], np.inf)  # nearly a copy of column 1
    state = conditioned(lm.Problem(lm.psd(K), 3)).pick(1)
    assert state.doubtful[5] and not state.represented(5)
    assert allowed(state, FREE) is None
    assert allowed(state, FREE[:3]).tolist() == [0, 2, 3]


@pytest.mark.parametrize("depth", [1, 2])
def test_each_candidate_has_a_bound_of_the_choices_with_it(depth):
    operator = lm.data(X)
    state = conditioned(lm.Problem(operator, 2))
    found = tails_after(Node(state, FREE, 2, depth))
    K = state.matrix
    for bound, j in zip(found, FREE, strict=True):
        best = np.inf
        for S in combinations(FREE.tolist(), 2):
            if j in S:
                left = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[list(S)])
                best = min(best, np.sum(left**2) if depth == 2 else np.trace(left))
        assert 0.5 * best < bound <= best


def test_independent_candidates_come_with_a_bound_for_the_rest():
    free = np.array([1, 3, 5, 6])
    state = conditioned(lm.Problem(lm.data(X), 2))
    core, bound = independent(state, free, None)
    assert core.tolist() == free.tolist() and bound == np.inf
    state = conditioned(lm.Problem(lm.data(with_copy()), 2))
    assert independent(state, free, None)[0].tolist() == [1, 3, 6]
    assert independent(state, free, None)[1] is None
    core, bound = independent(state, free, np.array([4.0, 9.0, 3.0, 8.0]))
    assert core.tolist() == [3, 5, 6] and bound == 4.0  # 1 is left to its tail
    core, bound = independent(state, free, np.array([2.0, 9.0, 3.0, 8.0]))
    assert core.tolist() == [1, 3, 6] and bound == 3.0


NOTHING = np.zeros(0, dtype=np.int64)


def data(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


@pytest.mark.parametrize("count", [1, 3, 12])
def test_the_roots_are_just_above_the_eigenvalues(count):
    rng = np.random.default_rng(0)
    values = np.sort(rng.uniform(0, 1, 40))[::-1] ** 3
    values[5], values[20] = values[4], values[19]
    w = np.sqrt(values / 40)[:, None] * rng.standard_normal((40, 6))
    w[7], w[:, 5] = 0.0, 0.0
    found = largest_after(values, w * w, count)
    for a in range(6):
        after = np.diag(values) - np.outer(w[:, a], w[:, a])
        known = np.linalg.eigvalsh(after)[::-1][:count]
        assert np.all(found[:, a] >= known - 1e-13)
        # groups of eight far below raise the roots a little
        np.testing.assert_allclose(found[:, a], known, atol=2e-3)


@pytest.mark.parametrize("depth", [1, 2])
def test_one_decomposition_gives_the_tails_after_every_pick(depth):
    state, free = conditioned(lm.Problem(lm.data(data(40, 30)), 6)), np.arange(30)
    found = tails_after(Node(state, free, 6, depth))
    each = [Node(state.pick(int(j)), NOTHING, 5, depth).tail(5) for j in free]
    assert np.all(found <= each)
    np.testing.assert_allclose(found, each, rtol=1e-3)


@pytest.mark.parametrize("depth", [1, 2])
def test_the_uncertainty_after_a_pick_is_that_of_its_residual(depth):
    root = conditioned(lm.Problem(lm.data(data(40, 30) * np.geomspace(1, 100, 30)), 6)).pick(4)
    state = replace(root, omega=1e-9)  # so large that the rounding of sums does not count
    free = np.setdiff1d(np.arange(30), [4])
    found = uncertainties(Node(state, free, 3, depth))
    for j, value in zip(free, found, strict=True):
        after = state.pick(int(j))
        spread = np.sum(after.spread**2) + (2 * state.spread[j]) ** 2  # that of j is not left out
        norm = np.sqrt(30) * 1e-9 * spread
        expected = 8 * np.sqrt(state.squares) * norm + 16 * norm**2 if depth == 2 else 4 * norm
        assert value == pytest.approx(expected, rel=1e-9)
        assert value >= after.uncertainty(depth) * (1 - 1e-3)
