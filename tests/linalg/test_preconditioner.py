"""(K̂ + ridge · I)⁻¹ as an object."""

import numpy as np
import pytest
import scipy.sparse.linalg
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg.nystrom import Nystrom

POINTS = np.random.default_rng(0).standard_normal((200, 2))
K = lm.rbf(sigma=2.0)(POINTS, POINTS)


def approximation(points):
    return lm.select(lm.kernel(points, lm.rbf(sigma=2.0)), 20, method="greedy").nystrom()


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 1e6])
def test_it_is_the_dense_inverse_in_every_library(xp, ridge):
    nystrom = approximation(xp.asarray(POINTS))
    F = np.asarray(nystrom.factor)
    b = np.random.default_rng(1).standard_normal((200, 3))
    expected = np.linalg.solve(F @ F.T + ridge * np.eye(200), b)
    # the dense solve itself loses condition · eps = (100 / 1e-6) · 1e-16 digits
    assert_allclose(
        np.asarray(nystrom.preconditioner(ridge) @ xp.asarray(b)),
        expected,
        rtol=1e-7,
        atol=1e-7 * np.abs(expected).max(),
    )


def test_two_square_roots_make_the_inverse():
    P = approximation(POINTS).preconditioner(1e-3)
    assert_allclose(P.power(P.power(POINTS, -0.5), -0.5), P @ POINTS, rtol=1e-9, atol=1e-9)
    assert_allclose(P.power(P @ POINTS, 1.0), POINTS, atol=1e-10)


def test_in_single_precision_rounding_is_not_magnified_inside_the_approximation():
    nystrom = lm.select(
        lm.kernel(POINTS.astype(np.float32), lm.rbf(sigma=2.0)), 14, method="greedy"
    ).nystrom()
    P = nystrom.preconditioner(1e-6)
    values, U = nystrom.eigenpairs()
    assert P.dtype == U.dtype == np.float32
    # a single projection leaves eps / ridge = 0.1, not the true 0.009
    assert_allclose((U.T @ (P @ U[:, :1]))[0, 0], 1 / values[0], rtol=1e-4)


def eliminated(A, b):
    """A⁻¹ b and the pivots, in extended precision."""
    A, b = A.astype(np.longdouble), b.astype(np.longdouble)
    for i in range(len(A)):
        shares = A[:, i] / A[i, i]
        shares[i] = 0.0
        A, b = A - np.outer(shares, A[i]), b - np.outer(shares, b[i])
    return b / np.diag(A)[:, None], np.diag(A)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [1e-14, 1e-10, 1e-6, 1e-3, 1.0, 1e3])
def test_spectra_that_fall_fast_cost_no_more_digits_than_a_stable_dense_solve(dtype, ridge):
    """Eigenvalues of K̂ from 1 to 1e-12, and to 1e-4 in single precision."""
    rng, eps = np.random.default_rng(0), np.finfo(dtype).eps
    Q = np.linalg.qr(rng.standard_normal((50, 16)))[0]
    A = (Q * np.logspace(0, -12 if dtype == np.float64 else -4, 16)) @ Q.T
    N = lm.select(lm.psd(((A + A.T) / 2).astype(dtype)), 16, method="greedy").nystrom()
    F = N.factor.astype(np.longdouble)
    U = np.linalg.svd(N.factor)[0]
    b = np.concatenate(
        [rng.standard_normal((50, 2)), U, N @ rng.standard_normal((50, 2))], axis=1, dtype=dtype
    )
    expected, pivots = eliminated(F @ F.T + ridge * np.eye(50), b)
    lengths = np.linalg.norm(expected.astype(np.float64), axis=0)
    condition = 1 + N.eigenpairs()[0][0] / ridge
    off = np.linalg.norm((N.solve(b, ridge) - expected).astype(np.float64), axis=0)
    assert N.factor.shape == (50, 16) and np.all(off < 4 * eps * condition * lengths)
    assert_allclose(N.log_determinant(ridge), float(np.sum(np.log(pivots))), rtol=1e-9)


def test_duplicate_points_do_no_harm():
    points = np.concatenate([POINTS, POINTS])
    nystrom = Nystrom(lm.kernel(points, lm.rbf(sigma=2.0)), np.array([0, 200, 1, 201, 2]))
    F = nystrom.factor
    assert F.shape == (400, 3)
    b = np.ones((400, 1))
    assert_allclose(
        nystrom.preconditioner(1e-2) @ b,
        np.linalg.solve(F @ F.T + 1e-2 * np.eye(400), b),
        rtol=1e-8,
    )


def steps_of_cg(M):
    steps = []
    _, failed = scipy.sparse.linalg.cg(
        K + 1e-6 * np.eye(200), POINTS[:, 0], M=M, rtol=1e-8, maxiter=5000, callback=steps.append
    )
    assert failed == 0
    return len(steps)


def test_scipy_takes_it_and_conjugate_gradients_take_fewer_steps():
    P = lm.select(lm.psd(K), 60, method="greedy").nystrom().preconditioner(1e-6)
    assert 10 * steps_of_cg(P) < steps_of_cg(None)


def test_the_units_are_those_of_the_data():
    P = lm.select(lm.psd(K * 1e200), 20, method="greedy").nystrom().preconditioner(1e197)
    Q = lm.select(lm.psd(K), 20, method="greedy").nystrom().preconditioner(1e-3)
    assert_allclose(P @ POINTS, (Q @ POINTS) * 1e-200, rtol=1e-6, atol=1e-206)


def test_a_ridge_must_be_positive():
    with pytest.raises(ValueError, match="ridge must be a positive number, got 0"):
        approximation(POINTS).preconditioner(0.0)
