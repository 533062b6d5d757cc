"""A small table to print or pass on: named columns of equal length, without pandas."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnsupportedError

PRINTED_ROWS = 20


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, each a list; None where there is no value.

    Attributes
    ----------
    columns : name -> values.

    Examples
    --------
    >>> from landmarks.explain.table import Table
    >>> table = Table({"name": ["age", "bmi"], "r2": [0.251, 1.0]})
    >>> table
    name     r2
    age   0.251
    bmi       1
    >>> table.rows[0]
    {'name': 'age', 'r2': 0.251}
    """

    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a dictionary."""
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise UnsupportedError(
                "to_frame needs pandas, which is not installed; use .rows or .columns"
            ) from None
        return pandas.DataFrame(self.columns)

    def __repr__(self) -> str:
        cells = [
            [name, *map(_text, values[:PRINTED_ROWS])] for name, values in self.columns.items()
        ]
        aligned = [
            _aligned(column, left=_is_text(values))
            for column, values in zip(cells, self.columns.values(), strict=True)
        ]
        return "\n".join(
            ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)] + self._more
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        columns = (map(_text, values[:PRINTED_ROWS]) for values in self.columns.values())
        rows = zip(*columns, strict=True)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + "".join(
            f"<p>{line}</p>" for line in self._more
        )

    @property
    def _more(self) -> list[str]:
        return [f"… {len(self) - PRINTED_ROWS} more"] if len(self) > PRINTED_ROWS else []


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float | np.floating) else str(value)


def _is_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def _aligned(cells: list[str], *, left: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]
