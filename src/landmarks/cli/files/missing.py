"""Missing and infinite values of a table: what --missing does with them, and what is refused."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..outcome import BAD_DATA, Failure, note

if TYPE_CHECKING:
    from ...readers import FileTable


def refuse_bad_values(table: FileTable, arguments: argparse.Namespace) -> None:
    """Refuse infinite values, and missing ones unless --missing says what to do with them."""
    import numpy as np

    values = table.values.data if hasattr(table.values, "tocsc") else table.values
    if np.isfinite(values).all():
        return
    if np.isinf(values).any():
        raise Failure(
            BAD_DATA,
            f"{arguments.file}: {_first(table, np.isinf(values))}: the value is infinite; "
            "remove or clip it first",
        )
    missing = np.isnan(values)
    if arguments.missing == "error":
        remedy = (
            "--missing drop leaves out such rows, --missing impute fills in the mean of the "
            "column, --missing pairwise uses the known values, --drop leaves the column out"
        )
        raise Failure(
            BAD_DATA,
            f"{arguments.file}: {_first(table, missing)}: the value is missing, contains NaN "
            f"({int(missing.sum())} in all); {remedy}",
        )


def _first(table: FileTable, bad: Any) -> str:
    import numpy as np

    if bad.ndim == 2:
        return table.place(*(int(i) for i in np.argwhere(bad)[0]))
    place = int(np.flatnonzero(bad)[0])
    return table.place(
        int(table.values.indices[place]),
        int(np.searchsorted(table.values.indptr, place, side="right") - 1),
    )


def without_missing(table: FileTable, arguments: argparse.Namespace) -> FileTable:
    """The table without the rows that have a missing value, for --missing drop."""
    import numpy as np

    if arguments.missing != "drop":
        return table
    values = table.values.toarray() if hasattr(table.values, "tocsc") else table.values
    complete = ~np.isnan(values).any(axis=1)
    if complete.all():
        return table
    if not complete.any():
        raise Failure(
            BAD_DATA,
            f"{arguments.file}: every row has a missing value; --missing impute fills them in",
        )
    left_out = len(complete) - int(complete.sum())
    note(f"{left_out} of {len(complete)} rows have a missing value and were left out")
    return _some_rows(table, np.flatnonzero(complete))


def _some_rows(table: FileTable, rows: Any) -> FileTable:
    if hasattr(table.values, "tocsc"):
        values = table.values.tocsr()[rows].tocsc()
    else:
        values = table.values[rows]
    return replace(
        table,
        values=values,
        rows=None if table.rows is None else tuple(table.rows[i] for i in rows),
        lines=None if table.lines is None else table.lines[rows],
        kept_rows=tuple(int(i) for i in rows),
        aside={name: tuple(texts[i] for i in rows) for name, texts in table.aside.items()},
    )
