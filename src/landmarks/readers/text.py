"""Tables as text: comma, semicolon, tab or bar between the cells.

Header, decimal comma and encoding are detected. Python's csv module splits the cells, so quoted
commas and line breaks are read correctly. Errors name the line and the column.
"""

import csv
import io
import re
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

import numpy as np

from ..errors import FormatError
from .limit import check_size, encoding_of, refuse_binary
from .table import NUMERIC_ONLY, FileTable, Reading, noticed, set_aside, wanted, without_text

DELIMITERS = (",", ";", "\t", "|")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "."})
TRUTH = {"true": 1.0, "false": 0.0}
SAMPLE = 50  # records used to detect the layout
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Record:
    """A row of cells and the line on which it begins."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Layout:
    """How a text is laid out, detected from its first records or given by the user."""

    records: Callable[[], Iterator[Record]]
    decimal: str
    names: list[str] | None
    n: int

    def body(self) -> Iterator[Record]:
        """The records below the header."""
        return islice(self.records(), 0 if self.names is None else 1, None)


def read_text(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of a text file."""
    raw = file.read()
    encoding, notes = encoding_of(raw, reading.encoding)
    refuse_binary(raw, encoding)
    delimiter = reading.delimiter or _delimiter(raw, encoding)
    sample = list(islice(_records(raw, encoding, delimiter), SAMPLE))
    if not sample:
        raise FormatError("the file is empty")
    decimal = reading.decimal or _decimal(sample, delimiter)
    return table_of(lambda: _records(raw, encoding, delimiter), decimal, reading, notes)


def table_of(
    records: Callable[[], Iterator[Record]],
    decimal: str,
    reading: Reading,
    notes: tuple[str, ...] = (),
) -> FileTable:
    """The table of records, of which the first may hold the names."""
    first = next(records())
    header = reading.header
    if header is None:  # names are anything but numbers and missing values
        header = any(_number(cell, decimal) is None for cell in first.cells)
    names = [cell.strip() for cell in first.cells] if header else None
    layout = Layout(records, decimal, names, len(first.cells))
    kept = wanted(names, layout.n, reading)
    try:
        values, lines, texts = _collected(layout, kept, reading)
    except NotANumber as found:
        kept, note = _without_text(layout, kept, found, reading)
        notes = (*notes, note)
        values, lines, texts = _collected(layout, kept, reading)
    if len(lines) == 0:
        raise FormatError(f"the file has a header on line {first.line} and no rows below it")
    named = None if names is None else tuple(names[j] for j in kept)
    places = None if len(kept) == layout.n else tuple(kept)
    return noticed(FileTable(values, named, None, lines, notes, texts, places))


class NotANumber(FormatError):
    """A cell holds anything but a number."""


def _without_text(
    layout: Layout, kept: list[int], found: NotANumber, reading: Reading
) -> tuple[list[int], str]:
    """The columns that hold numbers and a note on the others, or an error that names them all."""
    others: dict[int, str] = {}
    for record in layout.body():
        if len(record.cells) != layout.n:
            raise found
        for j in kept:
            cell = record.cells[j]
            if j not in others and _number(cell, layout.decimal) is None:
                others[j] = f"line {record.line}: {cell[:40]!r}"
    if len(others) == 1 and not reading.numeric_only:
        raise found
    return without_text(kept, dict(sorted(others.items())), layout.names, reading.numeric_only)


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
    """The delimiter that splits the first records into the most cells, equally many in each."""

    def worth(delimiter: str) -> tuple[bool, int]:
        counts: list[int] = []
        with suppress(FormatError):  # wrong quotes are reported when the rows are read
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
    commas = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    points = any(_DECIMAL_POINT.fullmatch(cell) for cell in cells)
    return "," if commas and not points else "."


def _collected(
    layout: Layout, kept: list[int], reading: Reading
) -> tuple[np.ndarray, np.ndarray, dict[str, tuple[str, ...]]]:
    """The numbers, the line of each row, and the cells of the columns that are kept as text."""
    values, lines = array("d"), array("q")
    places = set_aside(layout.names, layout.n, reading)
    texts: dict[str, list[str]] = {name: [] for name in places}
    for record in layout.body():
        if len(record.cells) != layout.n:
            raise FormatError(_ragged(record, layout.n, layout.names is not None))
        lines.append(record.line)
        check_size(len(lines) * len(kept) * 8, reading.max_bytes, "the table")
        values.extend(_numbers(record, kept, layout.names, layout.decimal))
        for name, j in places.items():
            texts[name].append(record.cells[j].strip())
    numbers = np.frombuffer(values, dtype=np.float64) if len(lines) else np.empty(0)
    found = {name: tuple(cells) for name, cells in texts.items()}
    return numbers.reshape(-1, len(kept)), np.array(lines, dtype=np.int64), found


def _ragged(record: Record, n: int, header: bool) -> str:
    found = len(record.cells)
    where = f"column {n + 1}" if found > n else f"column {found + 1}"
    first = "the header" if header else "the first row"
    return (
        f"line {record.line}, {where}: the line has {found} cells, {first} has {n}; "
        "quote cells that hold the delimiter, or name it with --delimiter"
    )


def _numbers(record: Record, kept: list[int], names: list[str] | None, decimal: str) -> list[float]:
    cells = [record.cells[j] for j in kept]
    if decimal == "." and not any("_" in cell for cell in cells):
        try:
            return [float(cell) for cell in cells]
        except ValueError:
            pass  # a missing value, or something that is reported below
    numbers = []
    for j, cell in zip(kept, cells, strict=True):
        number = _number(cell, decimal)
        if number is None:
            raise NotANumber(_not_a_number(record.line, j, names, cell, decimal))
        numbers.append(number)
    return numbers


def _number(cell: str, decimal: str) -> float | None:
    """The number in a cell, NaN for a missing one, None for anything else."""
    text = cell.strip()
    if text.lower() in MISSING:
        return np.nan
    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
    if "_" in text or (decimal == "," and "." in text):
        return None
    try:
        return float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return None


def _not_a_number(line: int, j: int, names: list[str] | None, cell: str, decimal: str) -> str:
    column = f"column {j}" if names is None else f"column {names[j]!r}"
    hint = ""
    if decimal == "," and "." in cell:
        hint = "; the decimal sign was taken for a comma, change it with --decimal ."
    which = str(j) if names is None or not names[j] or "," in names[j] else names[j]
    return (
        f"line {line}, {column}: {cell[:40]!r} is not a number; leave the column out with "
        f"--drop {which!r}, or with {NUMERIC_ONLY}{hint}"
    )
