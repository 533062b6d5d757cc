"""Boundary checks, by the text of their messages."""

import datetime

import numpy as np
import pytest

import landmarks as lm
from landmarks import _check

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_a_value_that_is_not_finite_is_named_with_its_place(xp, bad, word):
    A = X.copy()
    A[2, 1] = A[3, 0] = bad
    with pytest.raises(
        ValueError, match=rf"Input X contains {word} \(first at row 2, column 1; 2 in all\)"
    ):
        lm.data(xp.asarray(A))


def test_both_infinities_are_still_an_error_about_infinity():
    with pytest.raises(ValueError, match="Input X contains infinity"):
        lm.data(np.array([[np.inf, -np.inf], [1e308, 1e308]]))


def test_large_values_whose_sum_overflows_are_finite():
    assert lm.data(np.full((4, 4), 1e308)).n == 4


def test_nan_suggests_an_imputer():
    with pytest.raises(ValueError, match="SimpleImputer"):
        lm.data([[1.0, np.nan]])


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
def test_anything_but_a_matrix_of_numbers_is_refused(values, message):
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


def test_missing_values_of_a_data_frame_are_named():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64"), "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="Input X contains NaN"):
        lm.data(frame)


@pytest.mark.parametrize("k", [0, -1, 4, 10**30])
def test_a_subset_size_out_of_range_is_refused(k):
    with pytest.raises(ValueError, match=f"k must be between 1 and n = 3, got {k}"):
        lm.select(X, k, method="greedy")


@pytest.mark.parametrize("k", [2.5, 2.0, True, np.True_, "5", None, [2]])
def test_a_subset_size_that_is_no_integer_is_refused(k):
    with pytest.raises(TypeError, match="k must be an integer between 1 and n = 3, got "):
        lm.select(X, k, method="greedy")


@pytest.mark.parametrize("k", [2, np.int32(2), np.uint8(2)])
def test_every_kind_of_integer_is_a_subset_size(k):
    assert len(lm.select(X, k, method="greedy", scale=False)) == 2


def test_words_outside_the_list_are_refused():
    with pytest.raises(
        ValueError, match="criterion must be one of 'trace', 'frobenius', 'logdet', got 'spectral'"
    ):
        lm.select(X, 1, method="greedy", criterion="spectral")
    with pytest.raises(
        ValueError, match="method must be one of .*greedy.* or a method object, got 'gredy'"
    ):
        lm.select(X, 1, method="gredy")


@pytest.mark.parametrize(
    ("largest", "exponent"), [(1.0, 0), (2.0**90, 0), (2.0**301, 302), (2.0**-400, -398), (0.0, 0)]
)
def test_only_extreme_data_are_scaled_and_by_an_even_power(largest, exponent):
    assert _check.exponent(largest, np.zeros(0)) == exponent
    assert exponent % 2 == 0


@pytest.mark.parametrize("power", [-1990, -1000, 0, 7, 1000, 1990])
def test_scaling_is_exact_and_stays_in_range(power):
    mantissas = np.array([1.5, -1.25])
    start = max(-1000, min(1000, power))
    scaled = _check.scaled(np.ldexp(mantissas, start), power)
    np.testing.assert_array_equal(scaled, np.ldexp(mantissas, start - power))
