"""Kernels on the workers, strip by strip, are the dense matrix."""

import itertools
from collections import Counter

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators.base import faster_squares, new_rows
from landmarks.operators.dask import strips as _strips

from .arrays import POINTS, RNG, da


@pytest.mark.parametrize("p", range(1, 10))
def test_round_the_circle_each_pair_of_strips_meets_once(p):
    meetings = Counter(frozenset({i, j}) for i in range(p) for j in _strips.partners(i, p))
    assert meetings == Counter(
        frozenset(pair) for pair in itertools.combinations_with_replacement(range(p), 2)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("h", [lm.rbf(sigma=1.5), lm.polynomial(degree=2)], ids=repr)
def test_a_kernel_in_strips_is_the_dense_matrix(h, dtype):
    operator, K = (
        lm.kernel(da.from_array(POINTS.astype(dtype), chunks=(900, 2)), h),
        h(POINTS, POINTS),
    )
    rows, cols = RNG.permutation(2500)[:1500], RNG.permutation(2500)[:1100]
    results = {
        "diagonal": (operator.diagonal(), np.diag(K)),
        "squares": (faster_squares(operator), np.sum(K * K, axis=0)),
    }
    results["columns"] = operator.columns(cols[:3]), K[:, cols[:3]]
    results["part"] = (
        operator.matmul(np.ones((1100, 1), dtype=dtype), rows=rows, cols=cols),
        K[np.ix_(rows, cols)].sum(axis=1, keepdims=True),
    )
    for name, (actual, expected) in results.items():
        assert actual.dtype == dtype, name
        np.testing.assert_allclose(
            actual,
            expected,
            rtol=2e-4 if dtype == "float32" else 1e-10,
            atol=1e-5 if dtype == "float32" else 0,
            err_msg=name,
        )


def test_a_kernel_counts_the_values_that_it_evaluates():
    operator = lm.kernel(da.from_array(POINTS, chunks=900), lm.rbf())
    operator.matmul(np.ones((2500, 2)))
    assert operator.ledger.snapshot() == {
        "products": 2,
        "columns": 0,
        "entries": 2500 * (2500 + 1024) // 2,
    }
    operator.matmul(np.ones((3, 1)), rows=[0, 1], cols=[4, 5, 6])
    operator.matmul(np.ones((3, 1)), cols=[4, 5, 6])
    operator.diagonal()
    operator.columns([3, 4])
    assert operator.ledger.since({"products": 2, "columns": 0, "entries": 2500 * 3524 // 2}) == {
        "products": 2,
        "columns": 2,
        "entries": 6 + 7500 + 2500 + 5000,
    }


def test_new_points_are_compared_with_the_points_as_they_were():
    for h in (lm.rbf(sigma=1.5), lm.polynomial(degree=2)):
        operator = lm.kernel(da.from_array(POINTS + 7.0, chunks=900), h)
        np.testing.assert_allclose(
            new_rows(operator, POINTS[:4] + 7.5, [3, 2000]),
            h(POINTS[:4] + 7.5, POINTS[[3, 2000]] + 7.0),
            rtol=1e-9,
        )


def test_strips_grow_with_the_root_of_the_number_of_points():
    assert [_strips.height(n) for n in (1, 16_384, 1_000_000)] == [1024, 1024, 8192]
    assert _strips.height(100, least=2**16) == 2**16
    assert _strips.cuts(25, 10) == [(0, 10), (10, 20), (20, 25)]
