"""The exact errors agree with the dense formulas in float64, on well conditioned problems."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from contract.reference import Reference

RNG = np.random.default_rng(0)
X, B, V = RNG.standard_normal((20, 6)), RNG.standard_normal((20, 3)), RNG.standard_normal((6, 2))
K, EACH, NONE = X.T @ X, RNG.uniform(0.1, 2, 6), np.zeros(6)


@pytest.mark.parametrize(
    ("reference", "H", "whole", "noise"),
    [
        ({"X": X}, K, K, NONE),
        ({"K": K}, K, K, NONE),
        ({"X": X, "target": B}, X.T @ B, B.T @ B, NONE),
        ({"K": K, "vectors": V}, K @ V, V.T @ K @ V, NONE),
        ({"K": K, "noise": EACH}, K, K, EACH),
        ({"X": X, "target": B, "noise": 0.5}, X.T @ B, B.T @ B, NONE + 0.5),
        ({"K": K, "vectors": V, "noise": EACH}, K @ V, V.T @ K @ V, EACH),
    ],
)
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_errors_of_all_choices(criterion, reference, H, whole, noise):
    exact = Reference(criterion=criterion, **reference)
    drawn = itertools.combinations_with_replacement if noise.any() else itertools.combinations
    for S in map(list, drawn(range(6), 3)):
        left = whole - H[S].T @ np.linalg.solve(K[np.ix_(S, S)] + np.diag(noise[S]), H[S])
        dense = np.trace(left) if criterion == "trace" else np.sum(left**2)
        assert float(exact.error(S)) == pytest.approx(dense, rel=1e-10)


def test_log_determinants():
    S = [1, 2, 4]
    plain, noisy = Reference(X=X, criterion="logdet"), Reference(K=K, noise=0.5, criterion="logdet")
    assert plain.error(S) == pytest.approx(-np.linalg.slogdet(K[np.ix_(S, S)])[1], rel=1e-10)
    assert plain.error([]) == noisy.error([]) == 0
    S = [1, 2, 2]
    assert plain.error(S) == np.inf
    inner = np.eye(3) + K[np.ix_(S, S)] / 0.5
    assert noisy.error(S) == pytest.approx(-np.linalg.slogdet(inner)[1], rel=1e-10)


def test_a_copy_adds_nothing():
    exact = Reference(X=X[:, [0, 0, 1, 2]])
    assert exact.error([0, 1]) == exact.error([0]) and exact.independent([0, 1, 2]) == [0, 2]
