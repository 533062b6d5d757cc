"""What a reader returns: the numbers, the names of the columns, and where in the file they
stood.
"""

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
class Table:
    """A matrix from a file.

    values : the m × n numbers, an array or a SciPy sparse matrix; missing ones are NaN.
    names : of the n columns; None when the file has none.
    rows : names of the m rows, where the file has them.
    lines : of a text file, the line on which each row begins.
    notes : what the user should know, such as a guess about the encoding.
    aside : the cells of the columns that were asked for as text, by name.
    places : of the n columns in the file, counted from 0; None when all columns were read.
    kept_rows : of the m rows in the file, counted from 0; None when all rows were kept.
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
        """A place in the table as a person would look it up."""
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
    """The places of the columns to read: those listed in their order, or all; without the others.

    Columns to drop and columns that are kept aside are left out.
    """
    kept = [position(name, names, n) for name in reading.columns]
    kept = kept if reading.columns else list(range(n))
    dropped = {position(name, names, n) for name in (*reading.drop, *reading.aside)}
    kept = [j for j in dict.fromkeys(kept) if j not in dropped]
    if not kept:
        raise UnknownColumnError("no column is left to read; list fewer in --drop")
    return kept


def set_aside(names: Sequence[str] | None, n: int, reading: Reading) -> dict[str, int]:
    """The places of the columns that are kept as text, by the names they were asked for."""
    return {name: position(name, names, n) for name in reading.aside}


def position(wish: str, names: Sequence[str] | None, n: int) -> int:
    """The place of a column given by name, or by a number from 0; a name goes before a number."""
    found = [j for j, name in enumerate(names or ()) if name == wish]
    if len(found) > 1:
        raise UnknownColumnError(
            f"{len(found)} columns are named {wish!r}; give the number of one, counted from 0: "
            f"{', '.join(map(str, found[:5]))}"
        )
    if found:
        return found[0]
    if wish.isascii() and wish.isdigit() and int(wish) < n:
        return int(wish)
    if names is None:
        known = "; the columns have no names; give numbers from 0"
    else:
        known = suggestion(wish, names) or f"; the names are {_some(names)}"
    raise UnknownColumnError(f"there is no column {wish!r} among {n}{known}")


def without_text(
    kept: Sequence[int],
    others: Mapping[int, str],
    names: Sequence[str] | None,
    numeric_only: bool,
) -> tuple[list[int], str]:
    """The columns that hold numbers and a note on the others, or an error that lists them all.

    others : for each column that holds anything but numbers, where and what that is.
    """

    def label(j: int) -> str:
        return f"column {j}" if names is None else repr(names[j])

    listed = ", ".join(f"{label(j)} ({where})" for j, where in others.items())
    if len(others) == len(kept):
        raise FormatError(f"none of the {len(kept)} columns holds numbers: {listed}")
    if not numeric_only:
        drop = ",".join(str(j) if names is None or "," in names[j] else names[j] for j in others)
        raise FormatError(
            f"{len(others)} of {len(kept)} columns do not hold numbers: {listed}; "
            f"leave them out with {NUMERIC_ONLY}, or with --drop {drop!r}"
        )
    note = f"numeric_only leaves out {len(others)} of {len(kept)} columns: {listed}"
    return [j for j in kept if j not in others], note


def _some(names: Sequence[str], at_most: int = 6) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown}, …"
