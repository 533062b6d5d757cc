"""Matrix Market files, dense or of coordinates; coordinates stay sparse.

SciPy's reader is not used, because damaged files can crash the process there. Format: Boisvert,
Pozo and Remington, NISTIR 5935 (1996).
"""

import io
import warnings
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import scipy.sparse

from ..errors import FormatError
from .arrays import as_table, columns_of
from .table import FileTable, Reading, as_format_error, check_bytes

LAYOUTS = ("array", "coordinate")
FIELDS = ("real", "integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


@dataclass(frozen=True)
class Header:
    """What the banner and the line of sizes say; body is the line on which the numbers begin."""

    layout: str
    field: str
    symmetry: str
    rows: int
    columns: int
    entries: int
    body: int


def read_market(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of a Matrix Market file."""
    try:
        text = io.TextIOWrapper(io.BytesIO(file.read()), "utf-8", newline=None)
        header = _header(text)
        _check(header, reading.max_bytes)
        numbers = _numbers(text, header)
    except UnicodeDecodeError as error:
        raise FormatError("the Matrix Market file is not text") from error
    if header.layout == "array":
        return as_table(_dense(numbers, header), None, reading)
    return columns_of(_sparse(numbers, header), None, reading)


def _header(text: io.TextIOWrapper) -> Header:
    banner = text.readline(200).lower().split()
    if len(banner) != 5 or banner[1] != "matrix" or banner[2] not in LAYOUTS:
        raise FormatError(
            "line 1: the banner must be '%%MatrixMarket matrix array|coordinate FIELD SYMMETRY'"
        )
    _, _, layout, field, symmetry = banner
    if field == "complex" or symmetry == "hermitian":
        raise FormatError("Complex data not supported: the file holds complex numbers")
    if (
        field not in FIELDS
        or symmetry not in SYMMETRIES
        or (layout == "array" and field == "pattern")
    ):
        raise FormatError(f"line 1: a {layout} matrix cannot be {field} {symmetry}")
    for line, words in enumerate(map(str.split, iter(text.readline, "")), 2):
        if words and not words[0].startswith("%"):
            return Header(layout, field, symmetry, *_sizes(words, layout, line), body=line + 1)
    raise FormatError("the Matrix Market file ends before its sizes")


def _sizes(words: list[str], layout: str, line: int) -> tuple[int, int, int]:
    if len(words) != (2 if layout == "array" else 3) or not all(
        word.isascii() and word.isdigit() and len(word) < 19 for word in words
    ):
        raise FormatError(
            f"line {line}: the sizes must be "
            f"{'ROWS COLUMNS' if layout == 'array' else 'ROWS COLUMNS ENTRIES'}"
        )
    rows, columns, *entries = map(int, words)
    return rows, columns, entries[0] if entries else rows * columns


def _check(header: Header, limit: int) -> None:
    if header.rows < 1 or header.columns < 1:
        raise FormatError(
            f"the matrix must have rows and columns, got shape ({header.rows}, {header.columns})"
        )
    if header.symmetry != "general" and header.rows != header.columns:
        raise FormatError(
            f"a {header.symmetry} matrix must be square, got shape ({header.rows}, "
            f"{header.columns})"
        )
    if header.layout == "array":
        size = header.entries * 8
    else:
        size = header.entries * 24 + (header.columns + 1) * 8
    check_bytes(size, limit, "the matrix")


def _numbers(text: io.TextIOWrapper, header: Header) -> np.ndarray:
    """A row of numbers for each line; their number and width must be as the header says."""
    width = 1
    if header.layout == "coordinate":
        width = 2 if header.field == "pattern" else 3
    expected = header.entries if header.layout == "coordinate" else _stored(header)
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


def _stored(header: Header) -> int:
    """How many numbers a dense matrix stores: of a symmetric one the lower triangle."""
    n = header.rows
    return {
        "general": header.entries,
        "symmetric": n * (n + 1) // 2,
        "skew-symmetric": n * (n - 1) // 2,
    }[header.symmetry]


def _dense(numbers: np.ndarray, header: Header) -> np.ndarray:
    if header.symmetry == "general":
        return numbers.reshape(header.rows, header.columns, order="F")
    X = np.zeros((header.rows, header.rows))
    columns, rows = np.triu_indices(header.rows, k=0 if header.symmetry == "symmetric" else 1)
    X[rows, columns] = numbers[:, 0]
    return _mirrored(X, header)


def _sparse(numbers: np.ndarray, header: Header) -> scipy.sparse.csc_array:
    places = numbers[:, :2]
    fractional = np.any(places != np.rint(places))
    if fractional or np.any(places < 1) or np.any(places > (header.rows, header.columns)):
        raise FormatError(
            f"a coordinate lies outside of the {header.rows} × {header.columns} matrix"
        )
    rows, columns = (places.astype(np.int64) - 1).T
    values = np.ones(len(numbers)) if header.field == "pattern" else numbers[:, 2]
    shape = (header.rows, header.columns)
    X = scipy.sparse.csc_array((values, (rows, columns)), shape=shape)
    return scipy.sparse.csc_array(_mirrored(X, header))


def _mirrored(
    X: np.ndarray | scipy.sparse.csc_array, header: Header
) -> np.ndarray | scipy.sparse.csc_array:
    """The full matrix from its lower triangle."""
    if header.symmetry == "general":
        return X
    if header.symmetry == "skew-symmetric":
        return X - X.T
    if isinstance(X, np.ndarray):
        return X + X.T - np.diag(np.diag(X))
    return X + X.T - scipy.sparse.diags_array(X.diagonal())
