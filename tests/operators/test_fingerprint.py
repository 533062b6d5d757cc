"""The fingerprint of data: the same for the same numbers, another for others."""

import numpy as np
import pytest
from libraries import library

import landmarks as lm
from landmarks.operators.fingerprint import fingerprint, same_data

K = np.diag([3.0, 2.0, 1.0, 4.0]) + 0.1


def black_box(K):
    return lm.function(lambda V: K @ V, n=len(K))


def test_the_array_library_does_not_matter():
    assert same_data(fingerprint(lm.psd(K)), fingerprint(lm.psd(library("torch").asarray(K))))


def test_products_are_the_same_up_to_rounding():
    assert same_data(fingerprint(black_box(K)), fingerprint(black_box(K * (1 + 1e-8))))
    assert not same_data(fingerprint(black_box(K)), fingerprint(black_box(K * (1 + 1e-4))))


@pytest.mark.parametrize("other", [K.astype(np.float32), 2.0 * K, K[:3, :3]])
def test_other_numbers_have_another_fingerprint(other):
    assert not same_data(fingerprint(lm.psd(K)), fingerprint(lm.psd(other)))
