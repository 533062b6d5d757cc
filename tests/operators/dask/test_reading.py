"""How chunks of dask arrays are read, counted and reported."""

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.operators.dask import client
from landmarks.runs import runner

from .arrays import RNG, TALL, WIDE, da, each_scheduler

pytestmark = pytest.mark.thorough


def test_other_number_types_are_read_as_float64_and_single_precision_is_summed_in_double():
    for dtype in ("int16", "bool", "float32"):
        X = (TALL[:300] > 0).astype(dtype)
        np.testing.assert_array_equal(
            lm.data(da.from_array(X, chunks=70)).K, X.astype(float).T @ X.astype(float)
        )
    assert lm.data(da.from_array(WIDE.astype("float32"))).like.dtype == np.float32


@each_scheduler
def test_what_a_watcher_raises_stops_the_reading():
    def impatient(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), runner.watching(impatient):
        lm.data(da.from_array(TALL, chunks=(1000, -1)))


def test_chunks_that_split_the_columns_are_put_together(monkeypatch):
    monkeypatch.setattr(client, "CHUNK", 1000 * 20 * 8)
    chunks, ranges, numbers = client.chunks_of_rows(da.from_array(TALL, chunks=(3000, 7)))
    heights = [part.compute().shape for part in chunks]
    assert len(chunks) > 5 and all(rows <= 1000 and columns == 20 for rows, columns in heights)
    assert [len(rows) for rows in ranges] == [rows for rows, _ in heights]
    assert set(numbers) == {None}
    whole = client.chunks_of_rows(da.from_array(TALL, chunks=(2500, -1)))[1]
    assert whole == [range(2500), range(2500, 5000), range(5000, 6000)]


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
