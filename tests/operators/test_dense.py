"""A stored matrix: what it must be."""

import warnings

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import NotPSDError

K = np.array([[2.0, 1.0], [1.0, 3.0]])


def test_a_matrix_that_is_not_square_is_refused(xp):
    with pytest.raises(
        ValueError,
        match=r"K must be square, got shape \(2, 3\); for the columns of X use data\(X\)",
    ):
        lm.psd(xp.ones((2, 3)))


def test_fault_25_an_asymmetric_matrix_is_refused_with_the_asymmetry(xp):
    with pytest.raises(
        ValueError,
        match=r"K must be symmetric, but max\|K − Kᵀ\| is 0\.17 of max\|K\|; symmetrise it",
    ):
        lm.psd(xp.asarray(K + np.array([[0.0, 0.5], [0.0, 0.0]])))


def test_symmetry_can_be_warned_about_or_trusted():
    skew = K + np.array([[0.0, 0.5], [0.0, 0.0]])
    with pytest.warns(UserWarning, match="K must be symmetric"):
        lm.psd(skew, check_symmetric="warn")
    assert lm.psd(skew, check_symmetric=False).n == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_asymmetry_of_rounding_is_allowed(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lm.psd((K * (1 + np.finfo(dtype).eps * np.array([[0, 1], [0, 0]]))).astype(dtype))


def test_a_negative_diagonal_entry_is_refused(xp):
    with pytest.raises(
        NotPSDError, match=r"K must be positive semidefinite, but K\[1, 1\] = -1 is negative"
    ):
        lm.psd(xp.asarray([[1.0, 0.0], [0.0, -1.0]]))


def test_fault_26_an_indefinite_matrix_is_reported_by_its_eigenvalue():
    K = np.full((3, 3), -0.9) + 1.9 * np.eye(3)
    with pytest.raises(NotPSDError, match="it has the eigenvalue -0.8"):
        lm.psd(K)
    lm.psd(K, check_symmetric=False)


def test_rounding_does_not_make_a_matrix_indefinite():
    X = np.random.default_rng(0).standard_normal((3, 200))
    lm.psd(X.T @ X)
    lm.psd((X.T @ X).astype(np.float32))


@pytest.mark.parametrize(("dtype", "least"), [(np.float32, -1e-6), (np.float64, -1e-10)])
def test_a_diagonal_may_be_negative_by_rounding_alone(dtype, least):
    lm.psd(np.diag([1.0, least]).astype(dtype))
    with pytest.raises(NotPSDError, match=r"K\[1, 1\] = .* is negative"):
        lm.psd(np.diag([1.0, 100 * least]).astype(dtype))


def test_a_minor_may_be_negative_by_rounding_alone():
    for dtype, slack in ((np.float64, 1e-8), (np.float32, 1e-4)):
        lm.psd(np.array([[1.0, 1.0 + slack / 2], [1.0 + slack / 2, 1.0]], dtype=dtype))
        with pytest.raises(
            NotPSDError, match=r"\|K\[0, 1\]\| = 1 exceeds √\(K\[0, 0\] K\[1, 1\]\)"
        ):
            lm.psd(np.array([[1.0, 1.0 + 2 * slack], [1.0 + 2 * slack, 1.0]], dtype=dtype))


@pytest.mark.parametrize(("dtype", "slack"), [(np.float32, 1e-4), (np.float64, 1e-8)])
def test_the_eigenvalue_that_is_allowed_grows_with_the_order(dtype, slack):
    """K = I − (1 + s) vvᵀ has the eigenvalue −s; rounding of n = 100 may make −10 slack of it."""
    for share, allowed in ((0.5, True), (2.0, False)):
        K = np.eye(100) - (1 + share * 10 * slack) * np.full((100, 100), 0.01)
        if allowed:
            assert lm.psd(K.astype(dtype)).n == 100
        else:
            with pytest.raises(NotPSDError, match="it has the eigenvalue -"):
                lm.psd(K.astype(dtype))


def test_above_256_definiteness_is_looked_at_where_products_are_made():
    """A Cholesky factor costs n³/3, more than a method that reads k columns."""
    K = np.eye(300) - 1.2 * np.full((300, 300), 1 / 300)  # the eigenvalue −0.2
    for method in ("auto", "greedy", "swap", "nuclear"):
        with pytest.raises(NotPSDError, match="it has the eigenvalue -0.2"):
            lm.select(lm.psd(K), 3, method=method)
        assert lm.select(lm.psd(K, check_symmetric=False), 3, method="pivoted_qr").k == 3
    far = np.zeros((300, 300))
    far[299, 7] = 1e-3
    with pytest.raises(ValueError, match=r"K must be symmetric, but max\|K − Kᵀ\| is 0.001 of"):
        lm.psd(np.eye(300) + far)
    with pytest.raises(NotPSDError, match=r"\|K\[7, 299\]\| = 1.5 exceeds"):
        lm.psd(np.eye(300) + 1500 * (far + far.T))


@pytest.mark.parametrize("method", ["pivoted_qr", "rpcholesky"])
def test_fault_96_a_method_that_reads_k_columns_reads_no_more(method):
    points = np.random.default_rng(0).standard_normal((400, 3))
    s = lm.select(lm.psd(lm.rbf(1.0)(points, points)), 10, method=method)
    assert s.ledger.products == 0
    assert s.ledger.columns <= 20 and s.ledger.entries <= 24 * 400


def test_a_stored_matrix_takes_names():
    s = lm.select(lm.psd(np.diag([1.0, 3.0, 2.0]), names=["x", 7, "z"]), 2, method="greedy")
    assert s.chosen_names == [7, "z"] and s.names == ("x", "7", "z")
    with pytest.raises(ValueError, match="expected 3 names, one for each column of K, got 2"):
        lm.psd(np.eye(3), names=["x", "y"])
