"""Sheets of Excel workbooks (xlsx), by openpyxl; sizes are checked before unpacking."""

import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import openpyxl

from ..errors import FormatError, suggestion
from .limit import as_format_error, check_size
from .table import FileTable, Reading
from .text import Record, table_of


def read_sheet(file: BinaryIO, reading: Reading) -> FileTable:
    """The table of the first sheet of a workbook, or of the one that is named."""
    with as_format_error("the workbook cannot be read"):
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
        check_size(size, reading.max_bytes, "the unpacked workbook")
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        records = list(_records(_sheet(book, reading.array)))
    if not records:
        raise FormatError("the sheet is empty")
    width = max(len(record.cells) for record in records)
    full = [Record(r.line, r.cells + [""] * (width - len(r.cells))) for r in records]
    return table_of(lambda: iter(full), ".", reading)


def _sheet(book: Any, name: str | None) -> Any:
    if name is None:
        return book.worksheets[0]
    if name not in book.sheetnames:
        close = suggestion(name, book.sheetnames) or f"; it has {', '.join(book.sheetnames[:8])}"
        raise FormatError(f"the workbook has no sheet {name!r}{close}")
    return book[name]


def _records(sheet: Any) -> Iterator[Record]:
    """The rows that hold anything, without the empty cells at their ends."""
    for line, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = ["" if value is None else str(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield Record(line, cells)
