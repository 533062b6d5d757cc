"""Rows that are refused, with the reason."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import landmarks as lm

from .made import SMALL, X
from .sources import SOURCES, cut


class TestWrongInput:
    @pytest.mark.parametrize("value, kind", [(np.nan, "NaN"), (np.inf, "infinity")])
    @pytest.mark.parametrize(
        "source", ["memmap", "Zarr 2", "HDF5", "generator of data frames", "path of Parquet"]
    )
    def test_a_bad_value_in_a_late_block_is_reported_with_its_rows(
        self, source, value, kind, tmp_path
    ):
        A = np.tile(X, (13, 1))
        A[38000, 2] = value
        name = " 'c2'" if source in ("generator of data frames", "path of Parquet") else ""
        with pytest.raises(
            ValueError,
            match=rf"X contains {kind} in rows 37448 to 38999 \(first at row 38000, column "
            rf"2{name}; 1 there\)",
        ):
            lm.data(SOURCES[source](A, tmp_path, 1000), memory=SMALL)

    def test_a_null_in_parquet_is_a_missing_value(self, tmp_path):
        pq.write_table(pa.table({"a": [1, 2, None], "b": [0.5, 1.0, 2.0]}), tmp_path / "X.parquet")
        with pytest.raises(ValueError, match=r"row 2, column 'a': the value is missing \(NaN"):
            lm.data(tmp_path / "X.parquet", memory=1000)

    def test_text_columns_are_named(self, tmp_path):
        pq.write_table(
            pa.table({"city": ["Bonn"], "size": [1.0], "day": pa.array([0], pa.date32())}),
            tmp_path / "X.parquet",
        )
        with pytest.raises(
            ValueError,
            match=r"2 of 3 columns do not hold numbers: 'city' \(row 0: 'Bonn', string\), 'day' "
            r"\(row 0: '1970-01-01', date32\[day\]\); leave them out",
        ):
            lm.data(tmp_path / "X.parquet")
        assert lm.data(tmp_path / "X.parquet", columns=["size"]).names == ("size",)

    def test_ragged_blocks(self):
        with pytest.raises(
            ValueError, match=r"must have the 7 columns of the first, got shape \(10, 6\) at row 50"
        ):
            lm.data(iter([X[:50], X[:10, :6]]))

    def test_blocks_with_other_names(self):
        import pandas as pd

        with pytest.raises(
            ValueError, match=r"the columns of the first, \('a', 'b'\), got \('b', 'a'\)"
        ):
            lm.data(
                iter(
                    [pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"b": [1.0], "a": [2.0]})]
                )
            )

    def test_text_in_a_block(self):
        with pytest.raises(ValueError, match="must hold numbers, got text"):
            lm.data(iter([np.array([["a", "b"]])]))

    def test_a_block_that_is_one_row(self):
        with pytest.raises(
            ValueError, match=r"two dimensions, got shape \(7,\); reshape a single row"
        ):
            lm.data(iter(X))

    def test_an_iterator_read_twice(self):
        blocks = iter(cut(X, 500))
        lm.data(blocks)
        with pytest.raises(
            ValueError, match="an iterator that was read already is empty: make a new one"
        ):
            lm.data(blocks)

    def test_a_function_that_returns_the_same_iterator_again(self):
        blocks = iter([X[:0], *cut(X, 500)])
        with pytest.raises(ValueError, match="read already is empty|return a fresh iterator"):
            lm.select(lm.data(lambda: blocks, memory=1000), 2).error()

    def test_blocks_of_changing_dtype_are_fine(self):
        K = lm.data(
            iter([X[:100].astype(np.float32), np.ones((5, 7), dtype=bool), X[100:200]])
        ).columns([0])
        A = np.concatenate([X[:100].astype(np.float32), np.ones((5, 7)), X[100:200]])
        np.testing.assert_allclose(K, A.T @ A[:, :1], rtol=1e-12)

    def test_an_iterator_too_wide_for_its_gram_matrix(self):
        with pytest.raises(
            MemoryError,
            match=r"n = 20000 columns: adding up XᵀX takes 17.9 GiB, above memory = 1 GiB, "
            r"and an iterator is read once",
        ):
            lm.data(iter([np.ones((1, 20000))]))

    def test_memory_that_is_not_a_number_of_bytes(self):
        with pytest.raises(
            ValueError, match="memory must be a positive whole number of bytes, got '1GB'"
        ):
            lm.data(iter([X]), memory="1GB")

    def test_a_function_given_to_select(self):
        with pytest.raises(TypeError, match=r"or pass lm\.data\(A\) if it returns blocks of rows"):
            lm.select(lambda: iter([X]), 2)


def test_a_function_of_blocks_must_return_an_iterator():
    with pytest.raises(TypeError, match="must return an iterator of two-dimensional .* got float"):
        lm.data(lambda: 3.0)
