"""The eigenvalue tail as a bound that holds: never above the tail in 50 digits."""

import numpy as np
import pytest
from errors_of import best_rank_error, rank_bound, selection_error

import landmarks as lm

pytestmark = pytest.mark.thorough

mpmath = pytest.importorskip("mpmath", reason="the tail in 50 digits needs mpmath")


def tail(K, k, power):
    with mpmath.workdps(50):
        values = sorted(mpmath.eigsy(K, eigvals_only=True))
        return float(sum(value**power for value in values[: len(values) - k]))


def exact_gram(X):
    with mpmath.workdps(50):
        X = mpmath.matrix(X.tolist())
        return X.T * X


@pytest.mark.parametrize("criterion, power", [("trace", 1), ("frobenius", 2)])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_just_below_the_tail_of_graded_data(seed, criterion, power):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 5)) * np.geomspace(1, 10.0 ** -rng.uniform(0, 6), 5)
    for k in range(1, 5):
        exact = tail(exact_gram(X), k, power)
        bound = rank_bound(lm.data(X), k, criterion)
        assert bound * 2.0 ** (lm.data(X).exponent * power) <= exact
        assert k > 1 or bound * 2.0 ** (lm.data(X).exponent * power) > 0.99 * exact


@pytest.mark.parametrize("seed", range(4))
def test_it_is_below_the_tail_of_a_stored_matrix(seed):
    X = np.round(np.random.default_rng(seed).standard_normal((8, 5)) * 64)
    operator = lm.psd(X.T @ X)
    exact = tail(exact_gram(X), 2, 1)
    assert exact * (1 - 1e-9) < rank_bound(operator, 2, "trace") * 2.0**operator.exponent <= exact


def test_single_precision_above_3000_points_keeps_the_bound_below_the_error():
    """Fault 74: the tail of a float32 kernel was 13 times the true one, above an achieved error."""
    points = np.random.default_rng(0).standard_normal((3050, 3)).astype(np.float32)
    single = lm.kernel(points, lm.rbf(sigma=6.0))
    double = lm.kernel(points.astype(np.float64), lm.rbf(sigma=6.0))
    s = lm.select(single, 20, method="greedy", criterion="frobenius")
    assert s.lower_bound() <= selection_error(double, s.indices, "frobenius")
    assert s.lower_bound() == pytest.approx(best_rank_error(double, 20, "frobenius"), rel=0.01)
