"""Columns of a data matrix: scales, layouts and what is kept."""

import numpy as np
import pytest

import landmarks as lm

X = np.random.default_rng(0).standard_normal((40, 15)) * np.linspace(1, 3, 15)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint64", "bool", "longdouble", ">f8", "<f4"])
def test_fault_15_other_number_types_become_float64_and_float32_stays(dtype):
    operator = lm.data((10 * X).astype("int8").astype(dtype))
    assert operator.like.dtype == (np.float32 if dtype == "<f4" else np.float64)


def test_read_only_memory_map_is_used_as_it_is(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    operator = lm.data(mapped)
    assert np.may_share_memory(operator.X, mapped)
    np.testing.assert_array_equal(
        lm.select(operator, 5, method="greedy").indices, lm.select(X, 5, method="greedy").indices
    )
