"""Read a table from a file, whatever its format: how, within which limits, and what is returned.

`read` knows the format by the ending of the name or by the first bytes. Files that are too large,
damaged, or not text are refused before they do harm. `FileTable` has the numbers, the names of the
columns, and their places in the file; a note warns about columns that only number or identify the
rows, which should not be chosen.
"""

import gzip
import io
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import FormatError, UnknownColumnError, named, suggestion
from .frames import NUMERIC_ONLY, Notation, without

MAX_BYTES = 2**30
IDENTIFIER = re.compile(
    r"(?i:id|index|key|uid|row|row_?(?:number|nr|no)|.*[_ ]id|id[_ ].*)|.*[a-z]ID"
)
MANY = 10  # with fewer rows, values may increase by one by chance
# for each format the module and the function that read it, and how names of such files end
FORMATS = {
    "csv": ("text", "read_text", (".csv", ".txt")),
    "tsv": ("text", "read_text", (".tsv", ".tab")),
    "npy": ("arrays", "read_npy", (".npy",)),
    "npz": ("arrays", "read_npz", (".npz",)),
    "mtx": ("market", "read_market", (".mtx",)),
    "parquet": ("columnar", "read_parquet", (".parquet", ".pq")),
    "arrow": ("columnar", "read_arrow", (".arrow", ".feather", ".ipc")),
    "xlsx": ("text", "read_sheet", (".xlsx", ".xlsm")),
    "h5": ("arrays", "read_h5", (".h5", ".hdf5", ".he5", ".h5ad")),
    "zarr": ("arrays", "read_zarr", (".zarr",)),
}
IN_BLOCKS = ("npy", "parquet", "arrow", "h5", "zarr")  # rows can be read a block at a time
ENDINGS = {ending: name for name, (_, _, endings) in FORMATS.items() for ending in endings}
MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"%%MatrixMarket": "mtx",
    b"\x89HDF\r\n\x1a\n": "h5",
}


def check_bytes(size: int, limit: float, what: str) -> None:
    """Raise if something would take more memory than the limit."""
    if size > limit:
        raise FormatError(
            f"{what} takes {with_unit(size)}, more than the limit of {with_unit(limit)}; raise it "
            "with --max-bytes if you trust the file"
        )


def read_within(file: BinaryIO, limit: int, what: str) -> bytes:
    """All bytes of a stream that may be endless, or packed small: reading stops at the limit."""
    parts, size = [], 0
    while part := file.read(min(2**20, limit + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise FormatError(
                f"{what} is larger than the limit of {with_unit(limit)}; raise it with --max-bytes "
                "if you trust it"
            )
    return b"".join(parts)


def with_unit(size: float) -> str:
    """A size in bytes with a unit."""
    for unit, factor in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


@contextmanager
def as_format_error(sentence: str) -> Iterator[None]:
    """Raise a FormatError that begins with the sentence for anything that goes wrong inside.

    Damaged bytes make the libraries that read them raise errors of almost every class.
    """
    try:
        yield
    except (FormatError, ImportError):
        raise
    except Exception as error:
        raise FormatError(f"{sentence}: {error}") from error


@dataclass(frozen=True)
class Reading:
    """How to read.

    columns, drop : names or numbers of columns to read, or to leave out.
    max_bytes : files that would take more memory are refused.
    in_blocks : a matrix of more bytes stays in the file, if rows can be read from there in blocks;
        None reads all of it.
    header, delimiter, decimal, encoding : of text; None detects them.
    thousands : the sign between thousands in a text; None for no sign.
    na_values : what stands for a missing value in a text, besides the usual words such as NA.
    array : which array of an npz, a Zarr group or an HDF5 file, or which sheet of a workbook; None
        is the only one, or X, or the first sheet.
    numeric_only : leave out columns that hold no numbers, with a note, instead of refusing them.
    aside : names of columns to keep as text, which are not candidates: identifiers, a target.

    One name or value may stand for a list of one.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    in_blocks: int | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    na_values: tuple[str, ...] = ()
    encoding: str | None = None
    array: str | None = None
    numeric_only: bool = False
    aside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("columns", "drop", "na_values", "aside"):
            given = getattr(self, name)
            several = (
                given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
            )
            object.__setattr__(self, name, tuple(map(str, several)))
        for sign in (self.decimal, self.thousands):
            if sign is not None and (len(sign) != 1 or sign.isalnum()):
                raise FormatError(f"a sign within numbers is one character, got {sign!r}")
        if self.thousands is not None and self.thousands == self.decimal:
            raise FormatError(f"thousands and decimals cannot both have the sign {self.decimal!r}")

    def notation(self, decimal: str) -> Notation:
        """How numbers are written, where the decimal sign is known."""
        return Notation(decimal, self.thousands, self.na_values)

    def stays(self, size: int) -> bool:
        """Whether a matrix of that many bytes stays in its file, where nothing is changed."""
        whole = self.aside or self.na_values or not self.notation(self.decimal or ".").plain
        return self.in_blocks is not None and size > self.in_blocks and not whole


@dataclass(frozen=True, eq=False)
class FileTable:
    """A matrix from a file.

    values : the m × n numbers, an array or a SciPy sparse matrix; missing ones are NaN. Of a matrix
        that stays in its file, what its rows can be read from, with all its columns.
    names : of the n columns; None if the file has no names.
    rows : names of the m rows, if the file has them.
    lines : of a text file, the line on which each row begins.
    notes : warnings for the user, such as a guess about the encoding.
    aside : the cells of the columns that are kept as text, by name.
    places : the numbers of the n columns in the file, from 0; None when all were read.
    kept_rows : the numbers of the m rows in the file, from 0; None when all were kept.
    """

    values: Any
    names: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    lines: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: tuple[int, ...] | None = None
    kept_rows: tuple[int, ...] | None = None

    @property
    def stored(self) -> bool:
        """Whether the values stay in the file."""
        return type(self.values) is not np.ndarray and not hasattr(self.values, "tocsc")

    def place(self, row: int, column: int) -> str:
        """The line or row and the column, as a person would look them up."""
        where = f"row {row}" if self.lines is None else f"line {self.lines[row]}"
        return f"{where}, {self.column(column)}"

    def column(self, column: int) -> str:
        """A column by its name, or counted from 0 as in the file."""
        if self.names is None:
            return f"column {self.number(column)}"
        return f"column {self.names[column]!r}"

    def number(self, column: int) -> int:
        """The place of a column in the file, counted from 0."""
        return column if self.places is None else self.places[column]

    def only(self, rows: np.ndarray) -> "FileTable":
        """The table with these rows alone."""
        sparse = hasattr(self.values, "tocsr")
        return replace(
            self,
            values=self.values.tocsr()[rows].tocsc() if sparse else self.values[rows],
            rows=None if self.rows is None else tuple(self.rows[i] for i in rows),
            lines=None if self.lines is None else self.lines[rows],
            kept_rows=tuple(int(i) for i in rows),
            aside={name: tuple(texts[i] for i in rows) for name, texts in self.aside.items()},
        )


def wanted(
    names: Sequence[str] | None, n: int, reading: Reading
) -> tuple[list[int], dict[str, int]]:
    """The places of the columns to read as numbers, in order, and of those to keep as text."""
    listed = [position(name, names, n) for name in reading.columns] or range(n)
    aside = {name: position(name, names, n) for name in reading.aside}
    dropped = {*aside.values(), *(position(name, names, n) for name in reading.drop)}
    places = [j for j in dict.fromkeys(listed) if j not in dropped]
    if not places:
        raise UnknownColumnError("no column is left to read; list fewer in --drop")
    return places, aside


def position(
    asked: str, names: Sequence[str] | None, n: int, numbers: Sequence[int] | None = None
) -> int:
    """The place of a column given by name, or by a number from 0; a name comes first.

    numbers : of the columns in the file, if some were left out.
    """
    numbered = [str(j) for j in (range(n) if numbers is None else numbers)]
    found = [j for j, name in enumerate(names or ()) if name == asked]
    if len(found) > 1:
        raise UnknownColumnError(
            f"{len(found)} columns are named {asked!r}; give the number of one, counted from 0: "
            f"{named([numbered[j] for j in found])}"
        )
    if found:
        return found[0]
    if asked in numbered:
        return numbered.index(asked)
    if names is None:
        known = "; the columns have no names; give numbers from 0"
    else:
        some = named([repr(name[:40]) for name in names])
        known = suggestion(asked, names) or f"; the names are {some}"
    raise UnknownColumnError(f"there is no column {asked!r} among {n}{known}")


def without_text(
    kept: Sequence[int],
    others: Mapping[int, str],
    names: Sequence[str] | None,
    numeric_only: bool,
) -> tuple[list[int], str]:
    """The columns of a file that hold numbers and a note on the others, or an error about them.

    others : for each column that does not hold numbers, an example and where it is.
    """
    labels = {j: f"column {j}" if names is None else repr(names[j][:60]) for j in others}
    listed = {j: f"{labels[j]} ({where})" for j, where in others.items()}
    total = len(kept) if names is None else len(names)  # of the file: ids and targets count too
    short = [str(j) if names is None or "," in names[j] else names[j] for j in others]
    drop = f", or with --drop {','.join(short)!r}" if len(short) <= 5 else ""
    try:
        note = without(listed, len(kept), total, numeric_only, NUMERIC_ONLY + drop)
    except ValueError as error:
        raise FormatError(str(error)) from None
    return [j for j in kept if j not in others], note


def table_of(
    values: Any, names: Sequence[str] | None, kept: Sequence[int], n: int, **more: Any
) -> FileTable:
    """The table of the columns that are kept, of n that the file has."""
    named = None if names is None else tuple(names[j] for j in kept)
    places = None if list(kept) == list(range(n)) else tuple(kept)
    return FileTable(values, named, places=places, **more)


def noticed(table: FileTable) -> FileTable:
    """The table, with a note on each column that seems to number or to identify the rows."""
    if table.stored or hasattr(table.values, "tocsc") or len(table.values) < 2:
        return table
    notes = []
    for j in range(table.values.shape[1]):
        if what := _what(table, j):
            name = str(table.number(j))
            own = "," if table.names is None else table.names[j]
            if "," not in own and (own or name in (table.names or ())):
                name = own
            drop = f", --drop {shlex.quote(name)} leaves it out" if name else ""
            keep = f"--id {shlex.quote(name)} keeps it as the name of the rows"
            notes.append(f"{table.column(j)} {what}; {keep}{drop}")
    if len(notes) > 5:
        notes = [*notes[:5], f"so it is with {len(notes) - 5} more columns"]
    return replace(table, notes=(*table.notes, *notes))


def _what(table: FileTable, j: int) -> str | None:
    column = table.values[:, j]
    name = None if table.names is None else table.names[j].strip()
    counts = np.array_equal(column, column[0] + np.arange(len(column)))
    if counts and column[0] in (0, 1) and (name == "" or len(column) > 2):
        return "only counts the rows"
    if counts and len(column) >= MANY:
        return "rises by one from row to row, as numbers of rows do"
    if name and IDENTIFIER.fullmatch(name):
        integers = np.all(np.isfinite(column)) and np.all(column == np.round(column))
        if integers and len(np.unique(column)) == len(column):
            return "seems to identify the rows"
    return None


def read(source: str | Path | BinaryIO, *, format: str | None = None, **how: Any) -> FileTable:
    """The table of numbers in a file, a folder, or a binary stream such as `sys.stdin.buffer`.

    format : one of `FORMATS`; by default it is detected from the ending and the first bytes.
    how : the fields of `Reading`.
    """
    reading = Reading(**how)
    if not isinstance(source, str | Path):
        raw = read_within(source, reading.max_bytes, "the input")
        return _read_file(io.BytesIO(raw), format, reading)
    path = Path(source)
    if not path.exists():
        folder = path.parent
        others = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        close = suggestion(path.name, others) or "; give the path of a file"
        raise FileNotFoundError(f"there is no file {str(path)!r}{close}")
    if path.is_dir():
        marks = [path / mark for mark in ("zarr.json", ".zarray", ".zgroup")]
        if (format or ENDINGS.get(path.suffix)) == "zarr" or any(mark.exists() for mark in marks):
            return _read_as("zarr", path, reading)
        if any(path.rglob("*.parquet")):
            return _read_as("parquet", path, reading)
        raise IsADirectoryError(
            f"{path} is a folder; give a file, a Zarr store or a folder of Parquet files"
        )
    with path.open("rb") as file:
        suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
        return _read_file(file, format or ENDINGS.get((suffixes or [""])[-1]), reading)


def _read_file(file: BinaryIO, format: str | None, reading: Reading) -> FileTable:
    start = file.read(16)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        inner = None if format in ENDINGS.values() and format != "tsv" else format
        return _read_file(_unpacked(file, reading.max_bytes), inner, reading)
    if not start:
        raise FormatError("the file is empty")
    found = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
    if found == "npz" and format == "xlsx":  # both are zip files
        found = format
    format = found or format or "csv"
    if format not in FORMATS:
        close = suggestion(format, FORMATS)
        raise FormatError(f"the format must be one of {', '.join(FORMATS)}, got {format!r}{close}")
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if format == "zarr":
        raise FormatError("this is a file, and a Zarr store is a folder")
    if format not in IN_BLOCKS or not reading.stays(size):
        check_bytes(size, reading.max_bytes, "the file")
    return _read_as(format, file, reading)


def _unpacked(file: BinaryIO, limit: int) -> BinaryIO:
    with as_format_error("the gzip file is damaged"), gzip.GzipFile(fileobj=file) as packed:
        unpacked: Any = packed  # it can read bytes, which is all that is needed
        raw = read_within(unpacked, limit, "the unpacked file")
    if raw.startswith(b"\x1f\x8b"):
        raise FormatError("the file is packed twice; unpack it once first")
    return io.BytesIO(raw)


def _read_as(format: str, source: Any, reading: Reading) -> FileTable:
    module, function, _ = FORMATS[format]
    try:
        table = getattr(import_module(f".{module}", __package__), function)(source, reading)
        return noticed(table if module == "text" else _unmarked(table, reading))
    except ModuleNotFoundError as error:
        raise FormatError(
            f"reading {format} needs {error.name}: pip install {error.name}"
        ) from error


def _unmarked(table: FileTable, reading: Reading) -> FileTable:
    """The table with NaN for the numbers that stand for missing values, such as -999."""
    marks = reading.notation(".").missing_numbers
    if not marks:
        return table
    if hasattr(table.values, "tocsc"):
        raise FormatError(
            "na_values cannot be told from numbers in a sparse matrix; store missing values as NaN"
        )
    found = np.isin(table.values, list(marks))
    return replace(table, values=np.where(found, np.nan, table.values)) if found.any() else table
