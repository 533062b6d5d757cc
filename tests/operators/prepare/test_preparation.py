"""Prepared columns against the formulas: every form of the data, weights and missing values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.operators import dense, prepare, sparse
from landmarks.operators.forms import densify
from landmarks.operators.prepare import Preparation
from landmarks.operators.sources import ArrayRows

RNG = np.random.default_rng(0)
X = np.where(RNG.random((40, 5)) < 0.6, RNG.random((40, 5)) * np.arange(1, 6), 0.0)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
WEIGHTS = RNG.integers(0, 4, 40).astype(float)
FORMS = {
    "array": np.asarray,
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_array,
}


def reference(A: np.ndarray, weights: np.ndarray | None, center: bool, scale: bool):
    """The Gram matrix, mean and scale of the rows, each as often as its weight says."""
    A = A if weights is None else np.repeat(A, weights.astype(int), axis=0)
    mean = A.mean(axis=0) if center else np.zeros(A.shape[1])
    spread = A.std(axis=0) if scale else np.ones(A.shape[1])
    Z = (A - mean) / spread
    return Z.T @ Z, mean, spread


def imputed(A: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """A with the weighted means of the known values in the holes."""
    w = np.where(np.isnan(A), 0.0, 1.0 if weights is None else weights[:, None])
    return np.where(np.isnan(A), np.nansum(w * A, axis=0) / w.sum(axis=0), A)


def check(prepared, expected, weights: np.ndarray | None, center: bool) -> None:
    K, mean, scale = expected
    found = np.ldexp(densify(prepared.operator), prepared.operator.exponent)
    np.testing.assert_allclose(found, K, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(prepared.mean, mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(prepared.scale, scale, rtol=1e-12)
    assert prepared.degrees == (len(X) if weights is None else weights.sum()) - center


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_columns_of_the_formula(form, center, scale, weights):
    prepared = Preparation(center, scale, "error").of_rows(FORMS[form](X), weights)
    check(prepared, reference(X, weights, center, scale), weights, center)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_a_sparse_matrix_that_is_too_wide_for_its_gram_matrix_has_them_too(
    center, scale, weights, monkeypatch
):
    for module in (sparse, dense):
        monkeypatch.setattr(module, "MEMORY", 8)
    prepared = Preparation(center, scale, "error").of_rows(scipy.sparse.csr_array(X), weights)
    check(prepared, reference(X, weights, center, scale), weights, center)
    np.testing.assert_allclose(
        prepared.operator.diagonal(), np.diag(reference(X, weights, center, scale)[0]), rtol=1e-10
    )


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("form", ["array", "rows"])
def test_a_missing_value_is_the_mean_of_its_column(form, center, weights, monkeypatch):
    monkeypatch.setattr(prepare, "tile_height", lambda n: 7)  # several tiles
    way = Preparation(center, True, "impute")
    if form == "rows":
        prepared = way.of_source(ArrayRows(HOLES), weights)
    else:
        prepared = way.of_rows(HOLES, weights)
    check(prepared, reference(imputed(HOLES, weights), weights, center, True), weights, center)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("form", FORMS)
def test_pairs_of_known_values_give_one_matrix_for_all_forms(form, weights, monkeypatch):
    monkeypatch.setattr(prepare, "tile_height", lambda n: 7)
    way = Preparation(True, True, "pairwise")
    rows = way.of_rows(FORMS[form](HOLES), weights)
    source = way.of_source(ArrayRows(HOLES), weights)
    expected = HOLES if weights is None else np.repeat(HOLES, weights.astype(int), axis=0)
    np.testing.assert_allclose(rows.mean, np.nanmean(expected, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        densify(rows.operator), densify(source.operator), rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(np.diag(densify(rows.operator)), len(expected), rtol=1e-10)
    assert rows.degrees == source.degrees == len(expected) - 1


def test_sparse_rows_in_float32_may_have_weights():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.5)
    w = rng.integers(1, 4, 30).astype(np.float64)
    rows = scipy.sparse.csr_array(X.astype(np.float32))
    found = lm.ColumnSelector(2, center=False, scale=True).fit(rows, sample_weight=w)
    expected = lm.ColumnSelector(2, center=False, scale=True).fit(X, sample_weight=w)
    assert found.get_support().tolist() == expected.get_support().tolist()
