"""A Toeplitz matrix: what its first column must be."""

import numpy as np
import pytest

import landmarks as lm


def test_first_column_is_checked(xp):
    with pytest.raises(
        ValueError, match=r"first_column must have one dimension, got shape \(2, 2\)"
    ):
        lm.toeplitz(xp.ones((2, 2)))
    with pytest.raises(
        ValueError, match=r"first_column\[0\] must be its largest entry.*got 1 below 2"
    ):
        lm.toeplitz(xp.asarray([1.0, -2.0]))
    with pytest.raises(ValueError, match=r"Input first_column contains NaN \(first at row 1"):
        lm.toeplitz(xp.asarray([1.0, float("nan")]))


def test_a_list_and_a_single_entry_are_accepted():
    assert lm.toeplitz([2.0, 1, 0.5]).columns([1]).ravel().tolist() == [1.0, 2.0, 1.0]
    np.testing.assert_allclose(lm.toeplitz([2.0]).matmul(np.ones((1, 1))), [[2.0]])


def test_an_entry_may_exceed_the_first_by_rounding_alone():
    lm.toeplitz([1.0, 1.0 + 1e-10])
    with pytest.raises(ValueError, match="must be its largest entry"):
        lm.toeplitz([1.0, 1.0 + 1e-8])
