"""What a user may hold, and whether it is read in blocks."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
import zarr

from landmarks.operators.sources import ArrayRows, ArrowRows, IterableRows, as_rows

X = np.arange(12.0).reshape(6, 2)


class Counted:
    """An iterator that knows its length, as those of data loaders do."""

    def __init__(self):
        self.left = [X[:2], X[2:]]

    def __iter__(self):
        return self

    def __len__(self):
        return 2

    def __next__(self):
        if not self.left:
            raise StopIteration
        return self.left.pop(0)


class Fresh:
    """An iterable that can be read again and has no length."""

    def __iter__(self):
        return iter([X[:4], X[4:]])


@pytest.mark.parametrize(
    ("given", "again"),
    [
        (iter([X]), False),
        (Counted(), False),
        (lambda: iter([X]), True),
        ([X[:1], X[1:]], True),
        ((X,), True),
        (Fresh(), True),
        ([pa.table({"a": [1.0]})], True),
    ],
    ids=["iterator", "with a length", "function", "list", "tuple", "iterable", "tables"],
)
def test_what_gives_blocks_is_read_in_blocks(given, again):
    source = as_rows(given)
    assert isinstance(source, IterableRows) and source.again == again


@pytest.mark.parametrize(
    "given",
    [
        X,
        X.tolist(),
        [],
        [[1.0, 2.0]],
        [X[0], X[1]],
        pd.DataFrame(X),
        scipy.sparse.csr_array(X),
        {"a": [1.0]},
        3.0,
        range(3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arrays_tables_and_lists_of_numbers_are_not(given):
    assert as_rows(given) is None


def test_what_is_stored_is_sliced(tmp_path):
    stored = zarr.create_array(store=str(tmp_path / "X.zarr"), shape=X.shape, dtype=X.dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for given in (stored, mapped):
        source = as_rows(given)
        assert isinstance(source, ArrayRows) and (source.m, source.n) == (6, 2)
    assert as_rows(mapped[:, 0]) is None and as_rows(mapped[:0]) is None
    assert isinstance(as_rows(pa.table({"a": [1.0]})), ArrowRows)
    assert as_rows(source) is source
