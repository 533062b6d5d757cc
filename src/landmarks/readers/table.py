"""What a reader returns: the numbers, the names of the columns, and their places in the file.

A note warns about columns that only number or identify the rows, which should not be chosen.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import FormatError, UnknownColumnError, named, suggestion
from .frames import NUMERIC_ONLY, Notation, without
from .limit import MAX_BYTES

IDENTIFIER = re.compile(
    r"(?i:id|index|key|uid|row|row_?(?:number|nr|no)|.*[_ ]id|id[_ ].*)|.*[a-z]ID"
)
MANY = 10  # with fewer rows, values may increase by one by chance


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
        """Whether a matrix of that many bytes stays in its file."""
        return self.in_blocks is not None and size > self.in_blocks and not self.aside


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
    stored : whether the values stay in the file.
    """

    values: Any
    names: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    lines: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: tuple[int, ...] | None = None
    kept_rows: tuple[int, ...] | None = None
    stored: bool = False

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


def wanted(names: Sequence[str] | None, n: int, reading: Reading) -> list[int]:
    """The places of the columns to read: those listed, in their order, or all.

    Columns to drop and columns that are kept as text are left out.
    """
    listed = [position(name, names, n) for name in reading.columns] or range(n)
    dropped = {position(name, names, n) for name in (*reading.drop, *reading.aside)}
    places = [j for j in dict.fromkeys(listed) if j not in dropped]
    if not places:
        raise UnknownColumnError("no column is left to read; list fewer in --drop")
    return places


def set_aside(names: Sequence[str] | None, n: int, reading: Reading) -> dict[str, int]:
    """The places of the columns that are kept as text, by the names they were asked for."""
    return {name: position(name, names, n) for name in reading.aside}


def position(
    asked: str, names: Sequence[str] | None, n: int, numbers: Sequence[int] | None = None
) -> int:
    """The place of a column given by name, or by a number from 0; a name comes first.

    numbers : what the columns are numbered in the file, if some were left out.
    """
    found = [j for j, name in enumerate(names or ()) if name == asked]
    if len(found) > 1:
        raise UnknownColumnError(
            f"{len(found)} columns are named {asked!r}; give the number of one, counted from 0: "
            f"{named([str(j if numbers is None else numbers[j]) for j in found])}"
        )
    if found:
        return found[0]
    if asked.isascii() and asked.isdigit() and int(asked) < n:
        return int(asked)
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


def noticed(table: FileTable) -> FileTable:
    """The table, with a note on each column that seems to number or to identify the rows."""
    if table.stored or hasattr(table.values, "tocsc") or len(table.values) < 2:
        return table
    notes = []
    for j in range(table.values.shape[1]):
        if what := _what(table, j):
            notes.append(f"{table.column(j)} {what}; {_remedy(table, j)}")
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
    if name and IDENTIFIER.fullmatch(name) and _distinct_integers(column):
        return "seems to identify the rows"
    return None


def _distinct_integers(column: np.ndarray) -> bool:
    integers = bool(np.all(np.isfinite(column))) and bool(np.all(column == np.round(column)))
    return integers and len(np.unique(column)) == len(column)


def _remedy(table: FileTable, j: int) -> str:
    name = str(table.number(j))
    if table.names is not None and table.names[j] and "," not in table.names[j]:
        name = table.names[j]
    name = shlex.quote(name)
    return f"--id {name} keeps it as the name of the rows, --drop {name} leaves it out"
