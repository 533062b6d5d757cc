"""Data frames: the names of their columns, which hold no numbers, and the frame without those."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

REMEDY = (
    "leave them out with numeric_only=True (--numeric-only on the command line), "
    "or encode them as numbers, e.g. with pandas.get_dummies"
)


def library(table: Any) -> str:
    """The library that a table comes from, which is not imported for the question."""
    return type(table).__module__.partition(".")[0]


def is_frame(table: Any) -> bool:
    """Whether this is a data frame of pandas or polars."""
    return library(table) in ("pandas", "polars") and type(table).__name__ == "DataFrame"


def column_names(table: Any) -> tuple[str, ...] | None:
    """The column names of a data frame or table, None for anything else."""
    columns = getattr(table, "column_names", None)  # first: pyarrow's `columns` are data
    if columns is None:
        columns = getattr(table, "columns", None)
    if columns is None or callable(columns):
        return None
    return tuple(str(name) for name in columns)


def column_labels(table: Any) -> tuple[Any, ...] | None:
    """The labels of the columns of a data frame as they are: strings, numbers, tuples, dates."""
    if column_names(table) is None:
        return None
    named = getattr(table, "column_names", None)
    return tuple(table.columns if named is None else named)


def numbers_only(table: Any, *, numeric_only: bool = False, stacklevel: int = 2) -> Any:
    """The frame without its columns that hold no numbers; an error unless numeric_only is set."""
    others = not_numbers(table)
    if not others:
        return table
    check_numbers(others, len(table.columns), numeric_only, stacklevel=stacklevel + 1)
    numeric = np.setdiff1d(np.arange(len(table.columns)), [place for place, _, _ in others])
    if library(table) == "polars":
        return table[:, numeric.tolist()]
    return table.iloc[:, numeric]


def check_numbers(
    others: Sequence[tuple[int, Any, str]], n: int, numeric_only: bool, *, stacklevel: int = 2
) -> None:
    """Raise for columns that hold no numbers; with numeric_only, warn that they are left out."""
    listed = ", ".join(f"{label!r} ({kind})" for _, label, kind in others)
    if not numeric_only:
        raise ValueError(f"X must hold numbers, but these columns do not: {listed}; {REMEDY}")
    if len(others) == n:
        raise ValueError(f"numeric_only leaves no column: none of the {n} holds numbers: {listed}")
    warnings.warn(
        f"numeric_only leaves out {len(others)} of {n} columns: {listed}; indices count the "
        f"{n - len(others)} others, chosen_names are labels of the table",
        stacklevel=stacklevel + 1,
    )


def not_numbers(table: Any) -> list[tuple[int, Any, str]]:
    """The place, the label and the kind of every column that holds no numbers."""
    if library(table) == "polars":
        kinds = [_polars_kind(dtype) for dtype in table.dtypes]
    else:
        kinds = [_pandas_kind(table.iloc[:, j]) for j in range(table.shape[1])]
    labels = list(table.columns)
    return [(j, labels[j], kind) for j, kind in enumerate(kinds) if kind is not None]


def _polars_kind(dtype: Any) -> str | None:
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return None
    if dtype.is_temporal():
        return "dates"
    name = str(dtype)
    if name.startswith(("Categorical", "Enum")):
        return "categories"
    return "text" if name == "String" else name


def _pandas_kind(column: Any) -> str | None:
    import pandas

    types, dtype = pandas.api.types, column.dtype
    if types.is_numeric_dtype(dtype):  # booleans are numbers
        return None
    if isinstance(dtype, pandas.CategoricalDtype):
        return "categories"
    if types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pandas.PeriodDtype):
        return "dates"
    if types.is_timedelta64_dtype(dtype):
        return "durations"
    if types.is_object_dtype(dtype):
        return _object_kind(column)
    return "text" if types.is_string_dtype(dtype) else str(dtype)


def _object_kind(column: Any) -> str | None:
    """What a column of Python objects holds; None for numbers and missing values."""
    present = [value for value in column if value is not None]
    if any(isinstance(value, str | bytes) for value in present):
        return "text"
    try:
        np.asarray(present, dtype=object).astype(np.float64)
    except (TypeError, ValueError):
        missing = any("NA" in type(value).__name__ for value in present)
        if missing and _object_kind([v for v in present if "NA" not in type(v).__name__]) is None:
            return None
        return type(present[0]).__name__
    return None
