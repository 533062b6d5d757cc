"""Coefficients, R² and losses against the least squares of NumPy and scikit-learn."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from contracts.operators import KINDS
from libraries import library
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError
from landmarks.linalg.reconstruction import Reconstruction

X = np.random.default_rng(0).standard_normal((20, 9)) @ np.random.default_rng(1).standard_normal(
    (9, 9)
)
CHOSEN = [5, 1, 4]
MAKERS = {
    "data": lm.data,
    "gram": lambda X: lm.psd(X.T @ X),
    "sparse": lambda X: lm.data(scipy.sparse.csc_array(X)),
    "function": lambda X: lm.function(lambda V: X.T @ (X @ V), n=9),
}
KNOWN = [
    pytest.param(case, name, id=f"{case.name}-{name}") for case in KINDS for name in case.libraries
]


def reconstruct(A: Any, chosen: list[int]) -> Reconstruction:
    """The reconstruction from columns that are given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return lm.select(A, len(chosen), method="greedy", include=chosen).reconstruction()


def left(columns: list[int]) -> float:
    B = np.linalg.lstsq(X[:, columns], X, rcond=None)[0]
    return float(np.sum((X - X[:, columns] @ B) ** 2))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_coefficients_are_those_of_least_squares(make):
    expected = np.linalg.lstsq(X[:, CHOSEN], X, rcond=None)[0]
    np.testing.assert_allclose(reconstruct(make(X), CHOSEN).coefficients, expected, atol=1e-10)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_r2_is_that_of_linear_regression_on_centred_columns(make):
    Z = X - X.mean(axis=0)
    fitted = LinearRegression().fit(X[:, CHOSEN], X).predict(X[:, CHOSEN])
    np.testing.assert_allclose(
        reconstruct(make(Z), CHOSEN).r2, r2_score(X, fitted, multioutput="raw_values"), rtol=1e-10
    )


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_loss_is_the_rise_of_the_error_without_the_column(make):
    expected = [left([j for j in CHOSEN if j != i]) - left(CHOSEN) for i in CHOSEN]
    np.testing.assert_allclose(reconstruct(make(X), CHOSEN).losses, expected, rtol=1e-9)


@pytest.mark.parametrize(("case", "name"), KNOWN)
def test_every_operator_gives_what_its_dense_matrix_gives(case, name):
    K = case.dense(case.values)
    chosen = [7, 0] if np.linalg.matrix_rank(K) > 1 else [7]
    rebuilt = reconstruct(case.make(library(name).asarray(case.values.copy())), chosen)
    B = np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])
    np.testing.assert_allclose(rebuilt.coefficients, B, atol=1e-9)
    np.testing.assert_allclose(
        rebuilt.r2, np.sum(B * K[chosen], axis=0) / np.diag(K), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("make", [lm.data, lambda Y: lm.psd(Y.T @ Y)], ids=["data", "gram"])
def test_superfluous_columns_lose_nothing(make):
    Y = np.column_stack([X[:, :4], X[:, 1], X[:, 0] + X[:, 2], np.zeros(20)])
    rebuilt = reconstruct(make(Y), [0, 1, 2, 3, 4, 5, 6])
    assert np.all(rebuilt.losses[[0, 1, 2, 4, 5, 6]] == 0)
    assert rebuilt.losses[3] > 0
    np.testing.assert_allclose(rebuilt.coefficients, np.eye(7))


def test_losses_are_in_the_units_of_the_data():
    # 2⁵⁰⁰ squared is within the range of floats; its fourth power is not
    np.testing.assert_allclose(
        reconstruct(lm.data(X * 2.0**500), CHOSEN).losses,
        reconstruct(lm.data(X), CHOSEN).losses * 2.0**1000,
    )


@pytest.mark.parametrize("make", [lm.data, lambda Y: lm.psd(Y.T @ Y)], ids=["data", "gram"])
def test_a_column_of_zeros_is_rebuilt_whole(make):
    rebuilt = reconstruct(make(np.column_stack([X[:, :3], np.zeros(20)])), [0, 1])
    assert rebuilt.r2[3] == 1 and np.all(rebuilt.coefficients[:, 3] == 0)


@pytest.mark.parametrize("make", [lm.data, lm.psd], ids=["data", "gram"])
def test_a_matrix_of_zeros_is_rebuilt_from_nothing(make):
    rebuilt = reconstruct(make(np.zeros((4, 4))), [2, 0])
    assert np.all(rebuilt.r2 == 1) and np.all(rebuilt.losses == 0)


def test_a_planted_low_rank_is_rebuilt_whole():
    Y = np.random.default_rng(2).standard_normal((30, 3)) @ np.random.default_rng(
        3
    ).standard_normal((3, 12))
    rebuilt = lm.select(Y, 3).reconstruction()
    np.testing.assert_allclose(rebuilt.r2, 1, rtol=1e-12)
    np.testing.assert_allclose(rebuilt.rebuild(Y[:, rebuilt.indices]), Y, atol=1e-12)


def test_orthogonal_columns_are_rebuilt_by_nothing_but_themselves():
    rebuilt = lm.select(np.diag([3.0, 1.0, 2.0]), 2).reconstruction()
    assert rebuilt.r2.tolist() == [1, 0, 1] and rebuilt.losses.tolist() == [9, 4]


def test_new_rows_are_rebuilt_in_their_own_library(xp):
    rebuilt = reconstruct(lm.data(X), CHOSEN)
    new = rebuilt.rebuild(xp.asarray(X[:3][:, CHOSEN]))
    assert type(new) is type(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(new), X[:3][:, CHOSEN] @ rebuilt.coefficients)


def test_columns_of_another_number_are_refused():
    with pytest.raises(ValueError, match=r"must be an array of shape \(rows, 3\), got \(20, 9\)"):
        reconstruct(lm.data(X), CHOSEN).rebuild(X)


def test_the_frame_has_the_names_of_the_data():
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = (
        lm.select(pandas.DataFrame(X, columns=list("abcdefghi")), 2, include=["f", "b"])
        .reconstruction()
        .to_frame()
    )
    assert frame.index.tolist() == ["f", "b"] and frame.columns.tolist() == list("abcdefghi")
    assert frame.loc["f", "f"] == 1 and frame.loc["b", "f"] == 0


def test_without_pandas_the_frame_says_what_to_use(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        UnsupportedError, match="to_frame needs pandas, which is not installed; use .coefficients"
    ):
        reconstruct(lm.data(X), CHOSEN).to_frame()


def test_a_frame_without_names_has_the_numbers_of_the_columns():
    frame = reconstruct(lm.data(X), CHOSEN).to_frame()
    assert frame.index.tolist() == CHOSEN and frame.columns.tolist() == list(range(9))
    np.testing.assert_allclose(X[:, CHOSEN] @ frame.to_numpy()[:, CHOSEN], X[:, CHOSEN], atol=1e-9)


def test_a_chosen_column_far_shorter_than_another_rebuilds_what_is_like_it():
    A = np.random.default_rng(0).standard_normal((30, 3))
    A[:, 1] *= 2.0**-60
    A[:, 2] = 2 * A[:, 1] + 2.0**-70 * A[:, 2]
    s = lm.select(A, 2, include=[0, 1], scale=False)
    found = s.reconstruction()
    assert found.coefficients[1, 2] == pytest.approx(2, rel=1e-2) and found.r2[2] > 0.99


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_is_rebuilt_by_the_names_of_its_columns(library):
    frame = pytest.importorskip(library).DataFrame(dict(zip("abcdefghi", X.T, strict=True)))
    s = lm.select(frame, 3, scale=False)
    rebuilt, chosen = s.reconstruction(), X[:, s.indices]
    expected = chosen @ s.reconstruction().coefficients
    np.testing.assert_allclose(rebuilt.rebuild(frame[s.chosen_names]), expected)
    np.testing.assert_allclose(rebuilt.rebuild(frame[sorted(s.chosen_names)]), expected)
    np.testing.assert_allclose(rebuilt.rebuild(frame), expected)
