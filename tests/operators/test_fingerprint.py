"""The fingerprint of data: the same for the same numbers, another for others."""

import numpy as np
import pytest
import scipy.sparse
from libraries import library

import landmarks as lm
from landmarks.operators.fingerprint import (
    fingerprint,
    same_data,
)

K = np.diag([3.0, 2.0, 1.0, 4.0]) + 0.1


def black_box(K):
    return lm.function(lambda V: K @ V, n=len(K))


def test_the_array_library_does_not_matter():
    assert same_data(fingerprint(lm.psd(K)), fingerprint(lm.psd(library("torch").asarray(K))))


def test_products_are_the_same_up_to_rounding():
    assert same_data(fingerprint(black_box(K)), fingerprint(black_box(K * (1 + 1e-8))))
    assert not same_data(fingerprint(black_box(K)), fingerprint(black_box(K * (1 + 1e-4))))


POINTS = np.random.default_rng(0).standard_normal((6, 2))
PAIRS = {
    "data": (lm.data(POINTS), lm.data(POINTS + 1e-9)),
    "sparse values": (lm.data(scipy.sparse.csc_array(K)), lm.data(scipy.sparse.csc_array(2 * K))),
    "sparse places": (
        lm.data(scipy.sparse.csc_array(np.eye(3))),
        lm.data(scipy.sparse.csc_array(np.eye(3)[::-1])),
    ),
    "sparse columns": (
        lm.data(scipy.sparse.csc_array([[1.0, 1.0, 0.0]])),
        lm.data(scipy.sparse.csc_array([[1.0, 0.0, 1.0]])),
    ),
    "toeplitz": (lm.toeplitz([2.0, 1.0]), lm.toeplitz([2.0, 0.5])),
    "points": (lm.kernel(POINTS, lm.rbf()), lm.kernel(2 * POINTS, lm.rbf())),
    "kernel": (lm.kernel(POINTS, lm.rbf()), lm.kernel(POINTS, lm.rbf(2.0))),
    "callable": (
        lm.kernel(POINTS, lambda x, y: x @ y.T),
        lm.kernel(POINTS, lambda x, y: 2 * x @ y.T),
    ),
    "units": (lm.data(POINTS), lm.data(np.ldexp(POINTS, 300))),
    "order": (lm.data(POINTS), lm.data(POINTS[:, ::-1].copy())),
    "shape": (lm.data(POINTS), lm.data(POINTS.reshape(4, 3))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_every_operator_is_distinguished_from_another_of_its_kind(name):
    one, other = PAIRS[name]
    assert same_data(fingerprint(one), fingerprint(one)) and not same_data(
        fingerprint(one), fingerprint(other)
    )


def test_products_that_are_zero_are_the_same_data():
    zero, other = (lm.function(lambda V, c=c: c * V, n=4) for c in (0.0, 1e-9))
    assert same_data(fingerprint(zero), fingerprint(zero))
    assert not same_data(fingerprint(zero), fingerprint(other))
