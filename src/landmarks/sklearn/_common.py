"""What both estimators share: seeds, weights, tables, and pickles without the training data."""

import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_array, check_consistent_length

from .. import _check
from ..operators.sources import arrow_rows, as_block, is_arrow
from ..operators.sparse import checked_sparse
from ..readers.frames import frame_values, library, numbers_only, unpacked

REMEDY = (
    'numeric_only=True of ColumnSelector, or X.select_dtypes("number"); or encode them as numbers, '
    "e.g. with OneHotEncoder"
)
BLOCK = 2**22  # entries of X that are made dense at a time
WAYS = ("impute", "pairwise")  # what `missing` may be of ColumnSelector, which keeps all rows


def seed(random_state: Any) -> int | None:
    """The seed of a random state; NumPy's global state is neither read nor changed."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """The weights of the rows in float64, or None if all rows count the same."""
    if sample_weight is None:
        return None
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(checked < 0):
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not np.any(checked):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return checked


def without_data(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator whose selection no longer holds the data it was made from."""
    if (selection := state.get("selection_")) is None:
        return state
    return {**state, "selection_": dataclasses.replace(selection, operator=None)}


def readable(X: Any) -> Any:
    """Labelled columns as a frame of numbers, anything else as its values.

    As an array too if two columns have one name, which scikit-learn refuses.
    """
    if is_arrow(X) and hasattr(X, "column"):
        rows = arrow_rows(X)  # which refuses text
        return X if len(set(rows.names or ())) == rows.n else as_block(X)
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X must be rows, got the path {str(X)!r}; read the file first")
    if (frame := _framed(X)) is None:
        return plain_values(X, "X")
    table = numbers_only(frame, remedy=REMEDY)
    if len(set(map(str, table.columns))) < table.shape[1]:
        return frame_values(table)
    if library(table) == "pandas" and "object" in map(
        str, table.dtypes
    ):  # scikit-learn takes no NA
        return type(table)(frame_values(table), index=table.index, columns=table.columns)
    return table


def plain_values(X: Any, name: str) -> Any:
    """The values of a table, or an array; what is neither is named by its type."""
    values = unpacked(X).values
    known = isinstance(values, list | tuple) or hasattr(values, "shape")
    return values if known else _check.as_numpy(values, name)


def _framed(X: Any) -> Any:
    """X as a data frame, with the labels of its rows; None if it has no labels or is sparse."""
    values, labels, kind = unpacked(X)
    if kind == "AnnData" and not scipy.sparse.issparse(values):
        return X.to_df()
    if kind == "DataArray" and labels is not None:
        return X.to_pandas()
    return values if kind == "frame" else None


def refuse_missing(X: Any, names: tuple[str, ...] | None) -> None:
    """Name the first missing value of an array or a sparse matrix by its column, and the remedy."""
    if scipy.sparse.issparse(X):
        checked_sparse(X, names=names, ways=WAYS)
    else:
        _check.finite(X, "X", names=names, ways=WAYS)


def dense(X: Any) -> np.ndarray:
    """The rows as an array of float64."""
    return np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64)


def blocks_of_rows(X: Any) -> Iterator[slice]:
    """The rows in parts that are made dense one at a time."""
    height = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], height):
        yield slice(start, start + height)


def target_rows(target: Any, X: Any, name: str = "target") -> np.ndarray:
    """A target as numbers with the rows of X; one dimension is one column."""
    values = plain_values(target, name)
    values = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    check_consistent_length(X, values)
    return _check.matrix(values.reshape(len(values), -1), "target")
