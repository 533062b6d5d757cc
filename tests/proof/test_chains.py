"""The lookahead, pick after pick: against eigenvalues, enumeration and whole numbers."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from proof import brute

import landmarks as lm
from landmarks.proof.chains import Chains, divide, look_further
from landmarks.proof.conditioned import conditioned
from landmarks.proof.lookahead import largest_after, tails_after, uncertainties
from landmarks.proof.node import Node
from landmarks.runs.runner import watching

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning"),
]

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


@pytest.mark.parametrize("frobenius", [False, True])
def test_one_decomposition_gives_the_tails_after_every_pick(frobenius):
    state, free = conditioned(lm.Problem(lm.data(data(40, 30)), 6)), np.arange(30)
    found = tails_after(Node(state, free, 6, frobenius))
    each = [Node(state.pick(int(j)), NOTHING, 5, frobenius).tail(5) for j in free]
    assert np.all(found <= each)
    np.testing.assert_allclose(found, each, rtol=1e-3)


@pytest.mark.parametrize("frobenius", [False, True])
def test_the_uncertainty_after_a_pick_is_that_of_its_residual(frobenius):
    root = conditioned(lm.Problem(lm.data(data(40, 30) * np.geomspace(1, 100, 30)), 6)).pick(4)
    state = replace(root, omega=1e-9)  # so large that the rounding of sums does not count
    free = np.setdiff1d(np.arange(30), [4])
    found = uncertainties(Node(state, free, 3, frobenius))
    for j, value in zip(free, found, strict=True):
        after = state.pick(int(j))
        spread = np.sum(after.spread**2) + (2 * state.spread[j]) ** 2  # that of j is not left out
        norm = np.sqrt(30) * 1e-9 * spread
        expected = 8 * np.sqrt(state.squares) * norm + 16 * norm**2 if frobenius else 4 * norm
        assert value == pytest.approx(expected, rel=1e-9)
        assert value >= after.uncertainty(frobenius) * (1 - 1e-3)


def test_the_parts_of_a_node_are_taken_out_by_rising_bound():
    chains, state = Chains(), conditioned(lm.Problem(lm.data(data(20, 12)), 4))
    divide(chains, Node(state, np.arange(12), 4, False), 0)
    (node,) = chains.nodes
    assert sorted(node.order.tolist()) == list(range(12)) and np.all(np.diff(node.tails) <= 0)
    assert chains.lowest == np.sort(node.tails)[3]  # the fourth smallest holds for all choices
    for place in range(8, -1, -1):
        picks, candidates, free = chains.pop()
        assert picks == [node.order[place]] and free == 0
        assert candidates.tolist() == node.order[place + 1 :].tolist()
    assert chains.open == [] and chains.lowest == np.inf


def test_a_bound_that_reaches_the_error_is_not_raised():
    operator = lm.data(data(20, 12))
    root = conditioned(lm.Problem(operator, 4))
    first, _ = look_further(lm.Problem(operator, 4), root, 4, 0.0)
    bound, nodes = look_further(lm.Problem(operator, 4), root, 4, first)
    assert (bound, nodes) == (first, 1)
    assert look_further(lm.Problem(operator, 4), root, 4, 1.001 * first)[1] > 1


def test_a_single_pick_closes_a_node_at_its_best_candidate():
    operator = lm.data(data(20, 12))
    chains, state = Chains(), conditioned(lm.Problem(operator, 1))
    divide(chains, Node(state, np.arange(12), 1, False), 0)
    left = [state.pick(j).trace for j in range(12)]
    assert chains.nodes == [] and chains.lowest == pytest.approx(min(left), rel=1e-9)
    bound, nodes = look_further(lm.Problem(operator, 1), state, 1, np.inf)
    assert bound == chains.lowest and nodes == 0


@pytest.mark.parametrize("columns", ["independent", "wide", "copies", "hidden copies"])
def test_it_ends_at_the_best_choice(columns):
    X = data(9, 10, seed=3)
    if columns == "wide":
        X = X[:5]
    elif columns != "independent":
        X[:, 3], X[:, 6] = X[:, 1], X[:, 2]
    if columns == "hidden copies":
        X[0, 3], X[1, 6] = np.nextafter(X[0, 3], 9), np.nextafter(X[1, 6], 9)
    K = X.T @ X
    best = min(
        np.trace(K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], rcond=1e-10) @ K[S])
        for S in map(list, combinations(range(10), 3))
    )
    operator = lm.data(X)
    root = conditioned(lm.Problem(operator, 3))
    bound, _ = look_further(lm.Problem(operator, 3), root, 3, np.inf)
    bound = float(np.ldexp(bound, operator.exponent))
    assert bound <= best * (1 + 1e-12)
    # copies that rounding hides may lead anywhere: then the bound stays below
    low = 0.5 if columns == "hidden copies" else 1 - 1e-5
    assert bound >= best * low


def test_it_reports_its_progress_and_can_be_stopped():
    heard = []
    operator = lm.data(data(40, 30))
    root = conditioned(lm.Problem(operator, 8))
    with watching(lambda progress: heard.append(progress.phase) or len(heard) == 3):
        bound, nodes = look_further(lm.Problem(operator, 8), root, 8, np.inf)
    assert heard == ["lookahead"] * 3 and nodes > 3
    assert bound >= np.sort(tails_after(Node(root, np.arange(30), 8, False)))[7]


def test_it_goes_on_from_a_saved_state():
    chains, state = Chains(), conditioned(lm.Problem(lm.data(data(20, 12)), 4))
    divide(chains, Node(state, np.arange(12), 4, False), 0)
    saved = Chains([list(node) for node in chains.nodes], [list(part) for part in chains.open])
    saved.restored()
    assert saved.lowest == chains.lowest and saved.pop()[0] == chains.pop()[0]
    assert saved.open == chains.open


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("block", range(4))
def test_it_is_never_above_the_best(block):
    for number in range(25 * block, 25 * block + 25):
        case = brute.draw(np.random.default_rng([23, number]))
        assert brute.chained_bound(case, 1 + number % 40) <= min(brute.errors(case).values()), (
            number,
            case,
        )
