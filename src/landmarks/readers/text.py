"""Tables as text: comma, semicolon, tab or bar between the cells; header, decimal comma and encoding are found.

Python's csv module splits the cells, so quoted commas and line breaks are read as they were meant. What is wrong is
named by its line and its column.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from ..errors import FormatError
from .limit import check_size
from .table import Table, wanted

if TYPE_CHECKING:
    from .read import Reading

DELIMITERS = (",", ";", "\t", "|")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "."})
SAMPLE = 50  # records that guesses are made from
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Record:
    """A row of cells and the line on which it begins."""

    line: int
    cells: list[str]


def read_text(file: BinaryIO, reading: Reading) -> Table:
    """The table of a text file."""
    raw = file.read()
    encoding, notes = _encoding(raw, reading.encoding)
    _refuse_binary(raw, encoding)
    delimiter = reading.delimiter or _delimiter(raw, encoding)
    sample = list(islice(_records(raw, encoding, delimiter), SAMPLE))
    if not sample:
        raise FormatError("the file is empty")
    decimal = reading.decimal or _decimal(sample, delimiter)
    header = _is_header(sample[0].cells, decimal) if reading.header is None else reading.header
    names = _names(sample[0].cells) if header else None
    n = len(sample[0].cells)
    kept = wanted(names, n, reading.columns, reading.drop)
    rows = _rows(
        islice(_records(raw, encoding, delimiter), 1 if header else 0, None),
        n,
        names,
        kept,
        decimal,
        reading.max_bytes,
    )
    values, lines = _collected(rows, len(kept))
    if len(lines) == 0:
        raise FormatError(f"the file has a header on line {sample[0].line} and no rows below it")
    table = Table(
        values, None if names is None else tuple(names[j] for j in kept), None, lines, notes
    )
    return _with_note_on_counts(table)


def _encoding(raw: bytes, asked: str | None) -> tuple[str, tuple[str, ...]]:
    if asked:
        _check_encoding(raw, asked)
        return asked, ()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        _check_encoding(raw, "utf-16")
        return "utf-16", ()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return "latin-1", (
            f"line {_line(raw, error.start)} is not UTF-8, so the file was read as Latin-1; --encoding says which it is",
        )
    return "utf-8-sig", ()


def _line(raw: bytes, place: int) -> int:
    return raw.count(b"\n", 0, place) + 1


def _check_encoding(raw: bytes, encoding: str) -> None:
    try:
        raw.decode(encoding)
    except LookupError as error:
        raise FormatError(
            f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252"
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"line {_line(raw, error.start)} is not {encoding}; name another with --encoding"
        ) from error


def _refuse_binary(raw: bytes, encoding: str) -> None:
    if encoding.replace("-", "").startswith("utf16"):
        return
    if (place := raw.find(b"\0")) >= 0:
        raise FormatError(
            f"the file is not text: line {_line(raw, place)} holds a zero byte; formats are told by the ending of the name"
        )
    strange = sum(raw[:4096].count(byte) for byte in range(1, 32) if byte not in b"\t\n\r\f\x1b")
    if strange > 0.05 * min(len(raw), 4096):
        raise FormatError(
            "the file is not text: line 1 is full of control characters; formats are told by the ending of the name"
        )


def _records(raw: bytes, encoding: str, delimiter: str) -> Iterator[Record]:
    """The records that are not empty lines."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    lines = csv.reader(
        io.TextIOWrapper(io.BytesIO(raw), encoding, newline=""),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    line = 1
    try:
        for cells in lines:
            if cells and (len(cells) > 1 or cells[0].strip()):
                yield Record(line, cells)
            line = lines.line_num + 1
    except csv.Error as error:
        raise FormatError(f"line {line}: {error}; check the quotes") from error


def _delimiter(raw: bytes, encoding: str) -> str:
    """The delimiter that splits the first records into the most cells, the same number in each if one does."""

    def worth(delimiter: str) -> tuple[bool, int]:
        counts: list[int] = []
        with suppress(FormatError):  # wrong quotes are told when the rows are read
            counts.extend(
                len(record.cells) for record in islice(_records(raw, encoding, delimiter), SAMPLE)
            )
        most = counts[0] if counts else 0
        return most > 1 and set(counts) == {most}, most

    return max(DELIMITERS, key=worth)


def _decimal(sample: list[Record], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell for record in sample for cell in record.cells]
    commas, points = (
        any(pattern.fullmatch(cell) for cell in cells)
        for pattern in (_DECIMAL_COMMA, _DECIMAL_POINT)
    )
    return "," if commas and not points else "."


def _is_header(cells: list[str], decimal: str) -> bool:
    """Whether a first row holds anything but numbers and missing values."""
    return any(_number(cell, decimal) is None for cell in cells)


def _names(cells: list[str]) -> list[str]:
    return [cell.strip() for cell in cells]


def _rows(
    records: Iterator[Record],
    n: int,
    names: list[str] | None,
    kept: list[int],
    decimal: str,
    limit: int,
) -> Iterator[tuple[int, list[float]]]:
    """The numbers of each record with its line; the first thing that is wrong is told."""
    for count, record in enumerate(records, 1):
        if len(record.cells) != n:
            raise FormatError(_ragged(record, n, names is not None))
        check_size(count * len(kept) * 8, limit, "the table")
        yield record.line, _numbers(record, kept, names, decimal)


def _ragged(record: Record, n: int, header: bool) -> str:
    found = len(record.cells)
    where = f"column {n + 1}" if found > n else f"column {found + 1}"
    first = "the header" if header else "the first row"
    return f"line {record.line}, {where}: the line has {found} cells, {first} has {n}; quote cells that hold the delimiter, or name it with --delimiter"


def _numbers(record: Record, kept: list[int], names: list[str] | None, decimal: str) -> list[float]:
    cells = [record.cells[j] for j in kept]
    if decimal == "." and not any("_" in cell for cell in cells):
        try:
            return [float(cell) for cell in cells]
        except ValueError:
            pass  # a missing value, or something that is told below
    numbers = []
    for j, cell in zip(kept, cells, strict=True):
        number = _number(cell, decimal)
        if number is None:
            raise FormatError(_not_a_number(record.line, j, names, cell, decimal))
        numbers.append(number)
    return numbers


def _number(cell: str, decimal: str) -> float | None:
    """The number in a cell, NaN for a missing one, None for anything else."""
    text = cell.strip()
    if text.lower() in MISSING:
        return np.nan
    if "_" in text or (decimal == "," and "." in text):
        return None
    try:
        return float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return None


def _not_a_number(line: int, j: int, names: list[str] | None, cell: str, decimal: str) -> str:
    column = f"column {j}" if names is None else f"column {names[j]!r}"
    hint = (
        "; the decimal sign was taken for a comma, change it with --decimal ."
        if decimal == "," and "." in cell
        else ""
    )
    which = str(j) if names is None or not names[j] or "," in names[j] else names[j]
    return f"line {line}, {column}: {cell[:40]!r} is not a number; leave the column out with --drop {which!r}{hint}"


def _collected(rows: Iterator[tuple[int, list[float]]], n: int) -> tuple[np.ndarray, np.ndarray]:
    values, lines = array("d"), array("q")
    for line, numbers in rows:
        lines.append(line)
        values.extend(numbers)
    return np.frombuffer(values, dtype=np.float64).reshape(-1, n) if len(lines) else np.empty(
        (0, n)
    ), np.array(lines, dtype=np.int64)


def _with_note_on_counts(table: Table) -> Table:
    """The table, with a note when its first column has no name and only counts the rows."""
    first = table.values[:, 0]
    if (
        table.names
        and table.names[0] == ""
        and len(first) > 1
        and np.array_equal(first, first[0] + np.arange(len(first)))
        and first[0] in (0, 1)
    ):
        note = "the first column has no name and only counts the rows; leave it out with --drop 0"
        return Table(table.values, table.names, table.rows, table.lines, (*table.notes, note))
    return table
