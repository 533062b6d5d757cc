"""Arrow tables of every kind: the chosen columns, their number of rows, their dtype and names."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.orc
import pyarrow.parquet
import pytest

import landmarks as lm
from landmarks.operators.sources import ArrowRows, is_arrow
from landmarks.readers.frames import arrow_values

X = np.arange(21.0).reshape(7, 3)
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})


def stored(form):
    def make(folder):
        pyarrow.dataset.write_dataset(TABLE, folder / form, format=form)
        return pyarrow.dataset.dataset(folder / form, format=form)

    return make


def orc(folder):
    pyarrow.orc.write_table(TABLE, folder / "X.orc")
    return pyarrow.dataset.dataset(folder / "X.orc", format="orc")


def parquet_file(folder):
    pyarrow.parquet.write_table(TABLE, folder / "X.parquet")
    return pyarrow.parquet.ParquetFile(folder / "X.parquet")


KINDS = {
    "table": lambda folder: TABLE,
    "batch": lambda folder: TABLE.to_batches()[0],
    "reader": lambda folder: TABLE.to_reader(),
    "parquet file": parquet_file,
    "parquet": stored("parquet"),
    "feather": stored("feather"),
    "ipc": stored("ipc"),
    "orc": orc,
    "csv": stored("csv"),
}


@pytest.mark.parametrize("columns", [None, [2, 0]])
@pytest.mark.parametrize("kind", KINDS)
def test_the_wanted_columns_are_read_in_blocks(kind, columns, tmp_path):
    source = ArrowRows(KINDS[kind](tmp_path), columns)
    blocks = list(source.read(source.n * 8 * 2))
    np.testing.assert_array_equal(np.concatenate(blocks), X if columns is None else X[:, [2, 0]])
    assert source.names == tuple("abc"[j] for j in columns or range(3)) and source.n == len(
        source.names
    )
    assert kind in ("batch", "reader") or max(map(len, blocks)) == 2


def test_an_orc_file_knows_its_rows(tmp_path):
    assert ArrowRows(orc(tmp_path)).m == 7


@pytest.mark.parametrize("kind", ["table", "batch", "parquet", "feather"])
def test_columns_of_one_name_are_told_apart_by_their_places(kind, tmp_path):
    table = TABLE.rename_columns(["a", "b", "a"])
    given = {"table": table, "batch": table.to_batches()[0]}.get(kind)
    if given is None:
        pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
        given = pyarrow.parquet.ParquetFile(tmp_path / "x.parquet")
    blocks = list(ArrowRows(given, [2, 1]).read(10**6))
    np.testing.assert_array_equal(np.concatenate(blocks), X[:, [2, 1]])


def test_of_a_table_the_columns_that_hold_numbers_are_read():
    table = TABLE.append_column("d", pa.array(list("uvwxyzu"))).append_column("e", TABLE["a"])
    with pytest.warns(UserWarning, match="leaves out 1 of 5 columns: 'd'"):
        operator = lm.data(table, numeric_only=True)
    assert operator.names == ("a", "b", "c", "e")
    with pytest.raises(ValueError, match=r"1 of 5 columns do not hold numbers: 'd' \(string\)"):
        lm.data(table)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_where_that_needs_no_reading(kind, tmp_path):
    source = ArrowRows(KINDS[kind](tmp_path))
    assert source.m == (None if kind in ("reader", "csv") else 7)
    assert source.again == (kind != "reader")


@pytest.mark.parametrize(
    ("types", "dtype"),
    [(["f4", "f4"], "f4"), (["f4", "f8"], "f8"), (["f4", "i2"], "f8"), (["i4", "?"], "f8")],
)
def test_the_dtype_holds_all_columns(types, dtype):
    table = pa.table({str(j): np.ones(3, dtype=name) for j, name in enumerate(types)})
    assert ArrowRows(table).dtype == np.dtype(dtype)


def test_a_row_at_least_is_read_at_a_time():
    assert [len(block) for block in ArrowRows(TABLE).read(1)] == 7 * [1]


def test_a_missing_value_becomes_nan():
    np.testing.assert_array_equal(
        arrow_values(pa.table({"a": [1, None], "b": [0.5, 2.0]})), [[1, 0.5], [np.nan, 2.0]]
    )


def test_tables_datasets_and_readers_are_distinguished_from_other_things(tmp_path):
    assert all(is_arrow(make(tmp_path)) for make in KINDS.values())
    assert not any(map(is_arrow, (pa.array([1.0]), X, [TABLE], "a")))


def test_a_batch_that_miscounts_its_missing_values_is_refused():
    """A damaged file: one value is missing, and the count of missing values says two."""
    bits, values = pa.py_buffer(b"\x05"), pa.py_buffer(np.arange(3.0))
    damaged = pa.Array.from_buffers(pa.float64(), 3, [bits, values], null_count=2)
    with pytest.raises(pa.ArrowInvalid, match="null_count"):
        arrow_values(pa.table({"a": damaged}))
