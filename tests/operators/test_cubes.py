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


def test_pairs_of_blocks_give_the_diagonals_of_the_powers(on_a_card):
    K = lm.kernel(POINTS, lm.rbf(1.5))
    whole = K.columns(np.arange(90))
    np.testing.assert_allclose(cubes.cubed_diagonal(K), np.diag(whole @ whole @ whole), rtol=1e-13)
    np.testing.assert_allclose(base.squared_diagonal(K), np.diag(whole @ whole), rtol=1e-13)


@pytest.mark.parametrize("width", [1, 7, 45, 90])
def test_blocks_of_any_width_add_up(width):
    A = POINTS @ POINTS.T - np.eye(90)
    found = np.zeros(90), np.zeros(90)
    for block in base.blocks(90, width):
        found = cubes.add_block(found, A[:, block], block, lambda indices: A[:, indices])
    np.testing.assert_allclose(found[0], np.diag(A @ A), rtol=1e-12)
    np.testing.assert_allclose(found[1], np.diag(A @ A @ A), rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "width"),
    [(45_730, 2816), (200_000, 640), (2_000_000, 67), (10**9, 1), (100, 100)],
)
def test_a_block_takes_at_most_a_gigabyte(n, width):
    assert cubes.panel_width(n, np.zeros(0)) == width


def test_blocks_that_are_added_leave_what_was_there():
    """A checkpoint keeps the arrays of the step before, so no step may change them."""
    A, before = np.diag([1.0, 2.0, 3.0]), (np.zeros(3), np.zeros(3))
    cubes.add_block(before, A, np.arange(3), lambda indices: A[:, indices])
    assert not np.any(before)


@pytest.mark.parametrize("sigma", [0.5, 8.0])  # diag C³ from diag K³, and from C itself
@pytest.mark.parametrize("method", ["swap", "annealed"])
def test_a_search_chooses_the_same_by_pairs_of_blocks(request, method, sigma):
    def chosen():
        K = lm.kernel(POINTS, lm.rbf(sigma))
        return lm.select(K, 8, method=method, criterion="frobenius").indices

    plain = chosen()
    request.getfixturevalue("on_a_card")
    np.testing.assert_array_equal(chosen(), plain)
