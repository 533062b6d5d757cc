"""Every solver against the dense solution, and what makes block conjugate gradients trustworthy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import NotPSDError
from landmarks.linalg.solvers import Automatic, BlockCG, Cholesky, Woodbury
from landmarks.methods.relaxation.relaxed import System

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
    system = System(lm.data(xp.asarray(X)), xp.asarray(t), 0.7)
    solution = solver.prepare(system)(xp.asarray(B))
    expected = np.linalg.solve(dense_system(X, t, 0.7), B)
    assert solution.converged
    assert_allclose(np.asarray(solution.x), expected, atol=1e-8 * np.max(np.abs(expected)))


def test_conjugate_gradients_reach_their_tolerance(rng):
    system = System(lm.psd(np.diag(np.logspace(0, 3, 50))), np.full(50, 0.9), 1.0)
    B = rng.standard_normal((50, 4))
    solution = BlockCG(tolerance=1e-5).prepare(system)(B)
    true = np.max(np.linalg.norm(B - system.matmul(solution.x), axis=0) / np.linalg.norm(B, axis=0))
    assert solution.converged and true <= 1e-5 * (1 + 1e-6)


@pytest.mark.parametrize("columns", ["zero", "equal", "one zero", "more than n"])
def test_dependent_right_hand_sides_do_no_harm(columns, rng):
    B = rng.standard_normal((12, 3))
    B = {
        "zero": 0 * B,
        "equal": B[:, [0, 0, 0]],
        "one zero": B * [1, 0, 1],
        "more than n": rng.standard_normal((12, 20)),
    }[columns]
    system = System(lm.data(rng.standard_normal((20, 12))), rng.uniform(0.2, 0.8, 12), 1.0)
    solution = BlockCG(tolerance=1e-10).prepare(system)(B)
    assert solution.converged
    assert_allclose(system.matmul(solution.x), B, atol=1e-8)


@pytest.mark.parametrize("solver", [BlockCG(), Cholesky()], ids=repr)
def test_fault_26_an_indefinite_matrix_is_reported(solver, rng):
    K = np.diag([3.0, 2.0, 1.0, 1.0])
    K[2, 3] = K[3, 2] = 5.0
    with pytest.raises(NotPSDError, match="not positive semidefinite"):
        solver.prepare(System(lm.psd(K, check_symmetric=False), np.full(4, 0.99), 0.01))(
            rng.standard_normal((4, 2))
        )


def test_float32_stays_float32(rng):
    system = System(
        lm.data(rng.standard_normal((30, 10)).astype(np.float32)),
        np.full(10, 0.5, dtype=np.float32),
        1.0,
    )
    for solver in (BlockCG(), Cholesky(), Woodbury()):
        assert (
            solver.prepare(system)(rng.standard_normal((10, 2)).astype(np.float32)).x.dtype
            == np.float32
        )
