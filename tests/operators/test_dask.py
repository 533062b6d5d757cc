"""Dask arrays, data frames and points on dask's local schedulers: the same selections, whatever the chunks."""

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from libraries import library

import landmarks as lm
from landmarks import progress
from landmarks.methods.auto import product_seconds
from landmarks.operators import _strips, dask_data, dask_kernel
from landmarks.operators.dask import _explained
from landmarks.operators.restricted import Restricted

dask = pytest.importorskip("dask", reason="needs dask")
da = pytest.importorskip("dask.array", reason="needs dask")

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((6000, 12)) @ RNG.standard_normal((12, 20))
WIDE = RNG.standard_normal((9, 3000))
POINTS = RNG.standard_normal((2500, 3))
CHUNKINGS = [(1000, -1), (777, 5), (-1, -1)]


@pytest.fixture(autouse=True)
def scheduler(request):
    with dask.config.set(scheduler=getattr(request, "param", "synchronous")):
        yield


each_scheduler = pytest.mark.parametrize("scheduler", ["synchronous", "threads"], indirect=True)


@each_scheduler
def test_tall_data_have_one_gram_matrix_for_all_chunkings():
    grams = [lm.data(da.from_array(TALL, chunks=chunks)).K for chunks in CHUNKINGS]
    assert all(np.array_equal(grams[0], K) for K in grams[1:])
    np.testing.assert_array_equal(lm.select(da.from_array(TALL, chunks=500), 5).indices, lm.select(TALL, 5).indices)


@each_scheduler
def test_wide_data_have_one_product_for_all_chunkings(monkeypatch):
    monkeypatch.setattr(dask_data, "TILE_ENTRIES", 3000)  # several tiles
    V = RNG.standard_normal((3000, 2))
    products = [lm.data(da.from_array(WIDE, chunks=chunks)).matmul(V) for chunks in [(9, 1000), (2, 333), (-1, -1)]]
    assert all(np.array_equal(products[0], product) for product in products[1:])
    np.testing.assert_allclose(products[0], WIDE.T @ (WIDE @ V), rtol=1e-11, atol=1e-9)
    np.testing.assert_array_equal(
        lm.select(da.from_array(WIDE, chunks=(4, 999)), 5, method="greedy").indices, lm.select(WIDE, 5, method="greedy").indices
    )


@each_scheduler
def test_kernel_has_one_product_for_all_chunkings():
    V = RNG.standard_normal((2500, 2))
    products = [lm.kernel(da.from_array(POINTS, chunks=chunks), lm.rbf(sigma=1.5)).matmul(V) for chunks in [(1000, 3), (77, 2), (-1, -1)]]
    assert all(np.array_equal(products[0], product) for product in products[1:])
    np.testing.assert_allclose(products[0], lm.kernel(POINTS, lm.rbf(sigma=1.5)).matmul(V), rtol=0, atol=1e-10)


def test_diagonal_of_a_kernel_has_an_entry_for_each_point():
    np.testing.assert_allclose(lm.kernel(da.from_array(POINTS, chunks=900), lm.linear()).diagonal(), np.sum(POINTS**2, axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("KilledWorker", "workers died again and again on one piece of work"),
        ("NoWorkerError", "the cluster had no workers; start workers"),
        ("FutureCancelledError", "the cluster gave the work up"),
        ("CommClosedError", "the cluster gave the work up"),
    ],
)
def test_what_a_broken_cluster_raises_is_explained(name, sentence):
    assert sentence in _explained(type(name, (Exception,), {})("reason"), "the cluster")
    assert _explained(ValueError("another"), "the cluster") is None


@pytest.mark.parametrize("p", range(1, 10))
def test_round_the_circle_each_pair_of_strips_meets_once(p):
    meetings = Counter(frozenset({i, j}) for i in range(p) for j in _strips.partners(i, p))
    assert meetings == Counter(frozenset(pair) for pair in itertools.combinations_with_replacement(range(p), 2))


@pytest.mark.parametrize("method", ["greedy", "swap", "nuclear", "rpcholesky", "continuous", "annealed", "leverage", "kdpp", "iterated", "auto"])
def test_methods_choose_the_same_landmarks_as_in_memory(method):
    points = POINTS[:80]
    expected = lm.select(lm.kernel(points, lm.rbf(sigma=1.5)), 6, method=method)
    actual = lm.select(lm.kernel(da.from_array(points, chunks=30), lm.rbf(sigma=1.5)), 6, method=method)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    assert actual.error() == pytest.approx(expected.error(), rel=1e-9)


def test_workers_evaluate_on_a_torch_device():
    library("torch")
    V = RNG.standard_normal((2500, 2))
    operator = lm.kernel(da.from_array(POINTS, chunks=900), lm.rbf(sigma=1.5), device="cpu")
    np.testing.assert_allclose(operator.matmul(V), lm.kernel(POINTS, lm.rbf(sigma=1.5)).matmul(V), rtol=0, atol=1e-10)


def test_restriction_is_local_when_small_and_goes_through_the_workers_when_large(monkeypatch):
    kernel, wide = lm.kernel(da.from_array(POINTS, chunks=900), lm.rbf(sigma=1.5)), lm.data(da.from_array(WIDE, chunks=(9, 999)))
    expected = [lm.kernel(POINTS, lm.rbf(sigma=1.5)).columns(np.arange(40))[:40], WIDE[:, :40].T @ WIDE[:, :40]]
    local = [operator.restrict(np.arange(40)) for operator in (kernel, wide)]
    monkeypatch.setattr(dask_kernel, "LOCAL", 10)
    monkeypatch.setattr(dask_data, "MEMORY", 10)
    remote = [operator.restrict(np.arange(40)) for operator in (kernel, wide)]
    assert not any(isinstance(part, Restricted) for part in local) and all(isinstance(part, Restricted) for part in remote)
    for K, *parts in zip(expected, local, remote, strict=True):
        for part in parts:
            np.testing.assert_allclose(part.columns(np.arange(40)), K, rtol=0, atol=1e-11)


@pytest.mark.parametrize("power", [-300, 300])
def test_scaling_by_a_power_of_two_changes_no_selection(power):
    for A in (TALL, WIDE):
        expected = lm.select(A, 5, method="greedy")
        scaled = lm.select(da.from_array(np.ldexp(A, power), chunks=(1000, 1000)), 5, method="greedy")
        np.testing.assert_array_equal(scaled.indices, expected.indices)
        assert np.ldexp(scaled.error(), -2 * power) == pytest.approx(expected.error(), rel=1e-9)


def test_new_points_of_a_kernel_have_features():
    a, b = (lm.select(lm.kernel(points, lm.rbf(sigma=1.5)), 5, method="greedy").nystrom() for points in (POINTS, da.from_array(POINTS, chunks=900)))
    np.testing.assert_allclose(b.features(POINTS[:7] + 0.1), a.features(POINTS[:7] + 0.1), atol=1e-9)


@pytest.mark.parametrize(("row", "chunk"), [(5, "rows 0 to 999"), (4567, "rows 4000 to 4999")])
@each_scheduler
def test_a_value_that_is_missing_in_a_late_chunk_is_found_and_placed(row, chunk):
    bad = TALL.copy()
    bad[row, 3] = np.nan
    for use in (lm.data, lambda X: lm.kernel(X, lm.rbf())):
        with pytest.raises(ValueError, match=rf"contains NaN .*first at row {row}, column 3.*{chunk}"):
            use(da.from_array(bad, chunks=(1000, -1)))


def test_a_missing_value_of_wide_data_is_placed():
    bad = WIDE.copy()
    bad[4, 2] = np.inf
    with pytest.raises(ValueError, match="contains infinity .*first at row 4, column 2"):
        lm.data(da.from_array(bad, chunks=(3, 1000)))


def test_names_of_a_data_frame_are_kept():
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame(TALL, columns=[f"c{j}" for j in range(20)])
    selection = lm.select(frames.from_pandas(frame, npartitions=3), 4, include=["c7"])
    np.testing.assert_array_equal(selection.indices, lm.select(frame, 4, include=["c7"]).indices)
    assert "c7" in selection.chosen_names


def test_chunks_of_unknown_size_are_measured():
    X = da.from_array(TALL, chunks=(1000, -1))
    some = X[X[:, 0] > 0]
    np.testing.assert_array_equal(lm.select(some, 4).indices, lm.select(TALL[TALL[:, 0] > 0], 4).indices)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.ones((4, 3), dtype=complex), "Complex data not supported: X is complex128"),
        (np.array([["a", "b"]]), "X must hold numbers, got <U1"),
        (np.ones(5), r"X must have two dimensions, got shape \(5,\)"),
        (np.ones((0, 5)), r"X must have at least one row and one column, got shape \(0, 5\)"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        lm.data(da.from_array(values))


def test_a_bag_is_refused():
    bag = pytest.importorskip("dask.bag", reason="needs dask.bag")
    with pytest.raises(TypeError, match="X must be a dask array or data frame, got Bag"):
        lm.data(bag.from_sequence([1, 2]))


@pytest.mark.parametrize("use", [lm.data, lambda X: lm.select(X, 2), lambda X: lm.kernel(X, lm.rbf())])
def test_a_lazy_call_without_a_shape_is_refused(use):
    with pytest.raises(TypeError, match=r"must have a shape, got a Delayed; make an array of it with dask\.array\.from_delayed"):
        use(dask.delayed(np.ones)((4, 4)))


def test_settings_of_points_in_memory_are_refused():
    with pytest.raises(ValueError, match="engine and memory are for points in memory"):
        lm.kernel(da.from_array(POINTS), lm.rbf(), engine="keops")


def test_a_device_is_for_dask_points_alone():
    with pytest.raises(ValueError, match="device is for the workers of dask points"):
        lm.kernel(POINTS, lm.rbf(), device="cuda")


def test_other_number_types_are_read_as_float64_and_single_precision_is_summed_in_double():
    for dtype in ("int16", "bool", "float32"):
        X = (TALL[:300] > 0).astype(dtype)
        np.testing.assert_array_equal(lm.data(da.from_array(X, chunks=70)).K, X.astype(float).T @ X.astype(float))
    assert lm.data(da.from_array(WIDE.astype("float32"))).like.dtype == np.float32


@each_scheduler
def test_reading_is_told_chunk_by_chunk():
    heard = []
    with progress.watching(lambda p: heard.append((p.phase, p.done, p.total))):
        lm.data(da.from_array(TALL, chunks=(1000, -1)))
    assert heard == [("reading", i, 6) for i in range(1, 7)]


@each_scheduler
def test_what_a_watcher_raises_stops_the_reading():
    def impatient(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.watching(impatient):
        lm.data(da.from_array(TALL, chunks=(1000, -1)))


def test_auto_counts_what_a_product_costs_beyond_its_arithmetic():
    for operator in (lm.kernel(da.from_array(POINTS), lm.rbf()), lm.data(da.from_array(WIDE))):
        assert product_seconds(operator) == operator.product_seconds() > dask_data.OVERHEAD


def test_nothing_is_started_and_no_port_is_opened():
    program = (
        "import dask.array as da, numpy, psutil, landmarks; landmarks.select(da.from_array(numpy.eye(5)), 2);"
        "print([c for c in psutil.Process().net_connections('inet') if c.status == 'LISTEN'], len(psutil.Process().children()))"
    )
    sources = str(Path(__file__).parents[2] / "src")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": sources})
    assert done.stdout.strip() == "[] 0"
