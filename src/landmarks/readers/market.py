"""Matrix Market files, dense or of coordinates; coordinates stay sparse.

SciPy's reader is not used, because damaged files can crash the process there. Format: Boisvert,
Pozo and Remington, NISTIR 5935 (1996).
"""

import io
import warnings
from typing import BinaryIO, NamedTuple

import numpy as np
import scipy.sparse

from ..errors import FormatError
from .arrays import as_table
from .table import FileTable, Reading, as_format_error, check_bytes

BELOW = {"symmetric": 0, "skew-symmetric": 1}  # from which diagonal on the lower triangle is stored


class Header(NamedTuple):
    """What the banner and the line of sizes say.

    lines : how many lines of numbers there are, and body the first of them.
    """

    dense: bool
    field: str
    symmetry: str
    shape: tuple[int, int]
    lines: int
    body: int


def read_market(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of a Matrix Market file."""
    try:
        text = io.TextIOWrapper(io.BytesIO(file.read()), "utf-8", newline=None)
        header = _header(text, reading.max_bytes)
        numbers = _numbers(text, header)
    except UnicodeDecodeError as error:
        raise FormatError("the Matrix Market file is not text") from error
    (m, n), symmetry = header.shape, header.symmetry
    if not header.dense:
        rows, columns = _places(numbers, header).T
    elif symmetry == "general":
        rows, columns = np.unravel_index(np.arange(m * n), (m, n), order="F")
    else:
        columns, rows = np.triu_indices(n, BELOW[symmetry])
    values = np.ones(len(numbers)) if header.field == "pattern" else numbers[:, -1]
    if symmetry != "general":
        off = rows != columns
        mirrored = -values[off] if symmetry == "skew-symmetric" else values[off]
        values = np.concatenate([values, mirrored])
        rows, columns = np.append(rows, columns[off]), np.append(columns, rows[off])
    X = scipy.sparse.csc_array((values, (rows, columns)), shape=header.shape)
    return as_table(X.toarray() if header.dense else X, None, reading)


def _header(text: io.TextIOWrapper, limit: int) -> Header:
    banner = text.readline(200).lower().split()
    if len(banner) != 5 or banner[1] != "matrix" or banner[2] not in ("array", "coordinate"):
        raise FormatError(
            "line 1: the banner must be '%%MatrixMarket matrix array|coordinate FIELD SYMMETRY'"
        )
    _, _, layout, field, symmetry = banner
    dense = layout == "array"
    if field == "complex" or symmetry == "hermitian":
        raise FormatError("Complex data not supported: the file holds complex numbers")
    fields = ("real", "integer") if dense else ("real", "integer", "pattern")
    if field not in fields or symmetry not in ("general", *BELOW):
        raise FormatError(f"line 1: a {layout} matrix cannot be {field} {symmetry}")
    numbered = enumerate(map(str.split, iter(text.readline, "")), 2)
    line, words = next(((i, w) for i, w in numbered if w and not w[0].startswith("%")), (0, []))
    if not words:
        raise FormatError("the Matrix Market file ends before its sizes")
    wanted = "ROWS COLUMNS" if dense else "ROWS COLUMNS ENTRIES"
    sizes = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 19]
    if len(sizes) != len(words) or len(words) != len(wanted.split()):
        raise FormatError(f"line {line}: the sizes must be {wanted}")
    m, n, entries = (*sizes, sizes[0] * sizes[1])[:3]
    if m < 1 or n < 1:
        raise FormatError(f"the matrix must have rows and columns, got shape ({m}, {n})")
    if symmetry != "general" and m != n:
        raise FormatError(f"a {symmetry} matrix must be square, got shape ({m}, {n})")
    check_bytes(entries * 24 + (n + 1) * 8, limit, "the matrix")
    if dense and symmetry != "general":
        entries = n * (n + 1 - 2 * BELOW[symmetry]) // 2
    return Header(dense, field, symmetry, (m, n), entries, line + 1)


def _numbers(text: io.TextIOWrapper, header: Header) -> np.ndarray:
    """A row of numbers for each line; their number and width must be as the header says."""
    width = 1 if header.dense else 2 + (header.field != "pattern")
    expected = header.lines
    unread = f"the numbers from line {header.body} on cannot be read"
    with as_format_error(unread), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no numbers at all: an error below
        numbers = np.loadtxt(text, comments="%", ndmin=2, max_rows=expected + 1)
    if len(numbers) != expected or (expected and numbers.shape[1] != width):
        raise FormatError(
            f"{expected} lines of {width} numbers were expected from line {header.body} on, got an "
            f"array of {numbers.shape}"
        )
    return numbers.reshape(expected, width)


def _places(numbers: np.ndarray, header: Header) -> np.ndarray:
    """The row and the column of each entry, from 0."""
    places, (m, n) = numbers[:, :2], header.shape
    fractional = np.any(places != np.rint(places))
    if fractional or np.any(places < 1) or np.any(places > (m, n)):
        raise FormatError(f"a coordinate lies outside of the {m} × {n} matrix")
    return places.astype(np.int64) - 1
