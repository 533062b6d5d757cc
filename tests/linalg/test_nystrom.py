"""The Nyström approximation as an object."""

import os

import clusters
import numpy as np
import pytest
import scipy.sparse.linalg
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg import nystrom


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((40, 3)) + 50.0


@pytest.fixture
def approximation(points):
    return lm.select(lm.kernel(points, lm.rbf(sigma=2.0)), 8, method="greedy").nystrom()


def test_the_factor_gives_the_nystrom_approximation(points, approximation):
    K = lm.rbf(sigma=2.0)(points - 50, points - 50)
    S = approximation.indices
    assert_allclose(
        approximation.factor @ approximation.factor.T,
        K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]),
        atol=1e-10,
    )


def test_products_and_diagonal_are_those_of_the_factor(approximation):
    dense = approximation.factor @ approximation.factor.T
    V = np.random.default_rng(1).standard_normal((40, 2))
    assert_allclose(approximation.matmul(V), dense @ V, atol=1e-12)
    assert_allclose(approximation.diagonal(), np.diag(dense), atol=1e-12)


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 1e6])
def test_the_regularised_solve_solves(approximation, ridge):
    b = np.random.default_rng(1).standard_normal((40, 2))
    x = approximation.solve(b, ridge)
    assert_allclose(approximation.matmul(x) + ridge * x, b, atol=1e-8)


def test_the_features_of_the_points_are_the_factor(points, approximation):
    assert_allclose(approximation.features(points), approximation.factor, atol=1e-9)


def test_features_of_other_dimensions_are_refused(approximation):
    with pytest.raises(ValueError, match="must have 3 columns"):
        approximation.features(np.zeros((2, 4)))


def test_features_need_a_kernel():
    with pytest.raises(TypeError, match="need a kernel operator"):
        lm.select(np.eye(3), 1, method="greedy").nystrom().features(np.eye(3))


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 1e6])
def test_the_log_determinant_is_that_of_the_dense_matrix(approximation, ridge):
    dense = approximation.factor @ approximation.factor.T + ridge * np.eye(40)
    assert_allclose(approximation.log_determinant(ridge), np.linalg.slogdet(dense)[1], rtol=1e-9)


def test_the_eigenpairs_rebuild_the_approximation(approximation):
    values, vectors = approximation.eigenpairs()
    assert_allclose(
        vectors @ np.diag(values) @ vectors.T,
        approximation.factor @ approximation.factor.T,
        atol=1e-12,
    )
    assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-12)


def test_eigenvectors_are_orthonormal_however_fast_the_spectrum_falls():
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 16)))[0]
    A = (Q * np.logspace(0, -12, 16)) @ Q.T
    values, U = lm.select(lm.psd((A + A.T) / 2), 16, method="greedy").nystrom().eigenpairs()
    assert_allclose(U.T @ U, np.eye(16), atol=1e-14)
    assert_allclose((U * values) @ U.T, A, atol=1e-14)
    assert_allclose(values, np.logspace(0, -12, 16), rtol=1e-3)


@pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="peaks of memory are read from Linux"
)
def test_nothing_of_the_size_of_the_factor_is_made_beside_it():
    points = np.random.default_rng(0).standard_normal((60_000, 2))
    N = nystrom.Nystrom(lm.kernel(points, lm.rbf(sigma=0.3)), np.arange(160))
    F, b = N.factor, points[:, :1]
    before = clusters.forget_peak()
    N.solve(b, 1e-3), N.log_determinant(1e-3), N.diagonal()
    assert clusters.peak_memory() - before < F.nbytes // 2


def test_as_a_preconditioner_it_saves_steps_of_conjugate_gradients():
    points = np.random.default_rng(2).standard_normal((300, 2))
    operator = lm.kernel(points, lm.rbf(sigma=2.0))
    K = lm.rbf(sigma=2.0)(points, points) + 1e-3 * np.eye(300)
    approximation = lm.select(operator, 40, method="greedy").nystrom()
    steps = {"none": 0, "nystrom": 0}

    def count(name):
        def step(_):
            steps[name] += 1

        return step

    b = np.ones(300)
    solve = scipy.sparse.linalg.LinearOperator(
        (300, 300), matvec=lambda v: approximation.solve(v.reshape(-1, 1), 1e-3)[:, 0]
    )
    scipy.sparse.linalg.cg(K, b, rtol=1e-8, callback=count("none"))
    scipy.sparse.linalg.cg(K, b, rtol=1e-8, M=solve, callback=count("nystrom"))
    assert 5 * steps["nystrom"] < steps["none"]


def test_scipy_takes_it_as_a_linear_operator(approximation):
    dense = approximation.factor @ approximation.factor.T
    A = scipy.sparse.linalg.aslinearoperator(approximation)
    V = np.random.default_rng(1).standard_normal((40, 2))
    assert A.shape == (40, 40) and A.dtype == np.float64
    assert_allclose(A @ V, dense @ V, atol=1e-12)
    assert_allclose(A.H @ V[:, 0], dense @ V[:, 0], atol=1e-12)
    assert_allclose(approximation @ V[:, 0], dense @ V[:, 0], atol=1e-12)
    largest = scipy.sparse.linalg.eigsh(A, k=2, v0=V[:, 0], return_eigenvectors=False)
    assert_allclose(np.sort(largest)[::-1], approximation.eigenpairs()[0][:2], rtol=1e-10)


@pytest.mark.parametrize("block", [np.ones(39), np.ones((2, 40)), np.ones((40, 1, 1)), 3.0])
@pytest.mark.parametrize("use", ["product", "solve"])
def test_a_vector_of_another_length_is_refused(approximation, block, use):
    with pytest.raises(ValueError, match=r"a vector of length 40 or a block of 40 rows, got"):
        approximation @ block if use == "product" else approximation.solve(block, 1.0)


@pytest.mark.parametrize("noise", [None, 0.1])
def test_errors_and_factors_of_large_kernels_come_in_tiles_of_rows(noise, monkeypatch):
    points = np.random.default_rng(0).standard_normal((3000, 2))
    K = lm.kernel(points, lm.rbf(sigma=1.0), memory=2**20)  # tiles of 1092 rows
    found = []
    for memory in (2**28, 0):
        monkeypatch.setattr(nystrom, "MEMORY", memory)
        s = lm.select(K, 30, method="greedy" if noise else "uniform", noise=noise)
        found.append((s.error(), s.nystrom() @ points))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-12)
    assert_allclose(found[1][1], found[0][1], atol=1e-9)
