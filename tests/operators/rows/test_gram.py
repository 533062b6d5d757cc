"""The Gram matrix of rows in pieces: no cut and no grouping changes a bit."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from landmarks.operators.sums import join, join_all, moments_of_piece, piece

BLOCK = 2048  # rows of a block of 64 columns and more
X = np.random.default_rng(0).standard_normal((5 * BLOCK + 123, 64)) * 10.0 ** np.linspace(-3, 3, 64)
ROWS = len(X)


def pieces(cuts: list[int], X: np.ndarray = X) -> list:
    edges = [0, *sorted(cuts), len(X)]
    return [piece(X[a:b], a) for a, b in pairwise(edges)]


def gram(every) -> tuple[np.ndarray, int]:
    """XᵀX / 2**e and e."""
    moments, power = moments_of_piece(every)
    return moments.scatter, 2 * power


WHOLE, _ = gram(piece(X, 0))


@given(st.lists(st.integers(0, ROWS), max_size=12))
def test_no_cut_changes_a_bit(cuts):
    np.testing.assert_array_equal(gram(join_all(pieces(cuts)))[0], WHOLE)


@given(st.lists(st.integers(0, ROWS), min_size=2, max_size=8))
def test_no_grouping_changes_a_bit(cuts):
    parts = pieces(cuts)
    backwards = reduce(lambda right, left: join(left, right), parts[::-1])
    np.testing.assert_array_equal(gram(backwards)[0], WHOLE)


def test_it_is_the_gram_matrix():
    exact = X.astype(np.longdouble).T @ X.astype(np.longdouble)
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact))).astype(float)
    assert (
        np.max(np.abs(WHOLE - exact.astype(float)) / scale) < 1e-15
    )  # the blocks are rounded, the sum over them is not


@pytest.mark.parametrize("power", [-900, -300, 300, 1000])
def test_a_power_of_two_comes_out_again(power):
    K, exponent = gram(join_all(pieces([7, 5000], np.ldexp(X, power))))
    np.testing.assert_array_equal(np.ldexp(K, exponent - 2 * power), WHOLE)


def test_blocks_of_very_different_size_and_of_zeros_are_added_in_common_units():
    Y = np.ones((4 * BLOCK, 64))
    Y[BLOCK : 2 * BLOCK] *= 2.0**300
    Y[2 * BLOCK : 3 * BLOCK] = 0.0
    K, exponent = gram(join_all(pieces([100, 3000, 3 * BLOCK], Y)))
    np.testing.assert_array_equal(np.ldexp(K, exponent - 600), BLOCK)
    tiny, exponent = gram(
        join_all(
            pieces(
                [BLOCK], np.concatenate([np.zeros((BLOCK, 64)), np.full((BLOCK, 64), 2.0**-600)])
            )
        )
    )
    np.testing.assert_array_equal(np.ldexp(tiny, exponent + 1200), BLOCK)


def test_zeros_give_zeros():
    K, exponent = gram(piece(np.zeros((10, 3)), 0))
    assert not K.any() and exponent == 0


def test_pieces_that_do_not_follow_one_another_are_refused():
    with pytest.raises(
        ValueError, match="pieces must follow one another, got one up to row 9 and one from row 20"
    ):
        join(piece(X[:10], 0), piece(X[20:30], 20))
