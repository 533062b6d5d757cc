"""ColumnSelector on sparse, weighted, incomplete and single-precision data, and on batches."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_wine

import landmarks as lm
from landmarks.errors import ConstantWarning

X = load_wine().data
GREEDY = {"method": "greedy", "n_features_to_select": 4}

# The wine data are raw here: one column holds far larger numbers than the others.
pytestmark = pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning")


def sparse_rows(m: int = 60, n: int = 12) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.where(rng.random((m, n)) < 0.3, rng.random((m, n)) * np.arange(1, n + 1), 0.0)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(
    "form", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array]
)
def test_sparse_equals_dense(form, center, scale):
    Y, w = sparse_rows(), np.random.default_rng(1).random(60)
    settings = lm.ColumnSelector(**GREEDY, center=center, scale=scale)
    dense, sparse = (
        clone(settings).fit(Y, sample_weight=w),
        clone(settings).fit(form(Y), sample_weight=w),
    )
    assert sparse.indices_.tolist() == dense.indices_.tolist()
    np.testing.assert_allclose(sparse.coefficients_, dense.coefficients_, atol=1e-9)
    assert scipy.sparse.issparse(sparse.transform(form(Y)))
    assert sparse.score(form(Y)) == pytest.approx(dense.score(Y))


def test_a_wide_sparse_matrix_is_centred_by_products_alone(monkeypatch):
    monkeypatch.setattr("landmarks.operators.sparse.MEMORY", 100)
    monkeypatch.setattr("landmarks.operators.dense.MEMORY", 100)
    Y = sparse_rows()
    selector = lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(scipy.sparse.csr_array(Y))
    assert selector.selection_.operator.stored is None
    assert (
        selector.indices_.tolist()
        == lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(Y).indices_.tolist()
    )
    assert (
        pickle.loads(pickle.dumps(selector)).selection_.indices.tolist()
        == selector.indices_.tolist()
    )


def test_a_constant_column_is_never_selected():
    Y = np.column_stack([np.full(178, 1e6 / 3), X[:, :5]])
    for scale, form in ((None, np.asarray), (True, scipy.sparse.csr_array)):
        selector = lm.ColumnSelector(5, method="greedy", center=True, scale=scale)
        with pytest.warns(ConstantWarning, match="^column 0 holds one value only"):
            assert 0 not in selector.fit(form(Y)).indices_


def test_an_integer_weight_repeats_the_row():
    w = np.random.default_rng(0).integers(0, 4, len(X))
    weighted, repeated = (
        lm.ColumnSelector(**GREEDY, center=True).fit(X, sample_weight=w),
        lm.ColumnSelector(**GREEDY, center=True).fit(np.repeat(X, w, axis=0)),
    )
    assert weighted.indices_.tolist() == repeated.indices_.tolist()
    assert weighted.reconstruction_error_ == pytest.approx(repeated.reconstruction_error_)
    assert weighted.score(X, sample_weight=w) == pytest.approx(
        repeated.score(np.repeat(X, w, axis=0))
    )


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_partial_fit_of_batches_equals_fit(form):
    whole, parts = (
        lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(X),
        lm.ColumnSelector(**GREEDY, scale=True, center=True),
    )
    for batch in np.array_split(X, 5):
        parts.partial_fit(form(batch))
    assert parts.indices_.tolist() == whole.indices_.tolist()
    np.testing.assert_allclose(parts.coefficients_, whole.coefficients_, rtol=1e-6, atol=1e-8)
    assert parts.reconstruction_error_ == pytest.approx(whole.reconstruction_error_)


def test_partial_fit_selects_when_asked():
    selector = lm.ColumnSelector(**GREEDY, center=True).partial_fit(X[:90], select=False)
    assert not hasattr(selector, "support_")
    selector.partial_fit(X[90:])
    assert (
        selector.indices_.tolist()
        == lm.ColumnSelector(**GREEDY, center=True).fit(X).indices_.tolist()
    )


def test_fit_forgets_the_batches_of_partial_fit():
    selector = lm.ColumnSelector(**GREEDY, center=True).partial_fit(1e3 * X[::-1, ::-1]).fit(X)
    assert (
        selector.partial_fit(X).indices_.tolist()
        == lm.ColumnSelector(**GREEDY, center=True).fit(X).indices_.tolist()
    )


def holes(Y: np.ndarray, share: float = 0.05) -> np.ndarray:
    return np.where(np.random.default_rng(0).random(Y.shape) < share, np.nan, Y)


def test_imputing_equals_fit_on_imputed_data():
    Y = holes(X)
    filled = np.where(np.isnan(Y), np.nanmean(Y, axis=0), Y)
    expected = lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(filled)
    for selector in (
        lm.ColumnSelector(**GREEDY, scale=True, missing="impute", center=True).fit(Y),
        lm.ColumnSelector(**GREEDY, scale=True, missing="impute", center=True).partial_fit(Y),
    ):
        assert selector.indices_.tolist() == expected.indices_.tolist()
        np.testing.assert_allclose(
            selector.coefficients_, expected.coefficients_, rtol=1e-6, atol=1e-8
        )


def test_imputing_sparse_data_counts_the_zeros():
    Y = holes(sparse_rows())
    dense, sparse = (
        lm.ColumnSelector(**GREEDY, missing="impute", center=False).fit(form(Y))
        for form in (np.asarray, scipy.sparse.csr_array)
    )
    assert sparse.indices_.tolist() == dense.indices_.tolist()


@pytest.mark.parametrize("missing", ["impute", "pairwise"])
def test_missing_values_hardly_change_the_score_of_a_low_rank_matrix(missing):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 15)) + 1
    selector = lm.ColumnSelector(3, method="greedy", missing=missing, center=True).fit(
        holes(Y, 0.02)
    )
    assert selector.score(Y) > 0.95  # three columns rebuild it exactly when nothing is missing
    assert np.isnan(selector.transform(holes(Y, 0.02))).any()


@pytest.mark.parametrize("missing", ["impute", "pairwise"])
def test_score_takes_missing_values(missing):
    selector = lm.ColumnSelector(**GREEDY, scale=True, missing=missing, center=True).fit(holes(X))
    assert selector.score(holes(X)) == pytest.approx(
        selector.score(X), abs=0.05
    )  # one value in twenty is not seen


def test_float32_is_kept():
    Y = X.astype(np.float32)
    selector = lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(Y)
    chosen = selector.transform(Y)
    assert (
        chosen.dtype
        == selector.inverse_transform(chosen).dtype
        == selector.coefficients_.dtype
        == np.float32
    )
    assert (
        selector.indices_.tolist()
        == lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(X).indices_.tolist()
    )
