"""How the searches of a proof share the time, and what they say."""

from __future__ import annotations

import time

import numpy as np
import pytest

import landmarks as lm
from landmarks.proof import certificate as module
from landmarks.proof.certificate import chained, ending, searched, searches
from landmarks.proof.conditioned import conditioned

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(3)
SMALL = RNG.standard_normal((14, 9))
LARGE = RNG.standard_normal((120, 100))


def problem(X: np.ndarray, k: int, seconds: float | None, **more: object) -> lm.Problem:
    deadline = None if seconds is None else time.monotonic() + seconds
    return lm.Problem(lm.data(X, scale=False), k, deadline=deadline, **more)


def test_a_share_of_the_time_left_is_given():
    asked = problem(SMALL, 3, 100.0)
    for share in (0.0, 0.25, 1.0):
        assert ending(asked, share).time_left == pytest.approx(100 * share, abs=1.0)
    endless = problem(SMALL, 3, None)
    assert ending(endless, 0.25) is endless


def best(X: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    found = lm.select(X, k, method="exact", scale=False)
    return found.indices, found.error()


def test_both_searches_prove_the_best_choice_of_a_small_problem():
    indices, error = best(SMALL, 3)
    asked = problem(SMALL, 3, 30.0)
    root = conditioned(asked)
    tree = searched(asked, root, indices, 0.5)
    chain = chained(asked, root, error)
    assert tree.source == "search" and tree.final and tree.iterations > 0
    assert chain.source == "lookahead" and chain.iterations > 0
    for bound in (tree, chain):
        assert error * (1 - 1e-4) < bound.value <= error


def test_a_start_that_is_not_the_best_is_not_proved():
    indices, error = best(SMALL, 3)
    worse = np.setdiff1d(np.arange(9), indices)[:3]
    asked = problem(SMALL, 3, 30.0)
    root = conditioned(asked)
    tree = searched(asked, root, worse, 0.5)
    assert error * (1 - 1e-6) < tree.value <= error * (1 + 1e-12)


def test_what_is_included_is_picked_first():
    asked = problem(SMALL, 3, 30.0, include=(4,))
    error = lm.select(SMALL, 3, method="exact", scale=False, include=[4]).error()
    chain = chained(asked, conditioned(asked), error)
    assert error * (1 - 1e-4) < chain.value <= error


@pytest.mark.parametrize(
    ("X", "k", "sources"),
    [
        (SMALL, 3, ["search", "lookahead"]),
        (LARGE, 4, ["search", "lookahead"]),  # pairs of 4950 are few
        (LARGE, 5, ["lookahead"]),
        (LARGE, 97, ["search", "lookahead"]),  # three are left out
    ],
)
def test_the_exact_search_is_tried_where_it_may_end(X, k, sources):
    asked = problem(X, k, 0.05)
    root = conditioned(asked)
    found = searches(asked, root, np.arange(k), np.inf, False)
    assert [bound.source for bound in found] == sources


@pytest.mark.parametrize(("k", "last", "share"), [(5, False, 0.5), (6, False, 0.1), (6, True, 1.0)])
def test_few_picks_get_half_of_the_time_and_many_a_tenth(k, last, share, monkeypatch):
    given = []
    monkeypatch.setattr(
        module,
        "look_further",
        lambda asked, own, r, error: given.append(asked.time_left) or (0.0, 0),
    )
    asked = problem(LARGE, k, 100.0)
    list(searches(asked, conditioned(asked), np.arange(k), np.inf, last))
    assert given == [pytest.approx(100 * share, abs=2.0)]
