"""The exact search: what it finds, what it proves, and what it leaves in doubt."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from proof import brute

import landmarks as lm
from landmarks.proof import counting, search
from landmarks.proof.search import SLACK, Search

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning"),
    pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning"),
]
X = np.round(np.random.default_rng(7).standard_normal((13, 9)) * 64)
each_criterion = pytest.mark.parametrize("criterion", ["trace", "frobenius"])


@pytest.fixture(params=["counted", "divided", "in NumPy"], autouse=True)
def way(request, monkeypatch):
    """With C, without counting more than a single pick, and without a compiled library."""
    if request.param == "divided":
        monkeypatch.setattr(search, "PART", 0.0)
    if request.param == "in NumPy":
        monkeypatch.setattr(counting, "library", lambda: None)
    return request.param


def error(A: np.ndarray, S: tuple[int, ...], criterion: str) -> float:
    Q = np.linalg.qr(A[:, S])[0] if S else np.zeros((len(A), 1))
    E = A - Q @ (Q.T @ A)
    return float(np.sum(E * E) if criterion == "trace" else np.sum((E.T @ E) ** 2))


def posed(A: np.ndarray, k: int, criterion: str = "trace", **more: object) -> Search:
    return Search(lm.Problem(lm.data(A, scale=False), k, criterion, **more))


def unit(of: Search) -> float:
    return 2.0 ** (of.depth * of.problem.operator.exponent)


@each_criterion
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_search_ends_with_the_best_choice_and_a_bound_just_below_it(k, criterion):
    for seed in range(4):
        A = np.round(np.random.default_rng(seed).standard_normal((13, 9)) * 64)
        of = posed(A, k, criterion)
        bound = of.search() * unit(of)
        best = min(combinations(range(9), k), key=lambda S: error(A, S, criterion))
        assert sorted(of.best) == list(best)
        lowest = error(A, best, criterion)
        assert lowest * (1 - 2 * SLACK) <= bound <= lowest * (1 + 1e-12)
        assert of.error * unit(of) == pytest.approx(lowest, rel=1e-9)


def test_exact_copies_are_not_in_doubt():
    A = X.copy()
    A[:, 4] = 2 * A[:, 2]
    of = posed(A, 4)
    assert of.search() >= of.cutoff


def test_copies_that_rounding_hides_are_in_doubt():
    A = X.copy()
    A[:, 4] = 2 * A[:, 2]
    K = A.T @ A
    K[0, 4] = K[4, 0] = np.nextafter(K[0, 4], np.inf)
    of = Search(lm.Problem(lm.psd(K), 4))
    bound = of.search()
    lowest = min(error(A, S, "trace") for S in combinations([0, 1, 2, 3, 5, 6, 7, 8], 4))
    assert 0 < bound * unit(of) < lowest * (1 - 1e-6)


def test_what_must_be_included_stays_and_what_is_excluded_is_not_taken():
    of = posed(X, 4, include=(8, 0), exclude=(3, 5))
    of.search()
    best = min(
        ((8, 0, *S) for S in combinations([1, 2, 4, 6, 7], 2)), key=lambda S: error(X, S, "trace")
    )
    assert of.indices(np.arange(4)).tolist()[:2] == [8, 0]
    assert sorted(of.indices(np.arange(4)).tolist()) == sorted(best)


def test_after_the_deadline_the_bound_holds_but_proves_nothing():
    of = posed(X, 5, deadline=time.monotonic() - 1.0)
    of.begin(np.arange(5))
    bound = of.search() * unit(of)
    assert of.best == [0, 1, 2, 3, 4]
    best = min(error(X, S, "trace") for S in combinations(range(9), 5))
    assert bound <= best


@pytest.mark.parametrize("columns", ["independent", "wide", "copies", "hidden copies"])
def test_it_ends_at_the_best_choice(columns):
    A = np.random.default_rng(3).standard_normal((9, 10))
    if columns == "wide":
        A = A[:5]
    elif columns != "independent":
        A[:, 3], A[:, 6] = A[:, 1], A[:, 2]
    if columns == "hidden copies":
        A[0, 3], A[1, 6] = np.nextafter(A[0, 3], 9), np.nextafter(A[1, 6], 9)
    K = A.T @ A
    best = min(
        np.trace(K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], rcond=1e-10) @ K[S])
        for S in map(list, combinations(range(10), 3))
    )
    of = posed(A, 3)
    bound = of.search() * unit(of)
    assert bound <= best * (1 + 1e-12)
    # copies that rounding hides may lead anywhere: then the bound stays below
    assert bound >= best * (0.5 if columns == "hidden copies" else 1 - 1e-8)


@pytest.mark.parametrize("block", range(4))
def test_a_search_that_is_stopped_is_never_above_the_best(block):
    for number in range(25 * block, 25 * block + 25):
        case = brute.draw(np.random.default_rng([23, number]))
        assert brute.divided_bound(case, 1 + number % 40) <= min(brute.errors(case).values()), (
            number,
            case,
        )
