"""Errors and bounds against dense formulas, and where they must not fail."""

import numpy as np
import pytest
from errors_of import best_rank_error, exact_error, rank_bound, total
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg import error as error_module


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((12, 9))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_rigorous_bound_from_leading_eigenvalues_takes_off_more(monkeypatch, criterion):
    points = np.random.default_rng(1).standard_normal((80, 3)).astype(np.float32)
    operator = lm.kernel(points, lm.rbf(sigma=0.5))
    monkeypatch.setattr(error_module, "FULL_SPECTRUM", 79)
    near = best_rank_error(operator, 6, criterion)
    monkeypatch.setattr(error_module, "DOUBLED", 79)
    doubt = 8 * np.sqrt(80) * np.finfo(np.float32).eps * total(operator, criterion)
    assert_allclose(near - rank_bound(operator, 6, criterion), doubt, rtol=0.05)
    monkeypatch.setattr(error_module, "DOUBLED", 80)  # then K is made again in float64
    assert near - rank_bound(operator, 6, criterion) < 0.05 * doubt


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("kind", ["smooth", "flat", "of low rank", "nearly all"])
def test_leading_eigenvalues_give_the_best_error_from_below(monkeypatch, kind, criterion):
    rng, n = np.random.default_rng(3), 300
    K, k = {
        "smooth": (np.exp(-((np.arange(n)[:, None] - np.arange(n)) ** 2) / 30.0), 20),
        "flat": (np.cov(rng.standard_normal((n, 3 * n))), 5),
        "of low rank": ((A := rng.standard_normal((n, 12))) @ A.T, 8),
        "nearly all": (np.cov(rng.standard_normal((n, 2 * n))), 250),
    }[kind]
    columns = []

    def product(block):
        columns.append(block.shape[1])
        return K @ block

    operator = lm.function(product, n=n, diagonal=np.diag(K))
    exact = best_rank_error(lm.psd(K), k, criterion)
    monkeypatch.setattr(error_module, "FULL_SPECTRUM", n - 1)
    found = best_rank_error(operator, k, criterion)
    assert exact * (1 - 2e-6) - 1e-12 * np.trace(K) <= found <= exact * (1 + 1e-9)
    if kind == "smooth":
        products = len(columns)
        assert products <= 16  # blocks: of single vectors it takes more than 2k
        best_rank_error(operator, k, criterion)
        assert len(columns) == products


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_rows_in_blocks_know_an_error_that_their_gram_matrix_hides(criterion):
    """The second column is beyond the rank of the Gram matrix, yet rebuilds the third."""
    rng = np.random.default_rng(2)
    x, e = rng.standard_normal((2, 30))
    X = np.stack([x, x + 1e-9 * e, x + 2e-9 * e], axis=1)
    operator = lm.data([X[:10], X[10:]])
    assert operator.m is None and operator.source is not None
    power = 1 if criterion == "trace" else 2
    alone = (5e-18 * np.sum((e - x * (x @ e) / (x @ x)) ** 2)) ** power
    assert exact_error(operator, [0, 1], criterion) < 1e-3 * alone
    # of 1e-9 e, rounding of x leaves seven digits
    assert_allclose(exact_error(operator, [0], criterion), alone, rtol=1e-5)
