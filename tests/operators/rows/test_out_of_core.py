"""Rows read in blocks: every source and chunking gives the same choice as the array in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from errors_of import exact_error

import landmarks as lm
from landmarks.operators.diagonals import squared_diagonal
from landmarks.runs.runner import watching

from .made import SMALL, X, correlated
from .sources import SOURCES, cut


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_source_gives_the_gram_matrix_and_the_choice_of_the_array(source, dtype, tmp_path):
    A = X.astype(dtype)
    operator = lm.data(SOURCES[source](A, tmp_path, 400), memory=SMALL)
    expected = lm.data(A.astype(np.float64))
    np.testing.assert_allclose(
        operator.columns(np.arange(7)), expected.columns(np.arange(7)), rtol=1e-13
    )  # 3000 products added up
    ours, theirs = lm.select(operator, 3), lm.select(expected, 3)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    for criterion in ("trace", "frobenius"):
        assert ours.error(criterion) == pytest.approx(theirs.error(criterion), rel=1e-10)


@pytest.mark.parametrize(
    "source", ["memmap", "HDF5", "Zarr 3", "path of Parquet", "Parquet dataset", "iterator"]
)
@pytest.mark.parametrize("standard", [{}, {"center": True, "scale": True}])
def test_sums_are_the_same_to_the_last_bit_for_every_chunking_and_memory(
    source, standard, tmp_path
):
    A, grams = np.tile(X, (13, 1)), []
    for height, memory in ((39000, 2**20), (1777, 2**20), (512, 2**19)):
        folder = tmp_path / str(height)
        folder.mkdir()
        grams.append(
            lm.data(SOURCES[source](A, folder, height), memory=memory, **standard).columns(
                np.arange(7)
            )
        )
    assert all(np.array_equal(K, grams[0]) for K in grams)


def test_rows_one_at_a_time_are_the_same_to_the_last_bit():
    whole, single = (lm.data(iter(cut(X, height))).columns(np.arange(7)) for height in (3000, 1))
    np.testing.assert_array_equal(whole, single)


@pytest.mark.parametrize("source", ["memmap", "HDF5", "path of Parquet", "Arrow table"])
def test_a_small_file_is_loaded_and_gives_what_the_array_gives(source, tmp_path):
    operator = lm.data(SOURCES[source](X, tmp_path, 400))
    assert operator.m == 3000
    assert lm.select(operator, 3).error() == lm.select(X, 3).error()


@pytest.mark.parametrize(
    "standard", [{"center": True}, {"scale": True}, {"center": True, "scale": True}]
)
@pytest.mark.parametrize("source", ["array", "memmap", "iterator", "wide"])
def test_columns_are_centred_and_scaled_on_the_way(source, standard, tmp_path):
    A = X + 100.0
    Z = A - A.mean(axis=0) if standard.get("center") else A
    Z = Z / A.std(axis=0) if standard.get("scale") else Z
    given = {"array": A, "wide": lambda: iter(cut(A, 100))}.get(source)
    given = SOURCES[source](A, tmp_path, 300) if given is None else given
    operator = lm.data(given, memory=1000 if source == "wide" else SMALL, **standard)
    np.testing.assert_allclose(
        operator.columns(np.arange(7)), Z.T @ Z, rtol=1e-9
    )  # the mean of 100 costs two digits
    np.testing.assert_allclose(operator.diagonal(), np.sum(Z * Z, axis=0), rtol=1e-9)


def test_means_far_from_zero_do_not_cancel():
    noise = correlated(5000, 4)
    K = lm.data(iter(cut(noise + 1e8, 700)), center=True).columns(np.arange(4))
    Z = noise - noise.mean(axis=0)
    np.testing.assert_allclose(K, Z.T @ Z, rtol=1e-5)  # the values themselves are rounded to 1e-8


@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_a_late_block_of_another_scale_changes_the_units_only(power):
    A = np.concatenate([correlated(2000, 5), np.ldexp(correlated(2000, 5, seed=1), power)])
    s, expected = (
        lm.select(lm.data(iter(cut(A, 300))), 2, method="greedy"),
        lm.select(A, 2, method="greedy"),
    )
    np.testing.assert_array_equal(s.indices, expected.indices)
    assert s.relative_error() == pytest.approx(expected.relative_error(), rel=1e-9)


def test_passes_over_the_rows_multiply_as_the_matrix_does():
    W = correlated(40, 60)
    operator = lm.data(lambda: iter(cut(W, 7)), memory=20_000)
    K, V = W.T @ W, np.random.default_rng(1).standard_normal((60, 3))
    np.testing.assert_allclose(operator.matmul(V), K @ V, rtol=1e-11)
    np.testing.assert_allclose(
        operator.matmul(V[:5], rows=[3, 50], cols=[1, 2, 9, 8, 40]),
        K[[3, 50]][:, [1, 2, 9, 8, 40]] @ V[:5],
        rtol=1e-11,
    )
    np.testing.assert_allclose(
        operator.restrict([5, 2, 30]).columns([1]), K[[5, 2, 30]][:, [2]], rtol=1e-11
    )
    np.testing.assert_allclose(operator.diagonal(), np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(squared_diagonal(operator), np.diag(K @ K), rtol=1e-11)


@pytest.mark.parametrize("method", ["auto", "greedy", "rpcholesky", "nuclear", "swap"])
def test_methods_choose_alike_by_passes(method):
    W = correlated(40, 60)
    s = lm.select(lm.data(lambda: iter(cut(W, 7)), memory=20_000), 5, method=method)
    assert s.error() == pytest.approx(
        lm.select(W, 5, method=method).error(), rel=0.1
    )  # few probes, drawn alike, may differ in a choice


def test_rows_that_do_not_fit_say_how_much_memory_they_need():
    W = correlated(4, 60)
    assert lm.select(lm.data(lambda: iter([W]), memory=64 * 60), 2).k == 2
    with pytest.raises(
        MemoryError,
        match=r"n = 60 columns: adding up XᵀX takes 0\.0 GiB.*raise memory=… to at least "
        r"3840 bytes",
    ):
        lm.data(lambda: iter([W]), memory=64 * 60 - 1)


def test_an_iterator_leaves_no_rows_to_read_again():
    assert lm.data(iter(cut(X, 500))).source is None
    assert lm.data(cut(X, 500)).source.m == 3000


class TestErrorsLostInRounding:
    """Beyond the rank of X a Gram matrix knows errors to 1e-16, a second pass to its square."""

    low = correlated(3000, 3) @ correlated(3, 8)
    low = low + 1e-7 * correlated(3000, 8, seed=5)

    def test_they_are_computed_from_the_rows_again(self):
        s = lm.select(lm.data(lambda: iter(cut(self.low, 500))), 3, method="greedy")
        # the gains of the third pick agree to 1e-14, so which column it is does not matter
        assert s.indices[:2].tolist() == [7, 4]
        for criterion in ("trace", "frobenius"):
            expected = exact_error(lm.data(self.low), s.indices, criterion)
            assert s.error(criterion) == pytest.approx(expected, rel=1e-6)

    @pytest.mark.parametrize("criterion", ["trace", "frobenius"])
    def test_the_rows_are_read_again_only_where_rounding_hides_the_error(self, criterion):
        passes = []

        def rows():
            passes.append(1)
            return iter(cut(self.low, 500))

        operator = lm.data(rows)
        before = len(passes)
        exact_error(operator, [7, 4], criterion)  # far above rounding
        assert len(passes) == before
        exact_error(operator, [7, 4, 0], criterion)
        assert len(passes) == before + 1

    def test_also_by_passes_alone(self):
        operator = lm.data(lambda: iter(cut(self.low, 500)), memory=1000)
        expected = exact_error(lm.data(self.low), [7, 4, 0], "trace")
        assert exact_error(operator, [7, 4, 0], "trace") == pytest.approx(expected, rel=1e-6)

    def test_columns_beyond_the_numerical_rank_count(self):
        tiny = self.low.copy()
        tiny[:, 3:] = self.low[:, :3] @ correlated(3, 5) + 1e-9 * correlated(3000, 5, seed=6)
        indices = np.array([0, 1, 2, 3, 4])
        Q = np.linalg.qr(tiny[:, indices])[0]
        expected = np.linalg.norm(tiny - Q @ (Q.T @ tiny)) ** 2
        assert exact_error(
            lm.data(lambda: iter(cut(tiny, 500))), indices, "trace"
        ) == pytest.approx(expected, rel=1e-4)

    def test_an_iterator_that_is_gone_leaves_what_the_gram_matrix_knows(self):
        s = lm.select(lm.data(iter(cut(self.low, 500))), 3, method="greedy")
        assert 0 <= s.error() < 1e-11 * s.total()


def test_reading_is_reported_and_may_be_broken_off():
    seen = []
    with watching(lambda progress: seen.append((progress.phase, progress.done, progress.total))):
        lm.data(lambda: iter(cut(np.tile(X, (13, 1)), 500)))
    assert seen[0] == ("reading", 18724, None) and seen[-1] == ("reading", 39000, None)


@pytest.mark.parametrize(
    "source",
    [
        "path of Parquet",
        "ParquetFile",
        "Parquet dataset",
        "Arrow table",
        "Arrow reader",
        "function of record batches",
    ],
)
def test_names_come_from_the_schema(source, tmp_path):
    s = lm.select(lm.data(SOURCES[source](X, tmp_path, 400), memory=SMALL), 2, include=["c4"])
    assert "c4" in s.chosen_names


MEASURED = """
import numpy as np, landmarks as lm, sys
def anonymous():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024
X = np.memmap(sys.argv[1], dtype=np.float32, mode="r", shape=(2**22, 25))
lm.data(X[:10_000], memory=2**16)
lm.select(X[:10_000], 3, method="greedy").error()  # what is imported on first use is no data
before, peak = anonymous(), 0
def watch(progress):
    global peak
    peak = max(peak, anonymous() - before)
from landmarks.runs.runner import watching
with watching(watch):
    selection = lm.select(X, 3, method="greedy")
    selection.error()
    lm.data(X, memory=2**26, center=True)
print(peak, X.nbytes)
"""


@pytest.mark.thorough
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="measures memory as Linux counts it"
)
def test_memory_stays_below_a_tenth_of_the_file(tmp_path):
    with open(tmp_path / "X.bin", "wb") as file:
        file.truncate(2**22 * 25 * 4)
    source = str(Path(lm.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path / "X.bin")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert run.returncode == 0, run.stderr
    peak, size = map(int, run.stdout.split())
    assert peak < size / 10
