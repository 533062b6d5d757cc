"""A checkpoint knows the data of its run: the same for the same numbers, another for others."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from libraries import library

import landmarks as lm
from landmarks.errors import RankWarning

K = np.diag([3.0, 2.0, 1.0, 4.0]) + 0.1


def black_box(K):
    return lm.function(lambda V: K @ V, n=len(K))


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
    "products": (black_box(K), black_box(K * (1 + 1e-4))),
    "products that are zero": (black_box(0 * K), black_box(1e-9 * np.eye(4))),
}


ALIKE = {name: (one, one) for name, (one, _) in PAIRS.items()} | {
    "array libraries": (lm.psd(K), lm.psd(library("torch").asarray(K))),
    "products up to rounding": (black_box(K), black_box(K * (1 + 1e-8))),
}


def run(operator, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return lm.select(operator, 1, method="greedy", scale=False, checkpoint=path).indices


@pytest.mark.parametrize("name", PAIRS)
def test_a_run_does_not_continue_on_other_data_of_its_kind(name, tmp_path):
    one, other = PAIRS[name]
    run(one, tmp_path / "run.npz")
    with pytest.raises(ValueError, match="belongs to a run on other data"):
        run(other, tmp_path / "run.npz")


@pytest.mark.parametrize("name", ALIKE)
def test_a_run_continues_on_the_same_data(name, tmp_path):
    one, other = ALIKE[name]
    first = run(one, tmp_path / "run.npz")
    assert run(other, tmp_path / "run.npz").tolist() == first.tolist()
