"""Faults 1 to 14: values."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from contracts.methods import BLIND, METHODS

import landmarks as lm
from landmarks.errors import ConstantWarning, RankWarning

METHODS = [name for name in METHODS if name not in ("exact", "kmeans", "knapsack")]
LOOKING = [name for name in METHODS if name not in BLIND]
DETERMINISTIC = ["auto", "greedy", "swap", "annealed", "pivoted_qr"]


def draw(m=30, n=8, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def is_selection(s, k, n):
    return (
        len(s.indices) == k
        and len(set(s.indices.tolist())) == k
        and s.indices.min() >= 0
        and s.indices.max() < n
    )


def spoilt(value):
    X = draw()
    X[5, 2] = value
    return X


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        pd.DataFrame,
        scipy.sparse.csr_array,
        lambda X: pd.DataFrame(X).astype(object).where(~np.isnan(X), pd.NA),
    ],
)
def test_fault_01_nan_is_refused_with_a_remedy(form):
    with pytest.raises(ValueError, match="Input X contains NaN"):
        lm.select(form(spoilt(np.nan)), 3)


@pytest.mark.parametrize("method", LOOKING)
def test_fault_04_a_zero_matrix_warns_and_gives_the_first_k(method):
    with pytest.warns(RankWarning, match="numerical rank 0"):
        s = lm.select(np.zeros((6, 5)), 3, method=method)
    assert sorted(s.indices.tolist()) == [0, 1, 2]
    assert s.error("trace") == 0 == s.error("frobenius") == s.relative_error()


@pytest.mark.parametrize("method", LOOKING)
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_fault_05_zero_columns_are_never_chosen_while_others_remain(method, criterion):
    X = draw(n=9)
    X[:, [0, 3, 8]] = 0.0
    assert not {0, 3, 8} & set(lm.select(X, 6, method=method, criterion=criterion).indices.tolist())


def test_fault_06_constant_columns_count_as_zero_when_centred_and_are_legal_otherwise():
    X = 0.01 * draw()
    X[:, 4] = 7.0
    with pytest.warns(ConstantWarning, match="column 4 holds one value only"):
        assert 4 not in lm.ColumnSelector(3, center=True, random_state=0).fit(X).indices_
    assert 4 in lm.ColumnSelector(3, center=False, scale=False, random_state=0).fit(X).indices_


@pytest.mark.parametrize("method", DETERMINISTIC)
def test_fault_07_the_lowest_index_of_duplicates_wins_and_a_second_run_agrees(method):
    X = draw(n=5)
    twice = np.concatenate([X, X], axis=1)
    first, second = (lm.select(twice, 3, method=method).indices for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (
        first.max() < 5 or method == "annealed"
    )  # annealing splits exact ties by its seeded noise


@pytest.mark.parametrize("method", ["auto", "swap", "annealed", "iterated"])
def test_fault_08_near_collinear_columns_do_no_harm(method):
    X = draw(n=6)
    near = np.concatenate([X, X + 1e-12 * draw(n=6, seed=1)], axis=1)
    greedy, s = lm.select(near, 4, method="greedy"), lm.select(near, 4, method=method)
    assert np.isfinite(s.error())
    assert s.error() <= 1.1 * greedy.error()


@pytest.mark.parametrize("method", ["auto", "greedy", "swap", "exact"])
def test_fault_10_one_column_is_the_best_one(method):
    X = draw(seed=4)
    errors = [lm.select(X, 1, method=lm.Swap(start=[j])).error() for j in range(8)]
    left = [np.linalg.norm(X - np.outer(x, x @ X) / (x @ x)) ** 2 for x in X.T]
    assert (
        lm.select(X, 1, method=method).error() == pytest.approx(min(left), rel=1e-12) == min(errors)
    )


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_fault_11_other_scales_change_no_choice(scale):
    X = draw()
    np.testing.assert_array_equal(lm.select(X * scale, 4).indices, lm.select(X, 4).indices)


@pytest.mark.parametrize("power", [-900, -200, 200, 800])
@pytest.mark.parametrize("criterion", ["trace", "frobenius", "logdet"])
def test_fault_11_other_scales_of_a_kernel_change_no_choice_and_no_proof(criterion, power):
    points = draw().T
    factor = 2.0**power

    def units(x, y):
        return x @ y.T * factor

    plain = lm.select(lm.kernel(points, lm.linear()), 3, criterion=criterion, method="exact")
    other = lm.select(lm.kernel(points, units), 3, criterion=criterion, method="exact")
    assert other.proved and set(other.indices) == set(plain.indices)
    np.testing.assert_array_equal(
        other.nystrom().features(points), plain.nystrom().features(points) * 2.0 ** (power / 2)
    )


def test_fault_11_subnormal_data_are_distinguished():
    X = np.diag([3.0, 1.0, 2.0]) * 5e-323
    assert sorted(lm.select(X, 2).indices.tolist()) == [0, 2]


@pytest.mark.parametrize("method", ["auto", "greedy", "swap", "rpcholesky"])
def test_fault_12_wild_scales_stay_finite_and_nothing_is_standardised(method):
    X = np.eye(6) * np.array([1e-150, 1e150, 1.0, 1e100, 1e-100, 1e50])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # compared with 1e150 the others are rounding
        s = lm.select(X, 2, method=method, scale=False)
    assert 1 in s.indices
    assert np.isfinite(s.error())


def test_fault_13_an_offset_in_single_precision_changes_no_landmark():
    points = np.random.default_rng(3).standard_normal((80, 4))
    far = (points + 1e6).astype(np.float32)
    centred = far.astype(np.float64) - 1e6  # what single precision keeps of the points
    for method in ("greedy", "auto"):
        np.testing.assert_array_equal(
            lm.select(lm.kernel(far, lm.rbf(sigma=2.0)), 6, method=method).indices,
            lm.select(lm.kernel(centred, lm.rbf(sigma=2.0)), 6, method=method).indices,
        )


@pytest.mark.parametrize(("sigma", "k"), [(1e9, 4), (1e-9, 4)])
@pytest.mark.parametrize("method", ["auto", "greedy", "continuous", "annealed", "rpcholesky"])
def test_fault_14_a_kernel_of_all_ones_or_the_identity_gives_k_landmarks(sigma, k, method):
    points = np.random.default_rng(0).standard_normal((20, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        s = lm.select(lm.kernel(points, lm.rbf(sigma=sigma)), k, method=method)
    assert is_selection(s, k, 20)
    assert np.isfinite(s.error())
    assert any(
        "numerical rank 1 <" in str(w.message)
        if sigma > 1
        else "numerically the identity" in str(w.message)
        for w in caught
    )
