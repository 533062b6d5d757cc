"""Factors of independent columns."""

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.residual.factors import factorise, independent


@pytest.mark.parametrize("sigma", [0.5, 0.7, 1.0, 2.0])
def test_a_smooth_kernel_far_beyond_its_rank_is_factorised(sigma):
    x = np.sort(np.random.default_rng(0).uniform(-4, 4, 200))[:, None]
    operator = lm.kernel(x, lm.rbf(sigma=sigma))
    found = factorise(
        plain(operator), np.random.default_rng(1).permutation(200)[:120], np.full(120, 1e-10)
    )
    assert 5 < len(found.order) < 120
    left = np.diag(operator.columns(np.arange(200)) - found.F @ found.F.T)
    assert np.max(np.abs(left)) < 1e-5  # pivots at the tolerance of 1e-10 are known to √eps


def test_a_column_that_came_before_stays_and_its_copy_goes():
    X = np.random.default_rng(0).standard_normal((9, 3))
    Y = X[:, [0, 1, 0, 2, 1]]
    kept, L = independent(Y.T @ Y, np.full(5, 1e-10))
    assert kept.tolist() == [0, 1, 3]
    np.testing.assert_allclose(L, np.linalg.cholesky((Y.T @ Y)[np.ix_(kept, kept)]), atol=1e-12)


def test_auto_survives_a_smooth_kernel_on_a_line():
    x = np.linspace(-4, 4, 400)[:, None]
    with pytest.warns(RankWarning):
        assert len(lm.select(lm.kernel(x, lm.rbf(sigma=2.0)), 40)) == 40
