"""What a reader returns: the numbers, the names of the columns, and where in the file they stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnknownColumnError


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix from a file.

    values : the m × n numbers, an array or a SciPy sparse matrix; missing ones are NaN.
    names : of the n columns; None when the file has none.
    rows : names of the m rows, where the file has them.
    lines : of a text file, the line on which each row begins.
    notes : what a reader should be told, such as a guess about the encoding.
    """

    values: Any
    names: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    lines: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def place(self, row: int, column: int) -> str:
        """A place in the table as a person would look it up."""
        where = f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"
        return f"{where}, {self.column(column)}"

    def column(self, column: int) -> str:
        """A column by its name, or counted from 0."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"


def wanted(
    names: Sequence[str] | None, n: int, columns: Sequence[str] = (), drop: Sequence[str] = ()
) -> list[int]:
    """The places of the columns to read: those listed in their order, or all; without those to drop."""
    kept = [position(name, names, n) for name in columns] if columns else list(range(n))
    dropped = {position(name, names, n) for name in drop}
    kept = [j for j in dict.fromkeys(kept) if j not in dropped]
    if not kept:
        raise UnknownColumnError("no column is left to read; list fewer in --drop")
    return kept


def position(wish: str, names: Sequence[str] | None, n: int) -> int:
    """The place of a column given by name, or by a number counted from 0; a name goes before a number."""
    found = [j for j, name in enumerate(names or ()) if name == wish]
    if len(found) > 1:
        raise UnknownColumnError(
            f"{len(found)} columns are named {wish!r}; give the number of one, counted from 0: {', '.join(map(str, found[:5]))}"
        )
    if found:
        return found[0]
    if wish.isascii() and wish.isdigit() and int(wish) < n:
        return int(wish)
    known = (
        "the columns have no names; give numbers from 0"
        if names is None
        else f"the names are {_some(names)}"
    )
    raise UnknownColumnError(f"there is no column {wish!r} among {n}; {known}")


def _some(names: Sequence[str], at_most: int = 6) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown}, …"
