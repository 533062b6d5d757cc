"""The dual bound: its gradient, its validity, and an oracle that solves the primal relaxation."""

from itertools import combinations

import numpy as np
import pytest

from landmarks.proof.climb import Descent, branch, starting_point
from landmarks.proof.dual import Dual, Point, safe_value

pytestmark = pytest.mark.thorough


def gram(m, n, seed=0):
    X = np.random.default_rng(seed).standard_normal((m, n))
    return X.T @ X


def random_point(K, candidates, seed=0):
    rng, n = np.random.default_rng(seed), len(K)
    least = np.linalg.eigvalsh(K[:candidates, :candidates])[0]
    R = rng.standard_normal((candidates, n))
    R[np.diag_indices(candidates)] = 0.0
    D = least * rng.uniform(0.3, 0.9, candidates)
    theta, mu = rng.uniform(0, 1, candidates), rng.standard_normal(candidates)
    return Point(np.log(D), theta, mu, R, rng.standard_normal((candidates, n)))


def error(K, S):
    return np.trace(K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]))


def optimum(K, k, candidates):
    return min(error(K, list(S)) for S in combinations(range(candidates), k))


def climbed(dual, steps=400):
    descent = Descent(starting_point(dual).flat())
    for tau in np.geomspace(0.05, 1e-4, 10) * np.trace(dual.K) / 10:
        descent.follow(lambda x, tau=tau: dual.evaluate(x, tau), steps // 10, np.inf)
    return Point.of(descent.x, dual.candidates)


@pytest.mark.parametrize("candidates", [6, 4])
def test_the_gradient_is_that_of_finite_differences(candidates):
    K = gram(9, 6)
    dual = Dual(K, 2, candidates)
    x = random_point(K, candidates).flat()
    free = np.ones(len(x), dtype=bool)
    free[3 * candidates : 3 * candidates + candidates * 6].reshape(candidates, 6)[
        np.diag_indices(candidates)
    ] = False
    step = 1e-6 * np.eye(len(x))
    ahead = np.asarray([dual.evaluate(x + d, 0.5)[0] for d in step])
    behind = np.asarray([dual.evaluate(x - d, 0.5)[0] for d in step])
    gradient = dual.evaluate(x, 0.5)[1]
    np.testing.assert_allclose(gradient[free], (ahead - behind)[free] / 2e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("candidates", [7, 5])
def test_every_point_is_a_bound(seed, candidates):
    K = gram(10, 7, seed)
    dual = Dual(K, 3, candidates)
    value = dual.value(random_point(K, candidates, seed))
    assert value < optimum(K, 3, candidates)


@pytest.mark.parametrize("seed", range(5))
def test_the_ascent_ends_between_the_tail_and_the_optimum(seed):
    K = gram(12, 8, seed)
    dual = Dual(K, 3, 8)
    value = dual.value(climbed(dual))
    tail = np.sum(np.linalg.eigvalsh(K)[:5])
    assert tail < value <= optimum(K, 3, 8)


def test_a_doubt_of_the_entries_lowers_the_safe_value():
    K = gram(12, 8)
    dual = Dual(K, 3, 8)
    point = climbed(dual, 200)
    values = [safe_value(dual, point, doubt * np.abs(K)) for doubt in (1e-15, 1e-9, 1e-6)]
    assert values[0] > values[1] > values[2]


def test_the_safe_value_holds_when_the_point_is_damaged():
    """Nothing about the point need be exact, so noise in it can only lower the bound."""
    K = gram(12, 8)
    dual = Dual(K, 3, 8)
    x = climbed(dual, 200).flat()
    rng = np.random.default_rng(0)
    for size in (1e-12, 1e-6, 1e-3):
        noisy = Point.of(x + size * rng.standard_normal(len(x)), 8)
        assert safe_value(dual, noisy, 1e-15 * np.abs(K)) <= optimum(K, 3, 8)


@pytest.mark.parametrize("seed", range(5))
def test_a_bound_with_fixed_candidates_is_below_the_best_of_those_choices(seed):
    K = gram(12, 8, seed)
    fixed = np.asarray([1, -1, 0, 0, 0, 0, -1, 0])
    dual = Dual(K, 3, 8, fixed)
    best = min(error(K, [0, *S]) for S in combinations([2, 3, 4, 5, 7], 2))
    point = climbed(dual, 200)
    free = Dual(K, 3, 8).value(point)
    assert free < dual.value(point) <= best
    assert safe_value(dual, point, 1e-15 * np.abs(K)) <= best
    assert dual.value(random_point(K, 8, seed)) <= best


@pytest.mark.parametrize("seed", range(5))
def test_branching_raises_the_bound_and_its_cases_cover_all_choices(seed):
    K = gram(14, 9, seed)
    dual, best = Dual(K, 3, 9), optimum(K, 3, 9)
    x = climbed(dual, 100).flat()
    cases = branch(dual, x, best, 2.0, lambda: False)
    covered = [sum(allows(case, S) for case in cases) for S in combinations(range(9), 3)]
    assert covered == [1] * len(covered)
    assert dual.value(Point.of(x, 9)) < min(case.value for case in cases) <= best
    for case in cases:
        own = [error(K, list(S)) for S in combinations(range(9), 3) if allows(case, S)]
        assert case.value <= min(own)


def allows(case, S):
    inside = np.isin(np.arange(len(case.dual.fixed)), S)
    return np.all(inside[case.dual.fixed > 0]) and not np.any(inside[case.dual.fixed < 0])


def test_no_bound_outside_the_domain():
    K = gram(9, 6)
    point = random_point(K, 6)._replace(logD=np.full(6, 9.0))
    assert Dual(K, 2, 6).value(point) == safe_value(Dual(K, 2, 6), point, 0 * K) == -np.inf


def relaxation(K, k):
    """The primal relaxation of docs/proof.md, solved by an interior-point method."""
    cp = pytest.importorskip("cvxpy", reason="the oracle of the dual bound needs cvxpy")
    n = len(K)
    B, Y, Theta = cp.Variable((n, n)), cp.Variable((n, n), PSD=True), cp.Variable((n, n), PSD=True)
    z = cp.Variable(n)
    Z = cp.diag(z)
    constraints = [z >= 0, z <= 1, cp.sum(z) == k, cp.diag(B) == z, np.eye(n) - Y >> 0]
    constraints += [cp.trace(Y) == k, cp.bmat([[Theta, B], [B.T, Y]]) >> 0]
    constraints += [cp.bmat([[Theta - Z, B - Z], [(B - Z).T, np.eye(n) - Z]]) >> 0]
    constraints += [cp.quad_over_lin(B[j], z[j]) <= Theta[j, j] for j in range(n)]
    value = np.trace(K) - 2 * cp.trace(K @ B) + cp.trace(K @ Theta)
    return cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("n, k", [(6, 2), (7, 3), (8, 3), (8, 4)])
def test_the_dual_comes_close_to_the_semidefinite_program(n, k):
    """The solver is accurate to about 1e-6; 4000 steps come 96 % of the way from the tail."""
    K = gram(n + 3, n, seed=n)
    best = relaxation(K, k)
    dual = Dual(K, k, n)
    value = dual.value(climbed(dual, 1000))
    tail = np.sum(np.linalg.eigvalsh(K)[: n - k])
    assert tail + 0.9 * (best - tail) < value <= best * (1 + 1e-5)
    assert best <= optimum(K, k, n) * (1 + 1e-5)
