"""A small table to print or pass on, without pandas, and the columns of those about a selection."""

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..placement.constraint import Constraint

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
            _aligned(column, left=any(isinstance(value, str) for value in values))
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


def _aligned(cells: list[str], *, left: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]


def identity(indices: np.ndarray, labels: np.ndarray) -> dict[str, list[Any]]:
    """The index, and the name if there are names."""
    index = {"index": indices.tolist()}
    return index | {"name": labels[indices].tolist()} if isinstance(labels[0], str) else index


def pairwise(
    first: str, firsts: np.ndarray, second: str, seconds: np.ndarray
) -> dict[str, list[Any]]:
    """first_1, second_1, first_2, second_2, …"""
    columns: dict[str, list[Any]] = {}
    for q in range(firsts.shape[1]):
        columns |= {
            f"{first}_{q + 1}": firsts[:, q].tolist(),
            f"{second}_{q + 1}": seconds[:, q].tolist(),
        }
    return columns


def where(wanted: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values, None where they are not wanted."""
    found = np.full(values.shape, None, dtype=object)
    found[wanted] = values[wanted]
    return found


def substitute_columns(
    labels: np.ndarray, indices: np.ndarray, costs: np.ndarray
) -> dict[str, list[Any]]:
    """The substitutes and their costs; None where there is none."""
    some = np.isfinite(costs)
    return pairwise("substitute", where(some, labels[indices]), "cost", where(some, costs))


def source_columns(labels: np.ndarray, weights: np.ndarray, each: int) -> dict[str, list[Any]]:
    """The chosen columns that contribute most to each row, and their weights; None for 0."""
    largest = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :each]
    values = np.take_along_axis(weights, largest, axis=1)
    some = values != 0
    return pairwise("source", where(some, labels[largest]), "weight", where(some, values))


def kept_out(
    constraints: tuple[Constraint, ...], chosen: np.ndarray, indices: np.ndarray, labels: np.ndarray
) -> dict[str, list[Any]]:
    """What keeps each of the indices out of the choice, where there are constraints on places."""
    if not constraints:
        return {}
    found = [constraint.kept_out(chosen, labels.tolist()) for constraint in constraints]
    members = set(chosen.tolist())
    reasons = []
    for j in indices.tolist():
        words = [reasons_of[j] for reasons_of in found if reasons_of[j] is not None]
        reasons.append("; ".join(words) if words and j not in members else None)
    return {"kept_out": reasons}
