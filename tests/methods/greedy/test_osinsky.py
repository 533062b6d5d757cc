"""Osinsky's choice: never above k + 1 times the best rank-k error."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.greedy.osinsky import Osinsky


def hard(kind, m, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    if kind == "falling":
        X = X * np.geomspace(1, 1e-6, m)[:, None]
    if kind == "graded":
        X = X * np.geomspace(1, 1e-5, n)
    if kind == "clusters":
        X = X[:, : max(1, n // 4)][:, rng.integers(0, max(1, n // 4), n)]
        X = X + 1e-3 * rng.standard_normal((m, n))
    return X


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["normal", "falling", "graded", "clusters"]),
    st.integers(2, 15),
    st.integers(2, 15),
    st.integers(1, 14),
    st.integers(0, 99),
)
def test_the_error_is_within_the_guarantee(kind, m, n, k, seed):
    X, k = hard(kind, m, n, seed), min(k, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        S = lm.select(X, k, method=Osinsky(), scale=False).indices
    rest = X - X[:, S] @ np.linalg.lstsq(X[:, S], X, rcond=1e-15)[0]
    tail = np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2)
    assert np.sum(rest**2) <= (k + 1) * tail * (1 + 1e-6) + 1e-24 * np.sum(X**2)


def test_a_matrix_where_pivoted_qr_fails_badly_is_kept_within_the_guarantee():
    """Kahan's matrix: QR pivoting takes the columns in order and leaves far more."""
    n, c = 30, 0.285
    s = np.sqrt(1 - c * c)
    X = np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))
    chosen = lm.select(X, n - 1, method=Osinsky())
    assert chosen.error() <= n * chosen.best_rank_error()


def test_constraints_are_honoured():
    X = hard("normal", 20, 10, 0)
    chosen = lm.select(X, 4, method=Osinsky(), include=[7], exclude=[0, 1])
    assert 7 in chosen.indices and not {0, 1} & set(chosen.indices.tolist())


@pytest.mark.parametrize("k", [2, 5])
def test_a_stored_matrix_gives_the_choice_of_its_data(k):
    X = hard("normal", 20, 10, 1)
    stored = lm.select(lm.psd(X.T @ X), k, method=Osinsky())
    assert set(stored.indices.tolist()) == set(lm.select(X, k, method=Osinsky()).indices.tolist())


def test_what_is_excluded_is_not_chosen_and_does_not_end_the_search():
    X = hard("normal", 20, 10, 0)
    wanted = lm.select(X, 4, method=Osinsky()).indices[:2].tolist()
    s = lm.select(X, 4, method=Osinsky(), exclude=wanted)
    assert not set(wanted) & set(s.indices.tolist()) and len(set(s.indices.tolist())) == 4
    assert s.error() < 8 * s.best_rank_error()
