"""The guarantee of `auto`: trace error ≤ (k + 1) × the best rank-k error."""

import unittest.mock
import warnings

import numpy as np
import pytest
import scipy.linalg
from gallery import kahan
from hypothesis import given, settings
from hypothesis import strategies as st

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods import auto
from landmarks.methods.greedy.osinsky import promised


def simplex(k, rng):
    """Points near one another: every choice of k leaves k + 1 times the tail in the limit."""
    return np.vstack([np.ones(k + 1), rng.uniform(1e-4, 1e-2) * np.eye(k + 1)])


def decoys(k, rng):
    """Sums of columns, which greedy takes first, among the columns themselves."""
    parts = rng.standard_normal((3 * k, k))
    sums = parts @ rng.integers(0, 2, (k, 2 * k)) + 1e-3 * rng.standard_normal((3 * k, 2 * k))
    return np.hstack([sums, parts, parts + 1e-2 * rng.standard_normal((3 * k, k))])


def blocks(k, rng):
    """Kahan matrices of different sizes and weights on the diagonal."""
    sizes = rng.integers(3, 12, 3)
    return scipy.linalg.block_diag(*[rng.uniform(0.1, 1) * kahan(int(n)) for n in sizes])


HARD = {
    "kahan": lambda k, rng: kahan(k + int(rng.integers(1, 9)), *sine_cosine(rng)),
    "simplex": simplex,
    "decoys": decoys,
    "blocks": blocks,
    "simplices": lambda k, rng: scipy.linalg.block_diag(*[simplex(k, rng) for _ in range(3)]),
    "normal": lambda k, rng: rng.standard_normal((20, k + 10)),
    "falling": lambda k, rng: rng.standard_normal((20, k + 10)) / 2.0 ** np.arange(20)[:, None],
    "graded": lambda k, rng: rng.standard_normal((20, k + 10)) / 2.0 ** np.arange(k + 10),
}


def sine_cosine(rng):
    angle = rng.uniform(0.5, 1.5)
    return np.sin(angle), np.cos(angle)


def chosen_error(X, chosen):
    """‖X − P_S X‖² by SciPy, independent of the library."""
    Q = scipy.linalg.qr(X[:, chosen], mode="economic", pivoting=True)[0]
    return np.sum((X - Q @ (Q.T @ X)) ** 2)


def started(X, k, **more):
    """What auto chooses without the searches that follow its starts: they only improve it."""
    with (
        warnings.catch_warnings(),
        unittest.mock.patch.multiple(auto, MOST=0, proof_seconds=lambda problem: np.inf),
    ):
        warnings.simplefilter("ignore", RankWarning)
        return lm.select(X, k, scale=False, **more).indices


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(HARD)), st.integers(1, 12), st.integers(0, 10**6))
def test_auto_stays_within_it(kind, k, seed):
    X = HARD[kind](k, np.random.default_rng(seed))
    k = min(k, X.shape[1] - 1)
    S = started(X, k)
    tail = np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2)
    # the squared rounding of X is all that may be added: 1e-13 of its norm
    assert chosen_error(X, S) <= (k + 1) * tail * (1 + 1e-9) + 1e-26 * np.sum(X**2)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(HARD)), st.integers(2, 9), st.integers(0, 10**6))
def test_with_included_columns_it_is_that_of_the_rest(kind, k, seed):
    rng = np.random.default_rng(seed)
    X = HARD[kind](k, rng)
    k = min(k, X.shape[1] - 1)
    held = [int(j) for j in rng.permutation(X.shape[1])[: int(rng.integers(1, k + 1))]]
    S = started(X, k, include=held)
    Q = scipy.linalg.qr(X[:, held], mode="economic", pivoting=True)[0]
    r, rest = k - len(held), X - Q @ (Q.T @ X)
    tail = np.sum(np.linalg.svd(rest, compute_uv=False)[r:] ** 2)
    assert chosen_error(X, S) <= (r + 1) * tail * (1 + 1e-9) + 1e-24 * np.sum(X**2)


def test_a_choice_that_breaks_it_is_replaced(monkeypatch):
    """Decoys and a start at random, so that only Osinsky's choice can keep the promise."""
    X = np.hstack([1e-3 * np.random.default_rng(0).standard_normal((40, 300)), np.eye(40, 12)])
    monkeypatch.setattr(auto, "Filled", lm.Uniform)
    monkeypatch.setattr(auto, "Swap", lambda start, criterion=None: start)
    monkeypatch.setattr(auto, "SECOND", 0.0)
    found = lm.select(X, 12, scale=False)
    assert found.trials[1].label == "osinsky > swap"
    assert found.trials[0].error > 13 * found.best_rank_error() >= 13 / 12 * found.error()


@pytest.mark.parametrize("more", [{"objective": "frobenius"}, {"exclude": (0,)}])
def test_nothing_is_promised_for_other_criteria_or_with_excluded_columns(more):
    problem = lm.Problem(lm.data(np.eye(5)), 2, **more)
    assert promised(problem) == np.inf
    assert promised(lm.Problem(lm.data(np.eye(5)), 2)) == pytest.approx(9.0)
