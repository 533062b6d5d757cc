"""diag A² and diag A³ from pairs of blocks of columns."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators import base, cubes

POINTS = np.random.default_rng(0).standard_normal((90, 3))


@pytest.fixture
def on_a_card(monkeypatch):
    """Take the way of a card, in blocks of seven columns of the 90."""
    monkeypatch.setattr(base, "on_gpu", lambda array: True)
    monkeypatch.setattr(cubes, "PANEL", 8 * 90 * 7)


@pytest.mark.parametrize("sigma", [0.5, 8.0])  # diag C³ from diag K³, and from C itself
@pytest.mark.parametrize("method", ["swap", "annealed"])
def test_a_search_chooses_the_same_by_pairs_of_blocks(request, method, sigma):
    def chosen():
        K = lm.kernel(POINTS, lm.rbf(sigma))
        return lm.select(K, 8, method=method, criterion="frobenius").indices

    plain = chosen()
    request.getfixturevalue("on_a_card")
    np.testing.assert_array_equal(chosen(), plain)
