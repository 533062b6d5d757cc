"""The form that a search works on: the same K, with its digits, made once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.operators import forms
from landmarks.operators.data import Data
from landmarks.operators.dense import Dense
from landmarks.operators.forms import Factored, densify, triangle

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((30, 12))
CLOSE = np.column_stack([TALL, TALL[:, 0] + 1e-5 * TALL[:, 1]])  # little is left of the last one


def kind(operator, k=3):
    """The class of the form; its K is that of the operator, and its ledger is the same."""
    found = operator.searchable(k)
    scale = 2.0 ** (found.exponent - operator.exponent)
    K = densify(operator)
    np.testing.assert_allclose(densify(found) * scale, K, atol=1e-9 * np.max(np.diag(K)))
    assert found.ledger is operator.ledger and found.exponent == operator.exponent
    return type(found)


@pytest.mark.parametrize(
    ("X", "form"),
    [
        (RNG.standard_normal((5, 20)), Factored),  # few rows: a quarter of the columns
        (TALL, Dense),
        (CLOSE, Factored),
        (CLOSE[:8] * 1024.0, Factored),  # fewer rows than columns, and not few
        (np.column_stack([TALL, TALL[:, 0]]), Dense),  # nothing is left of a copy
    ],
)
def test_data_keep_their_digits(X, form):
    assert kind(lm.data(X)) is form
    assert kind(lm.data(scipy.sparse.csc_array(X))) is form


def test_a_triangle_takes_the_place_of_tall_data():
    assert lm.data(CLOSE).searchable(3).X.shape == (13, 13)
    assert lm.data(CLOSE[:8]).searchable(3).X.shape == (8, 13)


def test_a_matrix_of_low_rank_is_kept_as_its_factor():
    X = RNG.standard_normal((3, 40))
    assert kind(lm.psd(X.T @ X)) is Factored
    assert lm.psd(X.T @ X).searchable(3).X.shape == (3, 40)
    full = lm.psd(TALL.T @ TALL)
    assert full.searchable(3) is full


def test_a_small_kernel_is_stored_and_products_stay_products(monkeypatch):
    kernel = lm.kernel(10.0 * RNG.standard_normal((40, 3)), lm.rbf())
    assert kind(kernel) is Dense
    box = lm.function(lambda V: 2.0 * V, n=5)
    assert box.searchable(2) is box
    other = lm.kernel(10.0 * RNG.standard_normal((40, 3)), lm.rbf())
    monkeypatch.setattr(forms, "MEMORY", 8 * 40**2 - 1)
    assert other.searchable(2) is other
    third = lm.kernel(10.0 * RNG.standard_normal((40, 3)), lm.rbf())
    monkeypatch.setattr(forms, "MEMORY", 8 * 40**2)
    assert type(third.searchable(2)) is Dense


def test_a_form_is_made_once():
    X, K = lm.data(TALL), lm.kernel(10.0 * RNG.standard_normal((30, 3)), lm.rbf())
    for operator in (X, K):
        found = operator.searchable(3)
        assert operator.searchable(3) is found and found.searchable(3) is found
    assert X.searchable(3) is X.searchable(7)  # the form of data is one for all k


def test_single_precision_is_widened_and_counted():
    X = lm.data(TALL.astype(np.float32))
    assert X.searchable(3).like.dtype == np.float64 and forms.widened(X.searchable(3))
    assert X.ledger.widened == 2
    wide = lm.data(RNG.standard_normal((3, 40)).astype(np.float32)).searchable(2)
    assert wide.rounding == (2 * np.finfo(np.float32).eps) ** 2
    assert lm.data(RNG.standard_normal((3, 40))).searchable(2).rounding == 0.0
    double = lm.data(TALL)
    assert not forms.widened(double.searchable(3)) and double.ledger.widened == 0


@pytest.mark.parametrize(
    ("distance", "kept"), [(0.0, True), (1e-6, False), (1e-4, False), (0.05, True), (1.0, True)]
)
def test_columns_that_are_nearly_alike_take_the_digits_of_a_stored_matrix(distance, kept):
    X = np.column_stack([TALL, TALL[:, 0] + distance * TALL[:, 1], TALL[:, 2] - TALL[:, 3]])
    K = X.T @ X
    assert (
        Dense(K).keeps_digits()
        == Dense(K * np.outer(2.0 ** np.arange(14), 2.0 ** np.arange(14))).keeps_digits()
    )
    assert Dense(K).keeps_digits() == kept


def test_columns_of_zeros_take_no_digits():
    K = np.zeros((4, 4))
    K[0, 0] = K[2, 2] = 3.0
    assert Dense(K).keeps_digits() and Dense(np.zeros((2, 2))).keeps_digits()


@pytest.mark.parametrize("steps", [0, 1, 4, 12])
def test_what_pivots_leave_of_the_trace_is_that_of_greedy_cholesky(steps):
    left = TALL.T @ TALL
    whole = np.trace(left)
    for _ in range(steps):
        j = int(np.argmax(np.diag(left)))
        left = left - np.outer(left[:, j], left[:, j]) / left[j, j]
    found = forms.remaining_trace(TALL.T @ TALL, steps)
    assert found == pytest.approx(np.trace(left) / whole, rel=1e-9, abs=1e-12)
    assert forms.remaining_trace(np.zeros((3, 3)), 2) == 0.0


def test_a_triangle_keeps_the_digits_of_short_columns():
    X = TALL * 10.0 ** -np.arange(12)
    R = triangle(X)
    scale = np.outer(10.0 ** np.arange(12), 10.0 ** np.arange(12))
    np.testing.assert_allclose((R.T @ R) * scale, TALL.T @ TALL, rtol=1e-9, atol=1e-9)
    assert np.array_equal(triangle(np.zeros((4, 2))), np.zeros((2, 2)))


def test_a_factor_has_as_many_columns_as_fit(monkeypatch):
    X = RNG.standard_normal((6, 80))
    monkeypatch.setattr(forms, "LOW_RANK", 6)
    monkeypatch.setattr(forms, "SMALL", 0)
    assert type(lm.psd(X.T @ X).searchable(1)) is Factored
    monkeypatch.setattr(forms, "MEMORY", 8 * 80 * 5)  # five columns of the factor
    assert type(lm.psd(X.T @ X).searchable(1)) is Dense


def test_data_in_float64_are_not_copied():
    X = Data(RNG.standard_normal((3, 40)))
    assert X.searchable(2).X is X.X


def test_a_stored_matrix_has_lost_the_digits_of_two_columns_that_are_nearly_sums_of_others():
    """Of each, 1e-10 is left beyond the two others: too little, and above rounding."""
    x, y, z, w = np.eye(4)
    for left, kept in ((1e-5, False), (0.0, True)):
        X = np.stack([2 * x, 2 * y, x + y + left * z, x - y + left * w], axis=1)
        assert Dense(X.T @ X).keeps_digits() == kept
