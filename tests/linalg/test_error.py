"""Errors and bounds against dense formulas, and where they must not fail."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg import error as error_module
from landmarks.linalg.error import best_rank_error, selection_error, total
from landmarks.operators.dense import densify

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
