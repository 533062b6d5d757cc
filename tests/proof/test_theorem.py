"""The theorem of docs/proof.md: for δ ≤ λ_min the paper's relaxation is convex and a bound."""

from itertools import combinations

import numpy as np
import pytest
import scipy.optimize

pytestmark = pytest.mark.thorough


def gram(n, seed):
    X = np.random.default_rng(seed).standard_normal((n + 3, n))
    return X.T @ X


def relaxed(K, t, delta):
    """tr K − tr K T L_t⁻¹ T K with L_t = T(K − δI)T + δI, as the paper writes it."""
    T = np.diag(t)
    L = T @ (K - delta * np.eye(len(K))) @ T + delta * np.eye(len(K))
    return np.trace(K) - np.trace(K @ T @ np.linalg.solve(L, T @ K))


def errors(K, k):
    def error(S):
        return np.trace(K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]))

    return {S: error(list(S)) for S in combinations(range(len(K)), k)}


def least(K, delta, k):
    """The minimum over Σ t² = k, found in z = t²."""
    n = len(K)
    start = np.full(n, k / n)
    found = scipy.optimize.minimize(
        lambda z: relaxed(K, np.sqrt(np.maximum(z, 1e-12)), delta),
        start,
        bounds=[(1e-9, 1.0)] * n,
        constraints={"type": "eq", "fun": lambda z: np.sum(z) - k},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return found.fun


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_error_at_the_corners(seed):
    K = gram(6, seed)
    delta = np.linalg.eigvalsh(K)[0]
    for S, error in errors(K, 3).items():
        t = np.isin(np.arange(6), S).astype(float)
        assert relaxed(K, t, delta) == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_convex_in_the_squares_below_the_least_eigenvalue(seed):
    K, rng = gram(6, seed), np.random.default_rng(seed)
    delta = np.linalg.eigvalsh(K)[0]
    for _ in range(50):
        a, b = rng.uniform(0, 1, (2, 6))
        middle = relaxed(K, np.sqrt((a + b) / 2), delta)
        ends = relaxed(K, np.sqrt(a), delta) + relaxed(K, np.sqrt(b), delta)
        assert middle <= ends / 2 * (1 + 1e-12)


def test_above_the_least_eigenvalue_it_need_not_be():
    """One eigenvalue far below δ is enough."""
    K = np.asarray([[1.0, 0.99], [0.99, 1.0]])
    a, b = np.asarray([0.9, 0.1]), np.asarray([0.1, 0.9])
    ends = [relaxed(K, np.sqrt(z), 1.0) for z in (a, b)]
    assert relaxed(K, np.sqrt((a + b) / 2), 1.0) > np.mean(ends)


@pytest.mark.parametrize("seed", range(5))
def test_its_minimum_is_a_bound(seed):
    K = gram(6, seed)
    bound = least(K, np.linalg.eigvalsh(K)[0], 3)
    assert 0 < bound <= min(errors(K, 3).values()) * (1 + 1e-9)


def test_the_formula_is_that_of_the_dual():
    """tr K − tr K(G + DZ⁻¹)⁻¹K with G = K − D, D = δI and z = t²."""
    K, t, delta = gram(5, 0), np.linspace(0.2, 0.9, 5), 0.3
    inner = K - delta * np.eye(5) + delta * np.diag(1 / t**2)
    expected = np.trace(K - K @ np.linalg.inv(inner) @ K)
    assert relaxed(K, t, delta) == pytest.approx(expected, rel=1e-12)
