"""Dask arrays, frames and points on local schedulers: the same selections for all chunks."""

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from libraries import library

import landmarks as lm
from landmarks.methods.costs import product_seconds
from landmarks.operators.base import DENSE_MEMORY, densify, squared_diagonal
from landmarks.operators.dask import data as dask_data
from landmarks.operators.dask import kernel as dask_kernel
from landmarks.operators.dask import strips as _strips
from landmarks.operators.dask.client import (
    SETTING,
    Reading,
    _any_size,
    _explained,
    cluster_memory,
    compute,
    constant,
    current_client,
    keep,
    lazy,
    patience,
    tree,
)
from landmarks.operators.restricted import Restricted
from landmarks.runs import progress

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
    np.testing.assert_array_equal(
        lm.select(da.from_array(TALL, chunks=500), 5).indices, lm.select(TALL, 5).indices
    )


@each_scheduler
def test_wide_data_have_one_product_for_all_chunkings(monkeypatch):
    monkeypatch.setattr(dask_data, "TILE_ENTRIES", 3000)  # several tiles
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
    assert meetings == Counter(
        frozenset(pair) for pair in itertools.combinations_with_replacement(range(p), 2)
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
    kernel, wide = (
        lm.kernel(da.from_array(POINTS, chunks=900), lm.rbf(sigma=1.5)),
        lm.data(da.from_array(WIDE, chunks=(9, 999))),
    )
    expected = [
        lm.kernel(POINTS, lm.rbf(sigma=1.5)).columns(np.arange(40))[:40],
        WIDE[:, :40].T @ WIDE[:, :40],
    ]
    local = [operator.restrict(np.arange(40)) for operator in (kernel, wide)]
    monkeypatch.setattr(dask_kernel, "LOCAL", 10)
    monkeypatch.setattr(dask_data, "MEMORY", 10)
    remote = [operator.restrict(np.arange(40)) for operator in (kernel, wide)]
    assert not any(isinstance(part, Restricted) for part in local) and all(
        isinstance(part, Restricted) for part in remote
    )
    for K, *parts in zip(expected, local, remote, strict=True):
        for part in parts:
            np.testing.assert_allclose(part.columns(np.arange(40)), K, rtol=0, atol=1e-11)


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


@pytest.mark.parametrize(("row", "chunk"), [(5, "rows 0 to 999"), (4567, "rows 4000 to 4999")])
@each_scheduler
def test_a_value_that_is_missing_in_a_late_chunk_is_found_and_placed(row, chunk):
    bad = TALL.copy()
    bad[row, 3] = np.nan
    for use in (lm.data, lambda X: lm.kernel(X, lm.rbf())):
        with pytest.raises(
            ValueError, match=rf"contains NaN .*first at row {row}, column 3.*{chunk}"
        ):
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
    np.testing.assert_array_equal(
        lm.select(some, 4).indices, lm.select(TALL[TALL[:, 0] > 0], 4).indices
    )


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


@pytest.mark.parametrize(
    "use", [lm.data, lambda X: lm.select(X, 2), lambda X: lm.kernel(X, lm.rbf())]
)
def test_a_lazy_call_without_a_shape_is_refused(use):
    with pytest.raises(
        TypeError,
        match=r"must have a shape, got a Delayed; make an array of it with "
        r"dask\.array\.from_delayed",
    ):
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
        np.testing.assert_array_equal(
            lm.data(da.from_array(X, chunks=70)).K, X.astype(float).T @ X.astype(float)
        )
    assert lm.data(da.from_array(WIDE.astype("float32"))).like.dtype == np.float32


@each_scheduler
def test_reading_is_reported_chunk_by_chunk():
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
    monkeypatch.setattr(dask_data, "TILE_ROWS", 4)
    monkeypatch.setattr(dask_data, "TILE_ENTRIES", 40)
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


@pytest.mark.parametrize(("limit", "kept"), [(2 * 9 * 33 * 8, True), (2 * 9 * 33 * 8 - 2, False)])
def test_tiles_are_kept_up_to_half_of_the_memory(limit, kept, monkeypatch):
    monkeypatch.setattr(dask_data, "memory", lambda: limit)
    calls = []

    def chunk(block):
        calls.append(block.shape)
        return block

    X = da.from_array(WIDE[:, :33], chunks=(9, 33)).map_blocks(chunk, meta=np.empty((0, 0)))
    operator = lm.data(X)
    before = len(calls)
    operator.matmul(np.ones((33, 1)))
    assert (len(calls) == before) == kept


def test_tiles_count_the_entries_that_they_read(monkeypatch):
    ledger = (operator := in_tiles(WIDE[:, :33], monkeypatch)).ledger
    operator.matmul(np.ones((33, 2)))
    assert ledger.snapshot() == {"products": 2, "columns": 0, "entries": 9 * 66}
    operator.matmul(np.ones((3, 1)), rows=[0, 1], cols=[4, 5, 6])
    operator.diagonal()
    assert ledger.snapshot() == {"products": 3, "columns": 0, "entries": 9 * (66 + 5 + 33)}
    operator.columns([3, 4])
    assert ledger.snapshot() == {"products": 5, "columns": 2, "entries": 9 * (66 + 5 + 33 + 35)}


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


def test_whole_numbers_are_tiled_as_float64(monkeypatch):
    A = np.arange(9 * 33).reshape(9, 33) % 7
    np.testing.assert_array_equal(in_tiles(A, monkeypatch).columns(np.arange(33)), A.T @ A)


def test_a_missing_value_in_a_later_tile_is_placed_by_the_columns_of_the_tile(monkeypatch):
    bad = WIDE[:, :33].copy()
    bad[6, 23] = np.nan
    with pytest.raises(
        ValueError,
        match=r"X\[:, 20:\] contains NaN in rows 4 to 7 \(first at row 6, column 3; .*chunk "
        r"of rows 4 to 7",
    ):
        in_tiles(bad, monkeypatch)


def test_tiles_are_reported_as_they_are_read(monkeypatch):
    heard = []
    with progress.watching(lambda p: heard.append((p.phase, p.done, p.total))):
        in_tiles(WIDE[:, :33], monkeypatch)
    assert heard == [("reading", i, 12) for i in range(1, 13)]


@pytest.mark.parametrize(("tail", "local"), [(0, True), (1, False)])
def test_a_restriction_is_local_up_to_the_limit(tail, local, monkeypatch):
    monkeypatch.setattr(dask_kernel, "LOCAL", 10)
    monkeypatch.setattr(dask_data, "MEMORY", 10 * 9 * 8)
    for operator in (lm.kernel(da.from_array(POINTS), lm.rbf()), lm.data(da.from_array(WIDE))):
        assert isinstance(operator.restrict(np.arange(10 + tail)), Restricted) != local


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
        "squares": (operator.squared_diagonal(), np.sum(K * K, axis=0)),
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
            operator.new_rows(POINTS[:4] + 7.5, [3, 2000]),
            h(POINTS[:4] + 7.5, POINTS[[3, 2000]] + 7.0),
            rtol=1e-9,
        )


def test_strips_grow_with_the_root_of_the_number_of_points():
    assert [_strips.height(n) for n in (1, 16_384, 1_000_000)] == [1024, 1024, 8192]
    assert _strips.height(100, least=2**16) == 2**16
    assert _strips.cuts(25, 10) == [(0, 10), (10, 20), (20, 25)]


def test_the_seconds_of_a_product_are_those_of_its_tasks_and_entries(monkeypatch):
    assert in_tiles(WIDE[:, :33], monkeypatch).product_seconds() == pytest.approx(
        0.02 + 2 * 12 * 0.003 + 1e-9 * 9 * 33
    )
    kernel, torch, gpu = (
        lm.kernel(da.from_array(POINTS), lm.rbf(), device=device)
        for device in (None, "cpu", "cuda")
    )
    assert kernel.product_seconds() == pytest.approx(
        0.02 + 1.2 * 3 * 0.003 + 2500**2 * 1.5e-9
    )  # three strips
    assert torch.product_seconds() == pytest.approx(0.02 + 1.2 * 0.003 + 2500**2 * 1.5e-9)
    assert gpu.product_seconds() == pytest.approx(0.02 + 1.2 * 0.003 + 2500**2 * 1e-12)


def test_chunks_that_split_the_columns_are_put_together(monkeypatch):
    monkeypatch.setattr(dask_data, "CHUNK", 1000 * 20 * 8)
    chunks, starts = dask_data.chunks_of_rows(da.from_array(TALL, chunks=(3000, 7)))
    heights = [part.compute().shape for part in chunks]
    assert len(chunks) > 5 and all(rows <= 1000 and columns == 20 for rows, columns in heights)
    assert (
        starts.tolist()
        == np.concatenate([[0], np.cumsum([rows for rows, _ in heights])[:-1]]).tolist()
    )
    assert dask_data.chunks_of_rows(da.from_array(TALL, chunks=(2500, -1)))[1].tolist() == [
        0,
        2500,
        5000,
    ]


def test_a_tall_operator_knows_what_was_read_and_its_names():
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    operator = lm.data(
        frames.from_pandas(
            pandas.DataFrame(np.ldexp(TALL, 200), columns=[f"c{j}" for j in range(20)]),
            npartitions=3,
        )
    )
    assert (
        operator.ledger.entries == 6000 * 20
        and operator.names[3] == "c3"
        and operator.exponent > 300
    )
    wide = lm.data(
        frames.from_pandas(
            pandas.DataFrame(WIDE[:, :30], columns=[f"c{j}" for j in range(30)]), npartitions=2
        )
    )
    assert wide.names[29] == "c29" and wide.exponent == 0


def test_points_of_whole_numbers_are_read_as_float64():
    grid = np.arange(12).reshape(6, 2) % 5
    operator = lm.kernel(da.from_array(grid, chunks=4), lm.rbf(sigma=2.0))
    np.testing.assert_allclose(
        operator.columns(np.arange(6)),
        lm.rbf(sigma=2.0)(grid.astype(float), grid.astype(float)),
        rtol=1e-12,
    )


@pytest.mark.parametrize("shape", [(40, 5), (4, 12)], ids=["tall", "wide"])
def test_sparse_chunks_are_read(shape):
    A = np.where(RNG.random(shape) < 0.3, 1.0, 0.0) + np.eye(*shape)
    X = da.from_array(A, chunks=(-1, -1)).map_blocks(scipy.sparse.csr_array)
    np.testing.assert_allclose(lm.data(X).columns(np.arange(shape[1])), A.T @ A, rtol=1e-12)


def test_parts_are_put_together_by_eights():
    assert compute(tree(list, [lazy(int, i) for i in range(10)])) == [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [8, 9],
    ]
    assert compute(tree(list, [lazy(int, i) for i in range(8)])) == list(range(8))
    assert compute(tree(list, [lazy(int, 5)])) == 5


def test_what_is_kept_is_computed_once():
    calls = []
    kept = keep(lazy(calls.append, 1))
    compute(kept), compute(lazy(str, kept))
    assert calls == [1]


def test_a_constant_is_passed_on_as_it_is():
    assert compute(lazy(type, constant([1, 2]))) is list


def test_a_chunk_that_was_read_twice_counts_once():
    heard, reading = [], Reading(3)
    with progress.watching(lambda p: heard.append((p.phase, p.done, p.total))):
        for chunk in (2, 2, 0):
            reading.hear((0.0, chunk))
            reading.report()
    assert heard == [("reading", 1, 3), ("reading", 2, 3)] and Reading(3).topic != reading.topic


@pytest.mark.parametrize(("setting", "seconds"), [(None, 300.0), ("2s", 2.0), ("1 hour", 3600.0)])
def test_a_run_waits_five_minutes_for_workers_unless_dask_is_set_otherwise(setting, seconds):
    with dask.config.set({SETTING: setting}):
        assert patience() == seconds


def test_vectors_in_a_graph_are_not_warned_of():
    with _any_size():
        assert (
            dask.utils.parse_bytes(
                dask.config.get("distributed.admin.large-graph-warning-threshold")
            )
            == 10**12
        )


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


class Older:
    """A client from before distributed 2025, whose scheduler reported all workers."""

    def scheduler_info(self):
        return {
            "workers": {
                "a": {"memory_limit": 3},
                "b": {"memory_limit": None},
                "c": {"memory_limit": 4},
            }
        }


def test_the_memory_of_an_older_cluster_is_added_up():
    assert cluster_memory(Older()) == 7


class TestCluster:
    @pytest.fixture(autouse=True)
    def in_use(self, client, scheduler):
        with dask.config.set(scheduler=client):
            yield

    def test_its_client_is_found_and_its_memory_added_up(self, client):
        assert current_client() is client
        assert cluster_memory(client) == dask_data.memory() == 2 * 10**9

    def test_without_it_a_stored_matrix_may_be_kept_twice(self):
        with dask.config.set(scheduler="threads"):
            assert current_client() is None and dask_data.memory() == 2 * DENSE_MEMORY

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

    def test_what_is_kept_stays_with_the_workers_of_the_client_in_use(self, client):
        kept = keep(lazy(np.ones, 3))
        (future,) = client.futures_of(kept)
        assert future.client is client
        np.testing.assert_array_equal(future.result(), np.ones(3))

    def test_what_is_kept_is_computed_once(self):
        kept = keep(lazy(np.random.default_rng().random))
        assert compute(kept) == compute(kept)

    def test_all_chunks_are_reported(self):
        heard = []
        with progress.watching(lambda p: heard.append((p.phase, p.done, p.total))):
            lm.data(da.from_array(TALL, chunks=(1000, -1)))
        assert heard[-1] == ("reading", 6, 6)

    def test_an_error_of_the_work_passes_through(self):
        with pytest.raises(ZeroDivisionError):
            compute(lazy(lambda: 1 // 0))


class TestCentredAndScaledColumns:
    """Against the same columns in memory; rounding is relative to the spread, not to the mean."""

    rng = np.random.default_rng(5)
    tall = 1e4 + rng.standard_normal((5000, 6)) @ rng.standard_normal((6, 6))
    wide = -3.0 + rng.standard_normal((30, 70)) * np.arange(1, 71)

    @pytest.mark.parametrize("settings", [(True, False), (False, True), (True, True)])
    @pytest.mark.parametrize("name", ["tall", "wide"])
    @pytest.mark.parametrize("size", [1.0, 1e200, 1e-200])
    def test_the_gram_matrix_is_that_of_the_array_in_memory(self, settings, name, size):
        center, scale = settings
        X = getattr(self, name) * size
        found = lm.data(da.from_array(X, chunks=(700, 4)), center=center, scale=scale)
        expected = lm.data(X, center=center, scale=scale)
        K = np.ldexp(densify(found), found.exponent - expected.exponent)
        largest = np.abs(densify(expected)).max()
        # about 1e4 of mean to 1 of spread, squared, times the rounding of float64
        np.testing.assert_allclose(K, densify(expected), rtol=0, atol=1e-10 * largest)

    @pytest.mark.parametrize("name", ["tall", "wide"])
    def test_chunks_change_no_bit(self, name, monkeypatch):
        monkeypatch.setattr(dask_data, "TILE_ENTRIES", 600)  # several tiles
        X = getattr(self, name)
        made = [
            densify(lm.data(da.from_array(X, chunks=chunks), center=True, scale=True))
            for chunks in [(-1, -1), (13, 5), (2500, 3)]
        ]
        np.testing.assert_array_equal(made[0], made[1])
        np.testing.assert_array_equal(made[0], made[2])

    def test_a_constant_column_is_zero(self):
        X = self.tall.copy()
        X[:, 2] = 7.0
        K = densify(lm.data(da.from_array(X, chunks=1000), center=True, scale=True))
        assert not K[2].any() and K[0, 0] == pytest.approx(len(X))

    def test_select_takes_the_words(self):
        X = self.wide
        found = lm.select(da.from_array(X, chunks=(10, 20)), 4, center=True, scale=True)
        assert found.center and found.scale
        expected = lm.select(X, 4, center=True, scale=True)
        assert found.error() == pytest.approx(expected.error(), rel=1e-9)

    def test_missing_values_are_named_by_their_row(self):
        X = self.tall.copy()
        X[3000, 1] = np.nan
        with pytest.raises(ValueError, match=r"X contains NaN in rows .*first at row 3000, column"):
            lm.data(da.from_array(X, chunks=1000), center=True)
