"""Dask arrays, frames and points on local schedulers: the same selections for all chunks."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from libraries import library

import landmarks as lm
from landmarks.operators.base import Restricted
from landmarks.operators.dask import wide
from landmarks.operators.diagonals import squared_diagonal
from landmarks.runs import runner

from .arrays import POINTS, RNG, TALL, WIDE, da, dask, each_scheduler

pytestmark = pytest.mark.thorough

CHUNKINGS = [(1000, -1), (777, 5), (-1, -1)]


@each_scheduler
def test_tall_data_have_one_gram_matrix_for_all_chunkings():
    grams = [lm.data(da.from_array(TALL, chunks=chunks)).K for chunks in CHUNKINGS]
    assert all(np.array_equal(grams[0], K) for K in grams[1:])
    np.testing.assert_array_equal(
        lm.select(da.from_array(TALL, chunks=500), 5).indices, lm.select(TALL, 5).indices
    )


@each_scheduler
def test_wide_data_have_one_product_for_all_chunkings(monkeypatch):
    monkeypatch.setattr(wide, "TILE_ENTRIES", 3000)  # several tiles
    V = RNG.standard_normal((3000, 2))
    products = [
        lm.data(da.from_array(WIDE, chunks=chunks)).matmul(V)
        for chunks in [(9, 1000), (2, 333), (-1, -1)]
    ]
    assert all(np.array_equal(products[0], product) for product in products[1:])
    np.testing.assert_allclose(products[0], WIDE.T @ (WIDE @ V), rtol=1e-11, atol=1e-9)
    np.testing.assert_array_equal(
        lm.select(da.from_array(WIDE, chunks=(4, 999)), 5, method="greedy").indices,
        lm.select(WIDE, 5, method="greedy").indices,
    )


@each_scheduler
def test_kernel_has_one_product_for_all_chunkings():
    V = RNG.standard_normal((2500, 2))
    products = [
        lm.kernel(da.from_array(POINTS, chunks=chunks), lm.rbf(sigma=1.5)).matmul(V)
        for chunks in [(1000, 3), (77, 2), (-1, -1)]
    ]
    assert all(np.array_equal(products[0], product) for product in products[1:])
    np.testing.assert_allclose(
        products[0], lm.kernel(POINTS, lm.rbf(sigma=1.5)).matmul(V), rtol=0, atol=1e-10
    )


def test_diagonal_of_a_kernel_has_an_entry_for_each_point():
    np.testing.assert_allclose(
        lm.kernel(da.from_array(POINTS, chunks=900), lm.linear()).diagonal(),
        np.sum(POINTS**2, axis=1),
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    "method",
    [
        "greedy",
        "swap",
        "nuclear",
        "rpcholesky",
        "continuous",
        "annealed",
        "leverage",
        "kdpp",
        "iterated",
        "auto",
    ],
)
def test_methods_choose_the_same_landmarks_as_in_memory(method):
    points = POINTS[:80]
    expected = lm.select(lm.kernel(points, lm.rbf(sigma=1.5)), 6, method=method)
    actual = lm.select(
        lm.kernel(da.from_array(points, chunks=30), lm.rbf(sigma=1.5)), 6, method=method
    )
    np.testing.assert_array_equal(actual.indices, expected.indices)
    assert actual.error() == pytest.approx(expected.error(), rel=1e-9)


def test_workers_evaluate_on_a_torch_device():
    library("torch")
    V = RNG.standard_normal((2500, 2))
    operator = lm.kernel(da.from_array(POINTS, chunks=900), lm.rbf(sigma=1.5), device="cpu")
    np.testing.assert_allclose(
        operator.matmul(V), lm.kernel(POINTS, lm.rbf(sigma=1.5)).matmul(V), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_kernel_knows_how_far_its_products_may_be_off(dtype):
    points = POINTS[:300].astype(dtype)
    exact = lm.rbf(sigma=1.5)(POINTS[:300], POINTS[:300]).sum(axis=1, keepdims=True)
    errors = {}
    for device in (None, "cpu"):
        if device is not None:
            library("torch")
        operator = lm.kernel(da.from_array(points, chunks=90), lm.rbf(sigma=1.5), device=device)
        product = operator.matmul(np.ones((300, 1), dtype=dtype))
        errors[device] = operator.product_error
        # entries are at most 1, and a sum of 300 of them rounds too
        assert (
            np.max(np.abs(product - exact)) <= 300 * errors[device] + 300 * 8 * np.finfo(dtype).eps
        )
    assert errors[None] < (1e-3 if dtype == "float32" else 1e-7)
    assert errors["cpu"] < (1e-3 if dtype == "float32" else 1e-7)


def test_restriction_is_local_when_small_and_goes_through_the_workers_when_large(monkeypatch):
    expected = WIDE[:, :40].T @ WIDE[:, :40]
    K = lm.data(da.from_array(WIDE, chunks=(9, 999)))
    local = K.restrict(np.arange(40))
    monkeypatch.setattr(wide, "MEMORY", 10)
    remote = K.restrict(np.arange(40))
    assert not isinstance(local, Restricted) and isinstance(remote, Restricted)
    for part in (local, remote):
        np.testing.assert_allclose(part.columns(np.arange(40)), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("power", [-300, 300])
def test_scaling_by_a_power_of_two_changes_no_selection(power):
    for A in (TALL, WIDE):
        expected = lm.select(A, 5, method="greedy")
        scaled = lm.select(
            da.from_array(np.ldexp(A, power), chunks=(1000, 1000)), 5, method="greedy"
        )
        np.testing.assert_array_equal(scaled.indices, expected.indices)
        assert np.ldexp(scaled.error(), -2 * power) == pytest.approx(expected.error(), rel=1e-9)


def test_new_points_of_a_kernel_have_features():
    a, b = (
        lm.select(lm.kernel(points, lm.rbf(sigma=1.5)), 5, method="greedy").nystrom()
        for points in (POINTS, da.from_array(POINTS, chunks=900))
    )
    np.testing.assert_allclose(
        b.features(POINTS[:7] + 0.1), a.features(POINTS[:7] + 0.1), atol=1e-9
    )


def test_nothing_is_started_and_no_port_is_opened():
    program = (
        "import dask.array as da, numpy, psutil, landmarks; "
        "landmarks.select(da.from_array(numpy.eye(5)), 2);"
        "print([c for c in psutil.Process().net_connections('inet') if c.status == "
        "'LISTEN'], len(psutil.Process().children()))"
    )
    sources = str(Path(lm.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": sources},
    )
    assert done.stdout.strip() == "[] 0"


def in_tiles(A, monkeypatch):
    """The operator of a wide matrix in tiles of 4 × 10, the last of which are smaller."""
    monkeypatch.setattr(wide, "TILE_ROWS", 4)
    monkeypatch.setattr(wide, "TILE_ENTRIES", 40)
    operator = lm.data(da.from_array(A, chunks=(5, 7)))
    assert operator.tiles.shape == (3, 4) and operator.names is None
    return operator


@pytest.mark.parametrize("power", [0, 150, -151])
def test_tiles_of_any_shape_and_scale_are_the_dense_matrix(power, monkeypatch):
    A = WIDE[:, :33]
    K, V = A.T @ A, RNG.standard_normal((33, 2))
    operator = in_tiles(np.ldexp(A, power), monkeypatch)
    factor = 2.0 ** (2 * power - operator.exponent)
    rows, cols = np.array([32, 0, 11, 10, 9]), np.array([5, 31, 20])
    np.testing.assert_allclose(operator.matmul(V), factor * (K @ V), rtol=1e-11)
    np.testing.assert_allclose(
        operator.matmul(V[:3], rows=rows, cols=cols),
        factor * (K[np.ix_(rows, cols)] @ V[:3]),
        rtol=1e-11,
    )
    np.testing.assert_allclose(operator.diagonal(), factor * np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(operator.columns(cols), factor * K[:, cols], rtol=1e-11, atol=1e-12)
    assert operator.matmul(V[:0], rows=rows, cols=[]).tolist() == 5 * [[0.0, 0.0]]
    part = operator.restrict(rows)
    assert part.exponent == operator.exponent and part.ledger is operator.ledger
    np.testing.assert_allclose(
        part.columns(np.arange(5)), factor * K[np.ix_(rows, rows)], rtol=1e-11, atol=1e-12
    )


def test_single_precision_stays_single_in_tiles(monkeypatch):
    operator = in_tiles(WIDE[:, :33].astype("float32"), monkeypatch)
    block = np.ones((33, 1), dtype="float32")
    results = [
        operator.matmul(block),
        operator.matmul(block[:0], cols=[]),
        operator.diagonal(),
        operator.columns([1]),
        operator.restrict([1, 12]).X,
    ]
    assert {result.dtype for result in results} == {np.dtype("float32")}


def test_a_missing_value_in_a_later_tile_is_placed_by_its_row_and_column_in_X(monkeypatch):
    bad = WIDE[:, :33].copy()
    bad[6, 23] = np.nan
    with pytest.raises(ValueError, match=r"NaN in rows 4 to 7 \(first at row 6, column 23; "):
        in_tiles(bad, monkeypatch)


@pytest.fixture(scope="module")
def client():
    """A cluster of threads in this process that is not the default one."""
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    settings = {
        "processes": False,
        "n_workers": 2,
        "threads_per_worker": 1,
        "memory_limit": "1 GB",
        "dashboard_address": None,
    }
    unlimited = {
        f"distributed.worker.memory.{level}": False
        for level in ("target", "spill", "pause", "terminate")
    }  # it is that of all tests
    with dask.config.set(unlimited), distributed.Client(set_as_default=False, **settings) as client:
        yield client


class TestCluster:
    @pytest.fixture(autouse=True)
    def in_use(self, client, scheduler):
        with dask.config.set(scheduler=client):
            yield

    def test_data_and_kernels_are_those_in_memory(self, monkeypatch):
        K, V = WIDE[:, :33].T @ WIDE[:, :33], RNG.standard_normal((33, 2))
        np.testing.assert_allclose(in_tiles(WIDE[:, :33], monkeypatch).matmul(V), K @ V, rtol=1e-11)
        np.testing.assert_allclose(
            lm.data(da.from_array(TALL, chunks=(1000, -1))).K, TALL.T @ TALL, rtol=1e-10, atol=1e-8
        )
        operator = lm.kernel(da.from_array(POINTS[:80], chunks=30), lm.rbf())
        np.testing.assert_allclose(
            squared_diagonal(operator),
            np.sum(lm.rbf()(POINTS[:80], POINTS[:80]) ** 2, axis=0),
            rtol=1e-10,
        )

    def test_all_chunks_are_reported(self):
        heard = []
        with runner.watching(lambda p: heard.append((p.phase, p.done, p.total))):
            lm.data(da.from_array(TALL, chunks=(1000, -1)))
        assert heard[-1] == ("reading", 6, 6)
