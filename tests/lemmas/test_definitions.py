"""Definitions 2.1 and 2.5 and what they give at the corners and on the way there."""

from itertools import product

import numpy as np
import pytest
from errors_of import selection_error
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg.nystrom import nystrom_factor
from landmarks.methods.relaxation.relaxed import relaxed_nystrom, relaxed_projection

from . import oracle

CORNERS = [np.array(s, dtype=float) for s in product([0, 1], repeat=6)]


def projector(X, s):
    chosen = X[:, s == 1]
    return chosen @ np.linalg.pinv(chosen)


def test_definition_2_1_is_the_formula_of_the_paper(X, t):
    assert_allclose(relaxed_projection(X, t, 1.5), oracle.projection(X, t, 1.5), atol=1e-12)


def test_definition_2_5_is_the_formula_of_the_paper(K, t):
    assert_allclose(relaxed_nystrom(K, t, 1.5), oracle.nystrom(K, t, 1.5), atol=1e-11)


@pytest.mark.parametrize("delta", [0.1, 1.0, 10.0])
def test_lemma_2_2_every_corner_is_the_projection(X, delta):
    for s in CORNERS:
        assert_allclose(relaxed_projection(X, s, delta), projector(X, s), atol=1e-10)


@pytest.mark.parametrize("delta", [0.1, 1.0, 10.0])
def test_lemma_2_6_every_corner_is_the_nystrom_approximation(K, delta):
    for s in CORNERS:
        S = np.flatnonzero(s)
        exact = K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], rcond=1e-10) @ K[S]
        assert_allclose(relaxed_nystrom(K, s, delta), exact, atol=1e-9 * np.max(np.abs(K)))


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_lemma_2_6_holds_for_every_size_up_to_eight(n):
    K = np.cov(np.random.default_rng(n).standard_normal((n, 12)), ddof=0).reshape(n, n)
    for s in product([0, 1], repeat=n):
        S = np.flatnonzero(s)
        exact = K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)]) @ K[S]
        assert_allclose(relaxed_nystrom(K, np.array(s, dtype=float), 1.0), exact, atol=1e-10)


def approach(relaxed, matrix, target, start):
    """The distances to the value at the target, along a line into it from inside the cube."""
    limit = relaxed(matrix, target, 1.0)
    return [
        np.max(np.abs(relaxed(matrix, target + h * (start - target), 1.0) - limit))
        for h in 10.0 ** -np.arange(1, 7)
    ]


@pytest.mark.parametrize("corner", [0, 1, 21, 62, 63])
def test_lemma_2_3_the_projection_is_continuous_into_corners(X, t, corner):
    assert approach(relaxed_projection, X, CORNERS[corner], t)[-1] < 1e-4


@pytest.mark.parametrize("corner", [0, 1, 21, 62, 63])
def test_lemma_2_7_the_nystrom_relaxation_is_continuous_into_corners(K, t, corner):
    assert approach(relaxed_nystrom, K, CORNERS[corner], t)[-1] < 1e-4 * np.max(np.abs(K))


def test_lemma_2_3_the_projection_is_continuous_into_faces(X, t):
    face = np.where(np.arange(6) % 3 == 0, np.round(t), t)
    distances = approach(relaxed_projection, X, face, t)
    assert distances[-1] < 1e-4 and distances[-1] < distances[0] / 100


def test_lemma_2_7_the_nystrom_relaxation_is_continuous_into_faces(K, t):
    face = np.where(np.arange(6) % 3 == 0, np.round(t), t)
    distances = approach(relaxed_nystrom, K, face, t)
    assert distances[-1] < 1e-4 * np.max(np.abs(K)) and distances[-1] < distances[0] / 100


@pytest.mark.parametrize("corner", range(1, 64, 7))
def test_trace_norm_identity_of_columns_and_nystrom(X, corner):
    S = np.flatnonzero(CORNERS[corner])
    K = X.T @ X
    F = nystrom_factor(lm.psd(K), S)
    trace_norm = np.sum(np.linalg.svd(K - F @ F.T, compute_uv=False))
    columns = np.sum((X - projector(X, CORNERS[corner]) @ X) ** 2)
    assert_allclose(trace_norm, columns, atol=1e-9 * np.trace(K))
    assert_allclose(selection_error(lm.data(X), S, "trace"), columns, atol=1e-9 * np.trace(K))
