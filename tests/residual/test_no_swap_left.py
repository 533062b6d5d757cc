"""Random problems that are hard for a stored K: after `swap`, no single swap lowers the error.

Every swap is tried by projection, apart from the engine. The kinds were chosen to break it: graded
columns, tight clusters, fast spectra, large offsets and smooth fields, with included columns.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import landmarks as lm
from landmarks.errors import RankWarning
from tests.residual import reference


def graded(rng, n, level):
    return rng.standard_normal((15, n)) * np.logspace(0, -level, n)[rng.permutation(n)]


def clustered(rng, n, level):
    centres = np.repeat(rng.standard_normal((15, 5)), n // 5, axis=1)
    return centres + 10.0**-level * rng.standard_normal(centres.shape)


def falling(rng, n, level):
    return (0.5 / level) ** np.arange(15)[:, None] * rng.standard_normal((15, n))


def offset(rng, n, level):
    return rng.standard_normal((60, n)) + 10.0 ** (level - 1)


def smooth(rng, n, level):
    x = np.sort(rng.uniform(-1, 1, n))
    fields = np.polynomial.legendre.legvander(x, 14).T
    return (0.2 + 0.1 * level) ** np.arange(15)[:, None] * fields


def best_swap(X, S, criterion, locked):
    """The lowest error that a swap of one column leads to."""
    n = X.shape[1]
    free = [i for i in range(len(S)) if S[i] not in locked]
    others = [j for j in range(n) if j not in S and j not in locked]
    swapped = ([*S[:i], j, *S[i + 1 :]] for i in free for j in others)
    return min(reference.error(X, choice, criterion) for choice in swapped)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from([graded, clustered, falling, offset, smooth]),
    level=st.integers(1, 5),
    n=st.integers(20, 44),
    k=st.integers(3, 6),
    dtype=st.sampled_from(["float64", "float32"]),
    criterion=st.sampled_from(["trace", "frobenius"]),
    locked=st.sampled_from(["none", "include", "exclude"]),
    seed=st.integers(0, 10**6),
)
def test_no_swap_lowers_the_error(kind, level, n, k, dtype, criterion, locked, seed):
    rng = np.random.default_rng(seed)
    X = kind(rng, n, level).astype(dtype)
    fixed = [int(rng.integers(X.shape[1]))] if locked != "none" else []
    limits = {} if locked == "none" else {locked: fixed}
    s = lm.select(X, k, criterion=criterion, method="swap", scale=False, **limits)
    exact = X.astype(np.float64)
    error = reference.error(exact, s.indices.tolist(), criterion)
    if error > 1e-13 * reference.error(exact, [], criterion):
        best = best_swap(exact, s.indices.tolist(), criterion, fixed)
        assert best >= error * (1 - 1e-6)  # the search ends at gains of 1e-9 of the error


@pytest.mark.parametrize("rows", [15, 60])
def test_neighbours_that_must_be_included_spoil_no_pick(rows):
    x = np.concatenate([np.linspace(-1, 1, 20), 0.31 + 0.003 * np.arange(4)])
    smooth_columns = 0.6 ** np.arange(15)[:, None] * np.polynomial.legendre.legvander(x, 14).T
    X = np.eye(rows, 15) @ smooth_columns
    S = [20, 21, 22, 23]
    for _ in range(2):
        S.append(min(set(range(24)) - set(S), key=lambda j: reference.error(X, [*S, j])))
    s = lm.select(X, 6, method="greedy", include=S[:4], scale=False)
    assert s.indices.tolist() == S


@pytest.mark.parametrize("seed", range(5))
def test_a_drop_that_costs_far_more_than_the_error_hides_no_swap(seed):
    X = clustered(np.random.default_rng(seed), 35, 3)
    s = lm.select(X, 5, criterion="frobenius", method="swap", scale=False)
    error = reference.error(X, s.indices.tolist(), "frobenius")
    assert best_swap(X, s.indices.tolist(), "frobenius", []) >= error * (1 - 1e-6)


@pytest.mark.parametrize("seed", [27, 45, 99])
def test_a_start_of_more_columns_than_the_kernel_has_digits_for_is_searched(seed):
    """In the order in which they are drawn the diagonal of the residual falls far below zero."""
    rng = np.random.default_rng(seed)
    x = rng.random((300, 1 + seed % 3))
    K = lm.kernel(x, lm.rbf(sigma=[0.3, 1, 3][seed // 3 % 3]))
    start = rng.permutation(300)[:60]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        s = lm.select(K, 60, method=lm.Swap(start=start))
    assert 0 <= s.relative_error() < 1e-9
