"""What a reader returns: the numbers, the names of the columns, and their places in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._suggest import suggestion
from ..errors import FormatError, UnknownColumnError

if TYPE_CHECKING:
    from .read import Reading

NUMERIC_ONLY = "numeric_only=True (--numeric-only on the command line)"


@dataclass(frozen=True, eq=False)
class FileTable:
    """A matrix from a file.

    values : the m × n numbers, an array or a SciPy sparse matrix; missing ones are NaN.
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

    def place(self, row: int, column: int) -> str:
        """The line or row and the column, as a person would look them up."""
        where = f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"
        return f"{where}, {self.column(column)}"

    def column(self, column: int) -> str:
        """A column by its name, or counted from 0 as in the file."""
        if self.names is None:
            return f"column {self.number(column)}"
        return f"column {self.names[column]!r}"

    def number(self, column: int) -> int:
        """The place of a column in the file, counted from 0."""
        return column if self.places is None else self.places[column]


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


def position(asked: str, names: Sequence[str] | None, n: int) -> int:
    """The place of a column given by name, or by a number from 0; a name comes first."""
    found = [j for j, name in enumerate(names or ()) if name == asked]
    if len(found) > 1:
        raise UnknownColumnError(
            f"{len(found)} columns are named {asked!r}; give the number of one, counted from 0: "
            f"{', '.join(map(str, found[:5]))}"
        )
    if found:
        return found[0]
    if asked.isascii() and asked.isdigit() and int(asked) < n:
        return int(asked)
    if names is None:
        known = "; the columns have no names; give numbers from 0"
    else:
        known = suggestion(asked, names) or f"; the names are {_some(names)}"
    raise UnknownColumnError(f"there is no column {asked!r} among {n}{known}")


def without_text(
    kept: Sequence[int],
    others: Mapping[int, str],
    names: Sequence[str] | None,
    numeric_only: bool,
) -> tuple[list[int], str]:
    """The columns that hold numbers and a note on the others, or an error that lists them all.

    others : for each column that does not hold numbers, an example and where it is.
    """

    def label(j: int) -> str:
        return f"column {j}" if names is None else repr(names[j])

    listed = ", ".join(f"{label(j)} ({where})" for j, where in others.items())
    total = len(kept) if names is None else len(names)  # of the file: ids and targets count too
    if len(others) == len(kept):
        raise FormatError(f"none of the {len(kept)} columns holds numbers: {listed}")
    if not numeric_only:
        drop = ",".join(str(j) if names is None or "," in names[j] else names[j] for j in others)
        raise FormatError(
            f"{len(others)} of {total} columns do not hold numbers: {listed}; "
            f"leave them out with {NUMERIC_ONLY}, or with --drop {drop!r}"
        )
    note = f"numeric_only leaves out {len(others)} of {total} columns: {listed}"
    return [j for j in kept if j not in others], note


def _some(names: Sequence[str], at_most: int = 6) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown}, …"
