"""Readers of the published files: each takes the bytes of one download and returns X and names."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

Columns = tuple[np.ndarray, tuple[str, ...]]
Reader = Callable[[bytes], Columns]
LIMIT = 256 * 2**20  # bytes that one member of an archive may unpack to
IMAGES = 0x00000803  # the magic number of an idx file of bytes in three dimensions


def member(content: bytes, suffix: str) -> bytes:
    """The member of a zip archive with that ending, or the content itself if it is not a zip."""
    if not zipfile.is_zipfile(io.BytesIO(content)) or _is_workbook(content):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = [entry for entry in archive.infolist() if entry.filename.endswith(suffix)]
        if not found:
            raise ValueError(
                f"the archive holds no file that ends in {suffix}, but "
                f"{', '.join(archive.namelist()) or 'nothing'}"
            )
        if found[0].file_size > LIMIT:
            raise ValueError(
                f"{found[0].filename} would unpack to {found[0].file_size} bytes, more than the "
                f"limit of {LIMIT}"
            )
        return archive.read(found[0])


def workbook(columns: int | None = None) -> Reader:
    """Reads the first sheet of an xlsx file; the names are in the row above the first numbers."""

    def read(content: bytes) -> Columns:
        rows = [list(row) for row in _sheet(member(content, ".xlsx"))]
        first = next(
            (i for i, row in enumerate(rows) if all(isinstance(cell, int | float) for cell in row)),
            None,
        )
        if first is None or first == 0:
            raise ValueError("the workbook has no row of numbers below a row of names")
        numbers = [row for row in rows[first:] if any(cell is not None for cell in row)]
        names = tuple(str(name) for name in rows[first - 1][:columns])
        return np.array(numbers, dtype=np.float64)[:, :columns], names

    return read


def separated(
    suffix: str,
    *,
    delimiter: str | None = ",",
    names: bool = False,
    columns: slice = slice(None),
    labels: Sequence[str] = (),
) -> Reader:
    """Reads text: a row per line, cells by the delimiter or by blanks, ? or NaN for missing ones.

    names : whether the first line holds the names of the columns.
    """

    def read(content: bytes) -> Columns:
        lines = member(content, suffix).decode("utf-8-sig").splitlines()
        header = lines.pop(0).split(delimiter) if names else []
        if not lines:
            raise ValueError("the file has no rows")
        X = np.genfromtxt(lines, delimiter=delimiter, ndmin=2)[:, columns]
        return X, tuple(header[columns] or labels or (str(j) for j in range(X.shape[1])))

    return read


def images(first: int) -> Reader:
    """Reads the first images of an idx file, gzipped or not, one row of pixels each."""

    def read(content: bytes) -> Columns:
        content = _unpacked(content) if content[:2] == b"\x1f\x8b" else content
        if len(content) < 16:
            raise ValueError(f"an idx file of images begins with 16 bytes, got {len(content)}")
        magic, count, height, width = struct.unpack(">4I", content[:16])
        if magic != IMAGES or len(content) != 16 + count * height * width:
            raise ValueError(
                f"not an idx file of images, or not all of one: {len(content)} bytes for {count} "
                f"images of {height} × {width}"
            )
        pixels = np.frombuffer(content, dtype=np.uint8, offset=16).reshape(count, height * width)
        names = tuple(f"row {j // width}, column {j % width}" for j in range(height * width))
        return pixels[:first].astype(np.float64), names

    return read


def _unpacked(content: bytes) -> bytes:
    """The content of a gzip file, if it is complete and not larger than the limit."""
    stream = zlib.decompressobj(wbits=31)
    try:
        unpacked = stream.decompress(content, LIMIT)
    except zlib.error as error:
        raise ValueError(f"the gzip file is damaged ({error})") from error
    if not stream.eof:
        raise ValueError(
            f"the gzip file broke off after {len(unpacked)} bytes, or is larger than the limit of "
            f"{LIMIT}"
        )
    return unpacked


def _is_workbook(content: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "[Content_Types].xml" in archive.namelist()


def _sheet(content: bytes) -> Iterable[tuple[object, ...]]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise ImportError(
            "this data set is published as a workbook, which openpyxl reads: pip install openpyxl"
        ) from error
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    try:
        return list(book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()
