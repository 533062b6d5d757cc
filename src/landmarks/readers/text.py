"""Tables as text, and sheets of Excel workbooks, which are read as text.

Delimiter (comma, semicolon, tab or bar), header, decimal comma and encoding are detected. Python's
csv module splits the cells, so quoted commas and line breaks are read correctly; openpyxl reads
workbooks. Errors name the line and the column.
"""

import csv
import io
import re
import sys
import zipfile
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..errors import FormatError, suggestion
from .frames import Cells, Notation, odd_sentence
from .table import (
    FileTable,
    Reading,
    as_format_error,
    check_bytes,
    table_of,
    wanted,
    without_text,
)

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 50  # records used to detect the layout
_COMMA = re.compile(r"\s*[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?\s*")
_POINT = re.compile(r"\s*[-+]?(\d*|\d{1,3}(,\d{3})+)\.\d+([eE][-+]?\d+)?\s*")


class Record(NamedTuple):
    """A row of cells and the line on which it begins."""

    line: int
    cells: list[str]


class Layout(NamedTuple):
    """How a text is laid out, detected from its first records or given by the user."""

    records: Callable[[], Iterator[Record]]
    notation: Notation
    names: list[str] | None
    n: int

    def body(self) -> Iterator[Record]:
        """The records below the header, which must be as wide as the first."""
        for record in islice(self.records(), 0 if self.names is None else 1, None):
            if (found := len(record.cells)) != self.n:
                first = "the first row" if self.names is None else "the header"
                raise FormatError(
                    f"line {record.line}, column {min(found, self.n) + 1}: the line has {found} "
                    f"cells, {first} has {self.n}; quote cells that hold the delimiter, or name it "
                    "with --delimiter"
                )
            yield record


def read_text(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of a text file."""
    raw = file.read()
    encoding, notes = _encoding(raw, reading.encoding)
    _refuse_binary(raw, encoding)
    delimiter = reading.delimiter or _delimiter(raw, encoding)
    sample = list(islice(_records(raw, encoding, delimiter), SAMPLE))
    if not sample:
        raise FormatError("the file is empty")
    return _table(lambda: _records(raw, encoding, delimiter), sample, reading, delimiter, notes)


def _encoding(raw: bytes, asked: str | None) -> tuple[str, tuple[str, ...]]:
    """The encoding: the given one, UTF-16 by mark or zeros, UTF-8, else Latin-1 with a note."""
    encoding = asked or "utf-8-sig"
    if not asked and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    for name, letters, zeros in (("utf-16-le", 0, 1), ("utf-16-be", 1, 0)):
        text = len(raw) > 3 and min(raw[letters:64:2]) >= ord("\t")
        if not asked and text and not any(raw[zeros:64:2]):
            encoding = name
    try:
        raw.decode(encoding)
    except LookupError as error:
        raise FormatError(
            f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252"
        ) from error
    except UnicodeDecodeError as error:
        line = _line(raw, error.start)
        if encoding != "utf-8-sig":
            raise FormatError(
                f"line {line} is not {encoding}; name another with --encoding"
            ) from error
        return "latin-1", (
            f"line {line} is not UTF-8, so the file was read as Latin-1; give another with "
            "--encoding",
        )
    return encoding, ()


def _line(raw: bytes, place: int) -> int:
    return raw.count(b"\n", 0, place) + 1


def _refuse_binary(raw: bytes, encoding: str) -> None:
    if encoding.replace("-", "").startswith("utf16"):
        return
    strange = sum(raw[:4096].count(byte) for byte in range(1, 32) if byte not in b"\t\n\r\f\x1b")
    if (place := raw.find(b"\0")) >= 0:
        found = f"line {_line(raw, place)} holds a zero byte"
    elif strange > 0.05 * min(len(raw), 4096):
        found = "line 1 is full of control characters"
    else:
        return
    raise FormatError(
        f"the file is not text: {found}; other formats are recognised by the ending of the name"
    )


def read_sheet(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of the first sheet of a workbook, or of the one that is named."""
    import openpyxl

    with as_format_error("the workbook cannot be read"):
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
        check_bytes(size, reading.max_bytes, "the unpacked workbook")
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        name = book.worksheets[0].title if reading.array is None else reading.array
        if name not in book.sheetnames:
            listed = f"; it has {', '.join(book.sheetnames[:8])}"
            close = suggestion(name, book.sheetnames) or listed
            raise FormatError(f"the workbook has no sheet {name!r}{close}")
        records = []
        for line, row in enumerate(book[name].iter_rows(values_only=True), 1):
            cells = ["" if value is None else str(value) for value in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                records.append(Record(line, cells))
    if not records:
        raise FormatError("the sheet is empty")
    width = max(len(record.cells) for record in records)
    for record in records:
        record.cells.extend([""] * (width - len(record.cells)))
    return _table(lambda: iter(records), records[:SAMPLE], reading, ",", ())


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
            sample = islice(_records(raw, encoding, delimiter), SAMPLE)
            counts.extend(len(record.cells) for record in sample)
        most = counts[0] if counts else 0
        return most > 1 and set(counts) == {most}, most

    return max(DELIMITERS, key=worth)


def _decimal(sample: list[Record], reading: Reading, delimiter: str) -> str:
    if reading.decimal is not None:
        return reading.decimal
    if reading.thousands in (",", "."):
        return {",": ".", ".": ","}[reading.thousands]
    if delimiter == ",":
        return "."
    cells = [cell for record in sample for cell in record.cells]
    commas, points = (any(map(sign.fullmatch, cells)) for sign in (_COMMA, _POINT))
    return "," if commas and not points else "."


def _table(
    records: Callable[[], Iterator[Record]],
    sample: list[Record],
    reading: Reading,
    delimiter: str,
    notes: tuple[str, ...],
) -> FileTable:
    """The table of records, of which the first may hold the names."""
    first, notation = sample[0], reading.notation(_decimal(sample, reading, delimiter))
    header = reading.header
    if header is None:  # names are anything but numbers and missing values
        header = any(notation.number(cell) is None for cell in first.cells)
        if not header and _counts(first.cells):
            header = True
            note = f"line {first.line} counts the columns and was read as their names"
            notes = (*notes, f"{note}; --header no reads it as numbers")
    names = [cell.strip() for cell in first.cells] if header else None
    layout = Layout(records, notation, names, len(first.cells))
    kept, aside = wanted(names, layout.n, reading)
    if reading.thousands is None and reading.decimal is None:
        notes += _perhaps_thousands(sample[bool(header) :], kept, notation.decimal)
    if (collected := _collected(layout, kept, aside, reading.max_bytes)) is None:
        kept, note = _numbers_only(layout, kept, reading)
        notes = (*notes, note)
        collected = _collected(layout, kept, aside, reading.max_bytes)
    values, lines, texts = collected  # type: ignore[misc]  # the others are left out
    if len(lines) == 0:
        raise FormatError(f"the file has a header on line {first.line} and no rows below it")
    return table_of(values, names, kept, layout.n, lines=lines, notes=notes, aside=texts)


def _perhaps_thousands(sample: list[Record], kept: list[int], sign: str) -> tuple[str, ...]:
    """A note where the sign of decimals may stand between thousands, as in 987, 1.015 and 2.331.

    That is where all numbers with the sign have three digits after it, and none before it is zero,
    while others of the same columns have at most three digits and no sign.
    """
    columns = [
        [record.cells[j].strip() for record in sample if j < len(record.cells)] for j in kept
    ]
    signed = [[cell for cell in column if sign in cell] for column in columns]
    grouped = re.compile(rf"[-+]?[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}")
    shown = [cell for cells in signed for cell in cells if any(map(str.isdigit, cell))]
    short = [
        cell
        for column, cells in zip(columns, signed, strict=True)
        for cell in column
        if cells and re.fullmatch(r"[-+]?\d+", cell)
    ]
    if len(shown) < 5 or not short or not all(map(grouped.fullmatch, shown)):
        return ()
    if any(len(cell.lstrip("+-")) > 3 for cell in short):
        return ()
    return (
        f"{shown[0]!r} was read as a number with decimals; if thousands are written so, as "
        f"{short[0]!r} without {sign!r} suggests, give --thousands {sign!r}, in Python "
        f"lm.data(path, thousands={sign!r}); --decimal {sign!r} confirms the decimals",
    )


def _counts(cells: list[str]) -> bool:
    """Whether these are 0, 1, 2, … or 1, 2, 3, …: names that pandas and R give to columns."""
    counted = cells[1:] if cells[0].strip() == "" else cells  # the names of the rows have none
    return len(counted) > 2 and any(
        counted == [str(j + start) for j in range(len(counted))] for start in (0, 1)
    )


def _collected(
    layout: Layout, kept: list[int], aside: dict[str, int], limit: int
) -> tuple[np.ndarray, np.ndarray, dict[str, tuple[str, ...]]] | None:
    """The numbers, the line of each row, and the cells of the columns that are kept as text.

    None where a cell is no number.
    """
    values, lines = array("d"), array("q")
    texts: dict[str, list[str]] = {name: [] for name in aside}
    for record in layout.body():
        lines.append(record.line)
        check_bytes(len(lines) * len(kept) * 8, limit, "the table")
        numbers = _numbers(record, kept, layout.notation)
        if None in numbers:
            return None
        values.extend(numbers)
        for name, j in aside.items():
            texts[name].append(record.cells[j].strip())
    found = np.frombuffer(values, dtype=np.float64) if len(lines) else np.empty(0)
    cells = {name: tuple(column) for name, column in texts.items()}
    return found.reshape(-1, len(kept)), np.array(lines, dtype=np.int64), cells


def _numbers(record: Record, kept: list[int], notation: Notation) -> list[Any]:
    """The numbers in some cells, None for anything else."""
    cells = [record.cells[j] for j in kept]
    if notation.plain and not any("_" in cell for cell in cells):
        with suppress(ValueError):  # a missing value, or something that is reported below
            return [float(cell) for cell in cells]
    return [notation.number(cell) for cell in cells]


def _numbers_only(layout: Layout, kept: list[int], reading: Reading) -> tuple[list[int], str]:
    """The columns that hold numbers and a note on the others; else an error that names them."""
    columns, names = {j: Cells(layout.notation) for j in kept}, layout.names
    for record in layout.body():
        for j, cells in columns.items():
            cells.add(f"line {record.line}", record.cells[j])
    odd = [
        (str(j) if names is None else repr(names[j][:60]), cells)
        for j, cells in columns.items()
        if cells.odds and cells.mostly_numbers
    ]
    if odd:
        fine = [cells for cells in columns.values() if not cells.odds]
        raise FormatError(odd_sentence(odd, of_file=True, fine=fine))
    shown = {j: cells.first for j, cells in columns.items() if cells.odds}
    return without_text(kept, shown, names, reading.numeric_only)
