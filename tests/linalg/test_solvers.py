"""Every solver against the dense solution, and what makes block conjugate gradients trustworthy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import NotPSDError
from landmarks.linalg.solvers import Automatic, BlockCG, Cholesky, Woodbury, factorise
from landmarks.methods.relaxation.relaxed import System
from landmarks.operators.data import data

SOLVERS = [
    BlockCG(tolerance=1e-10),
    Cholesky(),
    Woodbury(),
    Automatic(direct_below=5, iterative=BlockCG(tolerance=1e-10)),
    Automatic(),
]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def dense_system(X, t, delta):
    return t[:, None] * (X.T @ X) * t + np.diag(delta * (1 - t**2))


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("m", [8, 50])
def test_every_solver_solves_the_system(solver, m, rng, xp):
    X, t, B = (
        rng.standard_normal((m, 30)),
        rng.uniform(0.01, 0.99, 30),
        rng.standard_normal((30, 4)),
    )
    system = System(data(xp.asarray(X)), xp.asarray(t), 0.7)
    solution = solver.prepare(system)(xp.asarray(B))
    expected = np.linalg.solve(dense_system(X, t, 0.7), B)
    assert solution.converged and solution.residual < 1e-9
    assert_allclose(np.asarray(solution.x), expected, atol=1e-8 * np.max(np.abs(expected)))


def test_woodbury_is_accurate_when_weights_are_near_one(rng):
    X, B = rng.standard_normal((5, 20)), rng.standard_normal((20, 3))
    t = np.where(np.arange(20) < 5, 1 - 1e-6, 0.3)
    system = System(data(X), t, 1.0)
    x = Woodbury().prepare(system)(B).x
    assert_allclose(system.matmul(x), B, atol=1e-7)


def test_block_cg_reports_steps_and_residual_when_it_stops_early(rng):
    system = System(lm.psd(np.diag(np.logspace(0, 6, 50))), np.full(50, 0.999), 1.0)
    solution = BlockCG(tolerance=1e-12, max_steps=3).prepare(system)(rng.standard_normal((50, 2)))
    assert solution.steps == 3 and not solution.converged and solution.residual > 1e-12


def test_the_reported_residual_is_the_true_one(rng):
    system = System(lm.psd(np.diag(np.logspace(0, 3, 50))), np.full(50, 0.9), 1.0)
    B = rng.standard_normal((50, 4))
    solution = BlockCG(tolerance=1e-5).prepare(system)(B)
    true = np.max(np.linalg.norm(B - system.matmul(solution.x), axis=0) / np.linalg.norm(B, axis=0))
    assert_allclose(solution.residual, true, rtol=1e-6)


def test_a_block_needs_fewer_steps_than_its_columns(rng):
    system = System(lm.psd(np.diag(np.logspace(0, 4, 60))), np.full(60, 0.99), 1.0)
    B, cg = rng.standard_normal((60, 8)), BlockCG(tolerance=1e-8)
    alone = [cg.prepare(system)(B[:, [j]]).steps for j in range(8)]
    assert cg.prepare(system)(B).steps < min(alone)


@pytest.mark.parametrize("columns", ["zero", "equal", "one zero", "more than n"])
def test_dependent_right_hand_sides_do_no_harm(columns, rng):
    B = rng.standard_normal((12, 3))
    B = {
        "zero": 0 * B,
        "equal": B[:, [0, 0, 0]],
        "one zero": B * [1, 0, 1],
        "more than n": rng.standard_normal((12, 20)),
    }[columns]
    system = System(data(rng.standard_normal((20, 12))), rng.uniform(0.2, 0.8, 12), 1.0)
    solution = BlockCG(tolerance=1e-10).prepare(system)(B)
    assert solution.converged
    assert_allclose(system.matmul(solution.x), B, atol=1e-8)


def test_a_zero_right_hand_side_costs_nothing():
    operator = lm.psd(np.eye(4))
    solution = BlockCG().prepare(System(operator, np.full(4, 0.5), 1.0))(np.zeros((4, 2)))
    assert solution.steps == 0 and operator.ledger.products == 0


@pytest.mark.parametrize("solver", [BlockCG(), Cholesky()], ids=repr)
def test_an_indefinite_matrix_is_reported(solver, rng):
    K = np.diag([3.0, 2.0, 1.0, 1.0])
    K[2, 3] = K[3, 2] = 5.0
    with pytest.raises(NotPSDError, match="not positive semidefinite"):
        solver.prepare(System(lm.psd(K, check_symmetric=False), np.full(4, 0.99), 0.01))(
            rng.standard_normal((4, 2))
        )


def test_float32_stays_float32(rng):
    system = System(
        data(rng.standard_normal((30, 10)).astype(np.float32)),
        np.full(10, 0.5, dtype=np.float32),
        1.0,
    )
    for solver in (BlockCG(), Cholesky(), Woodbury()):
        assert (
            solver.prepare(system)(rng.standard_normal((10, 2)).astype(np.float32)).x.dtype
            == np.float32
        )


@pytest.mark.parametrize("solver", [Cholesky(), Woodbury()], ids=repr)
def test_a_direct_solver_takes_no_steps(solver, rng):
    system = System(data(rng.standard_normal((4, 9))), np.full(9, 0.5), 1.0)
    solution = solver.prepare(system)(rng.standard_normal((9, 2)))
    assert solution.steps == 0 and solution.converged


@pytest.mark.parametrize(
    ("least", "lift"), [(0.0, 10.0), (-3e-15, 10.0), (-5e-14, 1e3), (-5e-12, 1e5)]
)
def test_a_matrix_that_is_singular_by_rounding_is_lifted_by_as_little_as_makes_it_definite(
    least, lift
):
    A = np.diag([1.0, least])
    L = factorise(A)
    assert_allclose(np.diag(L @ L.T - A), 2 * lift * np.finfo(float).eps, rtol=1e-3, atol=3e-16)


def test_a_matrix_that_is_indefinite_beyond_rounding_is_refused():
    with pytest.raises(NotPSDError, match="has the eigenvalue -1e-10"):
        factorise(np.diag([1.0, -1e-10]))


@pytest.mark.parametrize("solver", [Cholesky(), Woodbury()], ids=repr)
def test_the_residual_of_a_direct_solver_is_that_of_the_first_column(solver, rng):
    X, t = rng.standard_normal((8, 30)), np.where(np.arange(30) < 15, 1 - 1e-7, 0.3)
    B = rng.standard_normal((30, 3)) * [1.0, 1e6, 1e6]
    system = System(data(X), t, 1e-6)
    solution = solver.prepare(system)(B)
    true = np.linalg.norm(system.matmul(solution.x[:, :1]) - B[:, :1]) / np.linalg.norm(B[:, :1])
    assert 0 < true / 3 < solution.residual < 3 * true
