"""The factor of a growing choice, kept or made again from the columns of K."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.residual import residual as panels

POINTS = np.random.default_rng(0).standard_normal((60, 3))
METHODS = ["greedy", "nuclear", "rpcholesky", "pivoted_qr", lm.RPCholesky(block=4)]


def operator():
    return lm.kernel(POINTS, lm.rbf(sigma=1.5))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_selection_does_not_depend_on_how_the_factor_is_kept(method, monkeypatch):
    stored = lm.select(operator(), 12, method=method).indices
    monkeypatch.setattr(panels, "free_memory", lambda like, otherwise: 0)
    np.testing.assert_array_equal(lm.select(operator(), 12, method=method).indices, stored)
