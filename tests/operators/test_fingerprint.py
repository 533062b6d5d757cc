"""The fingerprint of data: the same for the same numbers, another for others."""

import hashlib
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
from libraries import library

import landmarks as lm
from landmarks.operators.fingerprint import (
    _digest,
    fingerprint,
    fingerprint_of_values,
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


@pytest.mark.parametrize("other", [K.astype(np.float32), 2.0 * K, K[:3, :3]])
def test_other_numbers_have_another_fingerprint(other):
    assert not same_data(fingerprint(lm.psd(K)), fingerprint(lm.psd(other)))


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


def test_a_product_with_two_entries_exchanged_is_another():
    d = np.arange(1.0, 8.0)
    known = fingerprint(black_box(np.diag(d)))
    for i, j in combinations(range(7), 2):
        other = d.copy()
        other[[i, j]] = d[[j, i]]
        assert not same_data(known, fingerprint(black_box(np.diag(other))))


def test_a_fingerprint_says_what_it_is_of():
    found, sketch = fingerprint(lm.psd(K.astype(np.float32))), fingerprint(black_box(K))
    assert {name: found[name] for name in ("operator", "n", "dtype", "exponent")} == {
        "operator": "Dense",
        "n": 4,
        "dtype": "float32",
        "exponent": 0,
    }
    assert len(found["sha256"]) == 64 and "sketch" not in found
    assert len(sketch["sketch"]) == 16 and sketch["tolerance"] == 1e-6 and "sha256" not in sketch
    single = K.astype(np.float32)
    assert (
        fingerprint(lm.function(lambda V: single @ V, n=4, dtype=np.float32))["tolerance"] == 1e-4
    )
    assert not same_data(found, sketch)


def test_an_array_is_read_some_rows_at_a_time_with_the_same_digest():
    digests = [hashlib.sha256(), hashlib.sha256()]
    for digest, rows in zip(digests, (2**24, 40), strict=True):
        _digest(digest, POINTS, rows)
    assert digests[0].digest() == digests[1].digest()
    assert (
        digests[0].digest()
        == hashlib.sha256(f"{POINTS.dtype.str}{POINTS.shape}".encode() + POINTS.tobytes()).digest()
    )


def test_sparse_values_are_distinguished_by_shape_places_and_numbers():
    X = scipy.sparse.csc_array(K - np.diag(np.diag(K)))
    same = fingerprint_of_values(X.tocoo())
    assert same == fingerprint_of_values(X.tocsr()) and same.startswith("sha256:")
    moved = scipy.sparse.csc_array(X.toarray()[::-1])
    wider = scipy.sparse.csr_array((X.tocsr().data, X.tocsr().indices, X.tocsr().indptr), (4, 5))
    assert len({same, *map(fingerprint_of_values, (2 * X, moved, wider))}) == 4


def test_a_product_of_two_gram_matrices_is_distinguished_by_both():
    A, B = np.ones((2, 4)), np.arange(8.0).reshape(2, 4)
    found = [fingerprint(lm.hadamard(*pair)) for pair in ((A, B), (A, B + 1), (A + 1, B))]
    assert "sha256" in found[0] and len({one["sha256"] for one in found}) == 3


def test_products_that_are_zero_are_the_same_data():
    zero, other = (lm.function(lambda V, c=c: c * V, n=4) for c in (0.0, 1e-9))
    assert same_data(fingerprint(zero), fingerprint(zero))
    assert not same_data(fingerprint(zero), fingerprint(other))
