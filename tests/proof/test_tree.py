"""The search tree: what it finds, what it proves, and what it leaves in doubt."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest

import landmarks as lm
from landmarks.proof.tree import SLACK, Tree

pytestmark = pytest.mark.thorough

X = np.round(np.random.default_rng(7).standard_normal((13, 9)) * 64)
each_criterion = pytest.mark.parametrize("criterion", ["trace", "frobenius"])


def error(A: np.ndarray, S: tuple[int, ...], criterion: str) -> float:
    Q = np.linalg.qr(A[:, S])[0] if S else np.zeros((len(A), 1))
    E = A - Q @ (Q.T @ A)
    return float(np.sum(E * E) if criterion == "trace" else np.sum((E.T @ E) ** 2))


def tree(A: np.ndarray, k: int, criterion: str = "trace", **more: object) -> Tree:
    return Tree(lm.Problem(lm.data(A, scale=False), k, criterion, **more))


def unit(of: Tree) -> float:
    power = 2 if of.frobenius else 1
    return 2.0 ** (power * of.problem.operator.exponent)


@each_criterion
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_search_ends_with_the_best_choice_and_a_bound_just_below_it(k, criterion):
    of = tree(X, k, criterion)
    bound = of.search() * unit(of)
    best = min(combinations(range(9), k), key=lambda S: error(X, S, criterion))
    assert sorted(of.best) == list(best)
    lowest = error(X, best, criterion)
    assert lowest * (1 - 2 * SLACK) <= bound <= lowest
    assert of.error * unit(of) == pytest.approx(lowest, rel=1e-9)
    assert of.doubt == np.inf
    assert of.total * unit(of) == pytest.approx(error(X, (), criterion), rel=1e-12)
    assert of.relative() == pytest.approx(lowest / error(X, (), criterion), rel=1e-9)


@each_criterion
@pytest.mark.parametrize("k", [3, 4])
def test_no_choice_is_missed(k, criterion):
    for seed in range(12):
        A = np.round(np.random.default_rng(seed).standard_normal((10, 7)) * 64)
        of = tree(A, k, criterion)
        of.search()
        best = min(error(A, S, criterion) for S in combinations(range(7), k))
        assert of.error * unit(of) == pytest.approx(best, rel=1e-9)


def test_a_good_start_leaves_less_to_look_at():
    fresh, started = tree(X, 5), tree(X, 5)
    fresh.search()
    started.offer(*started.split(np.asarray(fresh.best)))
    assert started.error == fresh.error
    started.search()
    assert started.nodes <= fresh.nodes and sorted(started.best) == sorted(fresh.best)


def test_exact_copies_are_not_in_doubt():
    A = X.copy()
    A[:, 4] = 2 * A[:, 2]
    of = tree(A, 4)
    assert of.search() >= of.cutoff and of.doubt == np.inf


def test_copies_that_rounding_hides_are_in_doubt():
    A = X.copy()
    A[:, 4] = 2 * A[:, 2]
    K = A.T @ A
    K[0, 4] = K[4, 0] = np.nextafter(K[0, 4], np.inf)
    of = Tree(lm.Problem(lm.psd(K), 4))
    bound = of.search()
    lowest = min(error(A, S, "trace") for S in combinations([0, 1, 2, 3, 5, 6, 7, 8], 4))
    assert of.doubt < np.inf and bound == min(of.doubt, of.closed)
    assert bound * unit(of) < lowest * (1 + 1e-9)


def test_what_must_be_included_stays_and_what_is_excluded_is_not_taken():
    of = tree(X, 4, include=(8, 0), exclude=(3, 5))
    of.search()
    free = [1, 2, 4, 6, 7]
    best = min(((8, 0, *S) for S in combinations(free, 2)), key=lambda S: error(X, S, "trace"))
    assert of.best[:2] == [8, 0] and sorted(of.best) == sorted(best)
    state, more = of.split(np.array([8, 1, 0, 2]))
    assert state.picks == (8, 0) and more == [1, 2]


def test_columns_that_the_others_represent_are_left_out_of_the_best():
    A = X[:, :5].copy()
    A[:, 1] = A[:, 0] + A[:, 2]
    of = tree(A, 5)
    of.search()
    assert len(of.best) >= 4 and len(of.independent()) == 4
    kept = tree(A, 5, include=(0, 1, 2))
    kept.search()
    assert sorted(kept.independent()) == [0, 1, 2, 3, 4]


def test_after_the_deadline_the_bound_holds_but_proves_nothing():
    of = tree(X, 5, deadline=time.monotonic() - 1.0)
    of.offer(*of.split(np.arange(5)))
    bound = of.search() * unit(of)
    assert of.nodes == 0 and of.best == [0, 1, 2, 3, 4]
    tail = np.sum(np.linalg.eigvalsh(X.T @ X)[:4])
    assert tail * (1 - 1e-9) <= bound <= tail


@each_criterion
def test_what_is_in_doubt_after_a_pick_may_lead_as_far_as_the_picks_that_are_left(criterion):
    K = X.T @ X
    K[3] = K[1]
    K[:, 3] = K[:, 1]
    K[3, 3] = K[1, 1] * (1 + 2.0**-51)  # a copy of column 1, but for the last digits
    of = Tree(lm.Problem(lm.psd(K), 4, criterion))
    node = of.node([], np.arange(9))
    first, second = of.branch(node, 1)
    assert 3 not in first.candidates and first.r == 3
    assert 1 not in second.candidates and second.r == 4
    left = K - np.outer(K[1], K[1]) / K[1, 1]
    values = np.linalg.eigvalsh(left)[::-1] ** (2 if of.frobenius else 1)
    assert of.doubt * unit(of) == pytest.approx(np.sum(values[3:]), rel=1e-9)
