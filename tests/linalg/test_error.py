"""Errors and bounds against dense formulas, and where they must not fail."""

import numpy as np
import pytest
from errors_of import best_rank_error, exact_error, plain, rank_bound, selection_error, total
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg import error as error_module
from landmarks.linalg.error import basis
from landmarks.operators.data import Data
from landmarks.operators.dense import Dense
from landmarks.operators.forms import densify

S = np.array([4, 0, 7])


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((12, 9))


def make_operators(X):
    K = X.T @ X
    return {
        "data": lm.data(X),
        "wide": lm.data(X[:5]),
        "psd": lm.psd(K),
        "function": lm.function(lambda V: K @ V, n=9),
        "kernel": lm.kernel(X.T, lm.rbf(sigma=5.0)),
        "toeplitz": lm.toeplitz(0.5 ** np.arange(9)),
    }


@pytest.mark.parametrize("name", ["data", "wide", "psd", "function", "kernel", "toeplitz"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_errors_are_those_of_the_dense_formula(X, name, criterion):
    operator = make_operators(X)[name]
    K = np.asarray(densify(operator))
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)]) @ K[S]
    expected = {"trace": np.trace(C), "frobenius": np.sum(C**2)}[criterion]
    whole = {"trace": np.trace(K), "frobenius": np.sum(K**2)}[criterion]
    assert_allclose(selection_error(operator, S, criterion), expected, atol=1e-10 * whole)
    assert_allclose(total(operator, criterion), whole, rtol=1e-12)


@pytest.mark.parametrize("name", ["data", "wide", "psd", "function", "kernel", "toeplitz"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_best_rank_error_is_the_eigenvalue_tail(X, name, criterion):
    operator = make_operators(X)[name]
    tail = np.linalg.eigvalsh(np.asarray(densify(operator)))[::-1][3:]
    expected = np.sum(np.maximum(tail, 0)) if criterion == "trace" else np.sum(tail**2)
    assert_allclose(
        best_rank_error(operator, 3, criterion), expected, atol=1e-10 * total(operator, criterion)
    )


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_bound_from_leading_eigenvalues_is_a_bound_and_nearly_the_tail(monkeypatch, criterion):
    points = np.random.default_rng(1).standard_normal((80, 3))
    operator = lm.kernel(points, lm.rbf(sigma=2.0))
    exact = best_rank_error(operator, 6, criterion)
    monkeypatch.setattr(error_module, "FULL_SPECTRUM", 10)
    bound = best_rank_error(operator, 6, criterion)
    assert 0.999 * exact <= bound <= exact * (1 + 1e-9)


def test_the_error_of_all_columns_is_zero_and_never_negative(X):
    for operator in make_operators(X).values():
        for criterion in ("trace", "frobenius"):
            error = selection_error(operator, np.arange(9), criterion)
            assert 0 <= error <= 30 * 9 * np.finfo(float).eps * total(operator, criterion)


def test_duplicate_chosen_columns_do_no_harm(X):
    X = np.hstack([X, X[:, :3]])
    assert_allclose(
        selection_error(lm.data(X), [0, 9, 1], "trace"),
        selection_error(lm.data(X), [0, 1], "trace"),
        rtol=1e-12,
    )
    K = lm.psd(X.T @ X)
    assert_allclose(
        selection_error(K, [0, 9, 1], "frobenius"),
        selection_error(K, [0, 1], "frobenius"),
        rtol=1e-10,
    )


def test_columns_are_judged_by_qr_where_the_gram_matrix_has_lost_the_digits():
    """Columns that differ by 1e-9: their Gram matrix is singular in float64, the data are not."""
    x = np.random.default_rng(2).standard_normal(30)
    e = np.random.default_rng(3).standard_normal(30)
    X = np.stack([x, x + 1e-9 * e, e], axis=1)
    assert selection_error(lm.data(X), [0, 1], "trace") < 1e-12 * np.sum(X**2)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_rigorous_bound_takes_off_what_rounding_may_have_added(X, criterion):
    """In float32 the entries of K are known to 1e-7, so that what is taken off can be seen."""
    K = (X.T @ X).astype(np.float32)
    values = np.linalg.eigvalsh(K.astype(np.float64))[::-1]
    power = 1 if criterion == "trace" else 2
    rounding = 8 * (9 + 8) * 2.0**-53 + 4 * 3.0 * np.finfo(np.float32).eps
    tail = np.sum(values[3:] ** power) ** (1 / power)
    expected = (tail - rounding * values[0] * 9 ** (1 / power)) ** power
    assert_allclose(rank_bound(Dense(K), 3, criterion), expected, rtol=1e-9)
    assert rank_bound(Dense(K), 9, criterion) == 0.0


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_rigorous_bound_of_columns_takes_off_what_rounding_may_have_added(X, criterion):
    near = X.copy()
    near[:, 3:] = X[:, :3] @ np.ones((3, 6)) + 1e-12 * X[:, 3:]  # a tail at the size of rounding
    values = np.linalg.svd(near, compute_uv=False) ** 2
    power = 1 if criterion == "trace" else 2
    rounding = 8 * (9 + 12 + 8) * 2.0**-53
    tail = np.sum(values[3:] ** power) ** (0.5 / power)
    expected = max(0.0, tail - rounding * np.sqrt(np.sum(values))) ** (2 * power)
    # the tail itself is known to some per cent here
    assert_allclose(rank_bound(Data(near), 3, criterion), expected, rtol=0.3)
    assert 0 < expected < 0.99 * tail ** (2 * power)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_rigorous_bound_from_leading_eigenvalues_takes_off_more(monkeypatch, criterion):
    points = np.random.default_rng(1).standard_normal((80, 3)).astype(np.float32)
    operator = lm.kernel(points, lm.rbf(sigma=0.5))
    monkeypatch.setattr(error_module, "FULL_SPECTRUM", 79)
    near = best_rank_error(operator, 6, criterion)
    monkeypatch.setattr(error_module, "DOUBLED", 79)
    doubt = 8 * np.sqrt(80) * np.finfo(np.float32).eps * total(operator, criterion)
    assert_allclose(near - rank_bound(operator, 6, criterion), doubt, rtol=0.05)
    monkeypatch.setattr(error_module, "DOUBLED", 80)  # then K is made again in float64
    assert near - rank_bound(operator, 6, criterion) < 0.05 * doubt


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_basis_of_columns_has_their_rank(X, criterion):
    twins = np.column_stack([X[:, :3], X[:, :2]])
    assert basis(plain(lm.data(twins)), [0, 1, 2, 3, 4]).shape == (12, 3)
    assert basis(plain(lm.data(twins)), []).shape == (12, 0)
    Q = basis(plain(lm.data(X)), S)
    assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    assert selection_error(lm.data(twins), [0, 1, 2], criterion) < 1e-20


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_rows_in_blocks_know_an_error_that_their_gram_matrix_hides(criterion):
    """The second column is beyond the rank of the Gram matrix, yet rebuilds the third."""
    rng = np.random.default_rng(2)
    x, e = rng.standard_normal((2, 30))
    X = np.stack([x, x + 1e-9 * e, x + 2e-9 * e], axis=1)
    operator = lm.data([X[:10], X[10:]])
    assert operator.m is None and operator.source is not None
    power = 1 if criterion == "trace" else 2
    alone = (5e-18 * np.sum((e - x * (x @ e) / (x @ x)) ** 2)) ** power
    assert exact_error(operator, [0, 1], criterion) < 1e-3 * alone
    # of 1e-9 e, rounding of x leaves seven digits
    assert_allclose(exact_error(operator, [0], criterion), alone, rtol=1e-5)
