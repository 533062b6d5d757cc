"""Boundary checks, by the text of their messages."""

import datetime

import numpy as np
import pytest

import landmarks as lm

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_faults_1_2_a_value_that_is_not_finite_is_named_with_its_place(xp, bad, word):
    A = X.copy()
    A[2, 1] = A[3, 0] = bad
    with pytest.raises(
        ValueError, match=rf"Input X contains {word} \(first at row 2, column 1; 2 in all\)"
    ):
        lm.data(xp.asarray(A))


def test_both_infinities_are_still_an_error_about_infinity():
    with pytest.raises(ValueError, match="Input X contains infinity"):
        lm.data(np.array([[np.inf, -np.inf], [1e308, 1e308]]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(3), r"X must have two dimensions, got shape \(3,\); reshape a single column"),
        (np.ones((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.float64(3.0), r"got shape \(\)"),
        (np.ones((0, 3)), r"X must have at least one row and one column, got shape \(0, 3\)"),
        (np.ones((3, 0)), r"got shape \(3, 0\)"),
        (X * 1j, "Complex data not supported: X is complex128"),
        (np.array([["a", "b"]]), "X must hold numbers, got text"),
        (np.array([["1", "2"]]), "X must hold numbers, got text"),
        (np.array([["1", 2.0]], dtype=object), "X must hold numbers, got text"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "X must hold numbers, got dates"),
        (np.array([[datetime.date(2020, 1, 1)]], dtype=object), "X must hold numbers, got object"),
        (
            np.ma.masked_greater(X, 5),
            r"X has masked entries; fill them first, e.g. X.filled\(value\)",
        ),
    ],
)
def test_faults_16_17_22_anything_but_a_matrix_of_numbers_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        lm.data(values)


def test_bad_shapes_and_complex_numbers_are_refused_in_every_library(xp):
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        lm.data(xp.ones(3))
    with pytest.raises(ValueError, match=r"got shape \(0, 3\)"):
        lm.data(xp.ones((0, 3)))
    with pytest.raises(ValueError, match="Complex data not supported"):
        lm.data(xp.ones((2, 2), dtype=xp.complex128))


@pytest.mark.parametrize(
    "values",
    [X.astype(object), X.tolist(), np.ma.array(X), X.astype(int), [[True, False], [False, True]]],
)
def test_what_holds_numbers_is_accepted(values):
    np.testing.assert_array_equal(lm.data(values).factor(), np.asarray(values, dtype=float))
