"""Operators in float64 stand for the same matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks._array import host, is_single
from landmarks.errors import UnsupportedError
from landmarks.operators.forms import densify, in_double

X = np.random.default_rng(0).standard_normal((9, 7)).astype(np.float32)
SINGLE = {
    "data": lm.data(X),
    "sparse": lm.data(scipy.sparse.csr_array(X)),
    "kernel": lm.kernel(X, lm.rbf(sigma=3.0)),
    "psd": lm.psd(X.T @ X),
    "toeplitz": lm.toeplitz(np.float32(0.5) ** np.arange(6, dtype=np.float32)),
    "scaled": lm.data(X * np.float32(2.0**40)),
    "scaled sparse": lm.data(scipy.sparse.csr_array(X * np.float32(2.0**40))),
    "scaled psd": lm.psd(X.T @ X * np.float32(2.0**60)),
}


@pytest.mark.parametrize("name", SINGLE)
def test_the_matrix_is_the_same_with_more_digits(name):
    double = in_double(SINGLE[name])
    assert (
        not is_single(double.like)
        and double.exponent == SINGLE[name].exponent
        and double.ledger is SINGLE[name].ledger
    )
    assert_allclose(densify(double), densify(SINGLE[name]), rtol=1e-5, atol=1e-6)


def test_the_scaled_ones_have_an_exponent():
    assert all(SINGLE[name].exponent > 0 for name in SINGLE if name.startswith("scaled"))


def test_a_kernel_keeps_its_memory_and_is_evaluated_in_chunks():
    single = lm.kernel(X, lm.rbf(sigma=3.0), memory=2**20)
    double = in_double(single)
    assert double.memory == 2**20 and double.engine == "chunked" and double.h is single.h


def test_entries_may_take_an_eighth_of_what_a_stored_matrix_may(monkeypatch):
    monkeypatch.setattr("landmarks.operators.forms.DENSE_MEMORY", 8 * 4 * 6**2)
    in_double(SINGLE["toeplitz"])
    with pytest.raises(UnsupportedError, match="too large to store"):
        in_double(SINGLE["psd"])


@pytest.mark.parametrize("name", ["data", "sparse", "kernel", "scaled"])
def test_one_made_from_data_is_remade_without_rounding(name):
    double = in_double(SINGLE[name])
    assert type(double) is type(SINGLE[name]) and not is_single(double.digits)


@pytest.mark.parametrize("name", ["psd", "toeplitz", "scaled psd"])
def test_entries_keep_the_digits_they_had(name):
    double = in_double(SINGLE[name])
    assert (
        is_single(double.digits)
        and is_single(double.restrict([0, 2]).digits)
        and not is_single(double.like)
    )


def test_every_library_has_double(xp):
    double = in_double(lm.data(xp.asarray(X)))
    assert_allclose(host(densify(double)), X.T.astype(float) @ X, rtol=1e-12)


def test_one_in_double_is_left_alone():
    operator = lm.data(X.astype(float))
    assert in_double(operator) is operator


def test_a_large_product_in_single_precision_says_what_to_do():
    with pytest.raises(
        UnsupportedError,
        match=r"Function\(n=20000, dtype=float32\) is in float32, .* too large to store"
        r".*float64 data",
    ):
        in_double(lm.function(lambda V: 2 * V, n=20_000, dtype=np.float32))
