"""A note on columns that only number or identify the rows, which nobody should choose."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import numpy as np

from .table import FileTable

IDENTIFIER = re.compile(
    r"(?i:id|index|key|uid|row|row_?(?:number|nr|no)|.*[_ ]id|id[_ ].*)|.*[a-z]ID"
)
MANY = 10  # rows: fewer may rise by one by chance


def noticed(table: FileTable) -> FileTable:
    """The table, with a note on each column that seems to number or to identify the rows."""
    if hasattr(table.values, "tocsc") or len(table.values) < 2:
        return table
    notes = []
    for j in range(table.values.shape[1]):
        if what := _what(table, j):
            notes.append(f"{table.column(j)} {what}; {_remedy(table, j)}")
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
