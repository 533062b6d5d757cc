"""Sources of rows: their dtype, arrays in memory, prepared rows, and the tiles made of them."""

import numpy as np
import pytest
import zarr
from threadpoolctl import threadpool_limits

from landmarks.operators.sources import (
    READ,
    ArrayRows,
    IterableRows,
    Standardised,
    float_dtype,
    largest,
    load,
    pass_height,
    tile_height,
    tiles,
)
from landmarks.operators.sums import in_order, tiles_ahead
from landmarks.runs.runner import watching

X = np.random.default_rng(0).standard_normal((11, 3))


def source(height=4):
    return IterableRows([X[start : start + height] for start in range(0, 11, height)])


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [(["f4"], "f4"), (["f4", "f4"], "f4"), (["f4", "f8"], "f8"), (["i4"], "f8"), (["f2"], "f8")],
)
def test_single_precision_is_kept_and_all_else_is_double(dtypes, expected):
    assert float_dtype(*dtypes) == np.dtype(expected)


def test_a_source_is_loaded_block_by_block_and_a_memory_map_as_it_is(tmp_path):
    np.save(tmp_path / "X.npy", X.astype("float32"))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(load(ArrayRows(mapped), 10), mapped)
    stored = zarr.create_array(
        store=str(tmp_path / "X.zarr"), shape=X.shape, chunks=(2, 3), dtype="float32"
    )
    stored[:] = X
    loaded = load(ArrayRows(stored), 50)
    assert loaded.dtype == np.float32 and np.array_equal(loaded, X.astype("float32"))


@pytest.mark.parametrize("weighted", [False, True])
def test_prepared_rows_are_centred_scaled_and_weighted_in_their_units(weighted):
    mean, factor, w = np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.0, 3.0]), np.arange(1.0, 12.0)
    rows = Standardised(source(), 3, mean, factor, w if weighted else None)
    expected = (X / 8 - mean) * factor * (np.sqrt(w)[:, None] if weighted else 1.0)
    np.testing.assert_allclose(np.concatenate(list(rows.read(100))), expected, rtol=1e-14)
    assert (rows.n, rows.m, rows.names, rows.again, rows.dtype) == (3, None, None, True, np.float64)


def test_tiles_have_one_height_however_the_source_is_cut():
    for height in (1, 4, 11):
        found = [(start, tile.copy()) for start, tile in tiles(source(height), 5)]
        assert [start for start, _ in found] == [0, 5, 10] and [len(tile) for _, tile in found] == [
            5,
            5,
            1,
        ]
        np.testing.assert_array_equal(np.concatenate([tile for _, tile in found]), X)


def test_buffers_are_used_in_turn():
    found = [tile for _, tile in tiles(source(), 3, buffers=2)]
    assert np.shares_memory(found[0], found[2]) and not np.shares_memory(found[0], found[1])


def test_reading_is_reported_tile_by_tile_with_the_rows_of_the_source():
    heard = []
    rows = source()
    with watching(lambda p: heard.append((p.phase, p.done, p.total))):
        list(tiles(rows, 5)), list(tiles(rows, 5))
    assert heard == [("reading", done, total) for total in (None, 11) for done in (5, 10, 11)]
    assert rows.m == 11


def test_a_source_that_gives_other_rows_the_second_time_is_reported():
    rows = source()
    rows.m = 12
    with pytest.raises(ValueError, match="X gave 11 rows where 12 were expected"):
        list(tiles(rows, 5))


def test_the_largest_value_may_be_negative():
    assert (
        largest(np.array([[1.0, -3.0]]), source(), 0) == 3.0
        and largest(np.array([[4.0, -3.0]]), source(), 0) == 4.0
    )


def test_heights_keep_tiles_in_the_cache_and_in_the_memory():
    assert [tile_height(n) for n in (1, 64, 8192, 2**20, 2**25)] == [2**17, 2048, 2048, 16, 1]
    assert (
        pass_height(2**22, 2**40) == 65
        and pass_height(1000, 64_000) == 1
        and pass_height(1000, 640_000) == 10
    )
    assert pass_height(1000, 1) == 1
    assert READ == 8 * 2**20


def test_as_many_tiles_are_in_work_as_threads_and_memory_allow():
    with threadpool_limits(3, user_api="blas"):
        assert [tiles_ahead(100, memory) for memory in (10**6, 800, 799, 400, 1)] == [4, 4, 3, 2, 1]


def test_an_error_in_the_work_is_raised_in_its_turn():
    results = in_order(lambda i: 10 // i, [(2,), (1,), (0,), (5,)], 2)
    assert [next(results), next(results)] == [5, 10]
    with pytest.raises(ZeroDivisionError):
        next(results)


class Chunked:
    """An array that says how it is stored."""

    def __init__(self, chunks, shards=None):
        self.shape, self.dtype, self.chunks, self.shards = (100, 2), np.dtype("f8"), chunks, shards

    def __getitem__(self, rows):
        return np.zeros((100, 2))[rows]


@pytest.mark.parametrize(
    ("chunks", "shards", "memory", "height"),
    [
        (None, None, 160, 10),
        (None, None, 1, 1),
        ((4, 2), None, 160, 8),
        ((30, 2), None, 160, 30),
        ((4, 2), (8, 2), 320, 16),
        ((32, 2), None, 16, 32),
    ],
)
def test_whole_chunks_are_read_where_they_fit(chunks, shards, memory, height):
    assert len(next(ArrayRows(Chunked(chunks, shards)).read(memory))) == height


def test_a_chunk_of_more_than_thirty_two_readings_is_warned_of():
    with pytest.warns(
        UserWarning,
        match="each chunk of X has 33 rows, and 1 rows at a time fit in memory: each chunk "
        "is unpacked 33 times",
    ):
        assert len(next(ArrayRows(Chunked((33, 2))).read(16))) == 1


def test_without_a_blas_that_can_be_asked_there_is_one_thread(monkeypatch):
    import threadpoolctl

    pools = [{"user_api": "blas", "num_threads": 3}, {"user_api": "openmp", "num_threads": 9}]
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: pools)
    assert tiles_ahead(100, 10**6) == 4
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: pools[1:])
    assert tiles_ahead(100, 10**6) == 2
