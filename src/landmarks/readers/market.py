"""Matrix Market files, dense or of coordinates; coordinates stay sparse. SciPy reads the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import scipy.io
import scipy.sparse

from ..errors import FormatError
from .arrays import as_floats, as_table
from .limit import check_size
from .table import Table, wanted

if TYPE_CHECKING:
    from .read import Reading


def read_market(file: BinaryIO, reading: Reading) -> Table:
    """The table of a Matrix Market file."""
    try:
        rows, columns, entries, layout, field, _ = scipy.io.mminfo(file)
        _check(rows, columns, entries, layout, field, reading.max_bytes)
        file.seek(0)
        X = scipy.io.mmread(file, spmatrix=False)
    except FormatError:
        raise
    except (ValueError, OverflowError, TypeError, OSError, MemoryError, IndexError) as error:
        raise FormatError(f"the Matrix Market file cannot be read: {error}") from error
    if not scipy.sparse.issparse(X):
        return as_table(X, None, reading)
    X = scipy.sparse.csc_array(X)
    X.data = as_floats(X.data)
    kept = wanted(None, X.shape[1], reading.columns, reading.drop)
    return Table(X if kept == list(range(X.shape[1])) else X[:, kept])


def _check(rows: int, columns: int, entries: int, layout: str, field: str, limit: int) -> None:
    if rows < 1 or columns < 1:
        raise FormatError(f"the matrix must have rows and columns, got shape ({rows}, {columns})")
    if field == "complex":
        raise FormatError("Complex data not supported: the file holds complex numbers")
    index = np.dtype(np.int64).itemsize
    size = rows * columns * 8 if layout == "array" else entries * (8 + 2 * index) + (columns + 1) * index
    check_size(size, limit, "the matrix")
