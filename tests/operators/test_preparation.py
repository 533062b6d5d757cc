"""Prepared columns against the formulas: every form of the data, weights and missing values."""

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm

RNG = np.random.default_rng(0)
M = 27_000  # rows of five columns are summed in two blocks
X = np.where(RNG.random((M, 5)) < 0.6, RNG.random((M, 5)) * np.arange(1, 6), 0.0)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
WEIGHTS = RNG.integers(0, 4, M).astype(float)


def mapped(A, folder):
    np.save(folder / "x.npy", A)
    return np.load(folder / "x.npy", mmap_mode="r")


FORMS = {
    "array": lambda A, folder: A,
    "csr": lambda A, folder: scipy.sparse.csr_array(A),
    "csc": lambda A, folder: scipy.sparse.csc_array(A),
    "rows in blocks": mapped,
}


def covariance(A, w):
    """The weighted mean of each column, and of the products about them where both are known."""
    w = np.ones(len(A)) if w is None else w
    known = ~np.isnan(A)
    mean = w @ np.where(known, A, 0.0) / (w @ known)
    Z = np.where(known, A - mean, 0.0)
    return mean, (Z.T * w) @ Z / ((known.T * w) @ known) * w.sum()


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("missing", ["error", "impute", "pairwise"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_columns_of_the_formula(form, missing, center, scale, weights, tmp_path):
    A, w = X if missing == "error" else HOLES, np.ones(M) if weights is None else weights
    mean, scatter = covariance(A, weights)
    if missing == "impute":
        A = np.where(np.isnan(A), mean, A)
        scatter = covariance(A, weights)[1]
    spread = np.sqrt(np.diag(scatter) / w.sum()) if scale else np.ones(5)
    K = (scatter if center else scatter + w.sum() * np.outer(mean, mean)) / np.outer(spread, spread)
    given = FORMS[form](X if missing == "error" else HOLES, tmp_path)
    asked = {"center": center, "scale": scale, "missing": missing}
    found = lm.ColumnSelector(2, method="greedy", **asked).fit(given, sample_weight=weights)
    operator = found.selection_.operator
    K_found = np.ldexp(np.asarray(operator.columns(range(5))), operator.exponent)
    np.testing.assert_allclose(K_found, K, rtol=1e-9, atol=1e-9 * K.max())
    np.testing.assert_allclose(found.mean_, mean if center else np.zeros(5), rtol=1e-11)
    np.testing.assert_allclose(found.scale_, spread, rtol=1e-11)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_a_sparse_matrix_too_wide_for_its_gram_matrix_has_the_diagonal_of_the_formula(
    center, scale
):
    wide = scipy.sparse.random_array((30, 12_000), density=0.5, rng=0, format="csr")
    operator = lm.data(wide, center=center, scale=scale)
    A = wide.toarray()
    Z = (A - A.mean(axis=0) * center) / (A.std(axis=0) if scale else 1.0)
    np.testing.assert_allclose(operator.diagonal(), np.sum(Z**2, axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(operator.columns([3]), Z.T @ Z[:, [3]], rtol=1e-9, atol=1e-9)


def test_pairs_of_known_values_give_no_negative_eigenvalue_and_the_variances():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 8))
    A[rng.random(A.shape) < 0.4] = np.nan
    scatter = covariance(A, None)[1]
    assert np.linalg.eigvalsh(scatter)[0] < -0.1
    found = lm.data(A, center=True, missing="pairwise").columns(range(8))
    assert np.linalg.eigvalsh(found)[0] > -1e-12
    np.testing.assert_allclose(np.diag(found), np.diag(scatter), rtol=1e-12)


@pytest.mark.parametrize("missing", ["impute", "pairwise"])
@pytest.mark.parametrize("form", ["array", "rows in blocks"])
def test_missing_values_cost_no_digits_far_from_zero(form, missing, tmp_path):
    near, far = (
        lm.data(FORMS[form](HOLES[:300] + shift, tmp_path), center=True, missing=missing)
        for shift in (0.0, 1e8)
    )
    # the values are rounded to 1e-8, so the sums of 300 rows are known to about 1e-6
    np.testing.assert_allclose(near.columns(range(5)), far.columns(range(5)), atol=1e-4)


def test_sparse_rows_in_float32_may_have_weights():
    rows = np.where(np.random.default_rng(1).random((30, 5)) < 0.5, X[:30], 0.0)
    w = WEIGHTS[:30] + 1
    chosen = [
        lm.ColumnSelector(2, scale=True).fit(form, sample_weight=w).indices_.tolist()
        for form in (rows, scipy.sparse.csr_array(rows.astype(np.float32)))
    ]
    assert chosen[0] == chosen[1]
