"""Merging two choices: the union, then elimination, then swaps."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.greedy.osinsky import Osinsky
from landmarks.methods.search.landscape import Landscape
from landmarks.methods.search.merged import Merged, eliminated
from landmarks.objectives import as_objective


def error(K, S):
    return np.trace(K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]))


@pytest.fixture
def X():
    rng = np.random.default_rng(3)
    return rng.standard_normal((40, 30)) @ np.diag(0.9 ** np.arange(30))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_elimination_drops_the_member_whose_loss_costs_least(X, criterion):
    K = X.T @ X
    union = np.array([0, 3, 5, 6, 8, 12, 20])
    landscape = Landscape.of(lm.Problem(lm.psd(K), 4, criterion), as_objective(criterion))

    def cost(S):
        C = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
        return np.trace(C) if criterion == "trace" else np.sum(C * C)

    left = list(union)
    while len(left) > 4:
        drops = [cost([j for j in left if j != i]) for i in left]
        left.pop(int(np.argmin(drops)))
    assert set(eliminated(landscape, union)) == set(left)


def test_the_merged_choice_is_a_local_optimum_and_keeps_what_must_be_included(X):
    problem = lm.Problem(lm.data(X), 5, include=(7,), exclude=(0,))
    rng = np.random.default_rng(0)
    first = lm.Greedy().choose(problem, rng).indices
    second = lm.RPCholesky().choose(problem, rng).indices
    chosen = Merged(first, second).choose(problem, rng).indices
    assert 7 in chosen and 0 not in chosen and len(set(chosen)) == 5
    K = X.T @ X
    least = min(
        error(K, [*(set(chosen) - {i}), j])
        for i in set(chosen) - {7}
        for j in set(range(1, 30)) - set(chosen)
    )
    assert error(K, list(chosen)) <= least * (1 + 1e-9)


def test_a_choice_merged_with_itself_stays(X):
    problem = lm.Problem(lm.data(X), 5)
    first = np.array([4, 2, 9, 1, 7])
    assert Merged(first, first[::-1]).choose(problem, None).indices.tolist() == first.tolist()


def test_the_parts_of_the_default_say_what_they_are():
    merged = Merged(np.array([3, 1]), np.array([5]))
    assert repr(merged) == "Merged(first=array([3, 1]), second=array([5]))"
    assert repr(Osinsky()) == "Osinsky()"
