"""The door: from whatever a user holds to an operator, the same for every function and command.

`opened` takes arrays, frames, tensors, sparse matrices, files, rows in blocks, dask, AnnData,
DataArrays and operators, with every check and preparation; `warn` says what will decide the
choice. `data` is the same door without a choice behind it.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from .._array import host, namespace
from .._remembered import Remembered
from ..errors import (
    ConstantWarning,
    FormatError,
    ScaleWarning,
    SymmetryWarning,
    named,
    warn_user,
)
from ..readers.frames import (
    arrow_others,
    frame_values,
    is_dask,
    numbers_only,
    taken,
    unpacked,
    without,
)
from ..readers.table import FileTable, Reading, noticed
from .base import Operator, on_workers
from .function import function
from .out_of_core import ROWS_MEMORY, fits
from .prepare import WAYS, Preparation, Prepared, check_left, unprepared
from .sources import RowBlocks, as_rows, is_arrow, schema_of
from .sparse import checked_sparse

SPREAD = 100.0  # a column this many times larger than a typical one decides the choice
MEANS = 0.5  # if the means have a larger share of the sum of squares, they decide the choice

Weights = np.ndarray | Callable[[int | None, int], np.ndarray | None] | None

READING = ("layer", *Reading.__dataclass_fields__)  # what `data` alone takes, besides memory


#: what is known of operators that were made here
_known: Remembered[Operator, Prepared] = Remembered()


def data(
    X: Any,
    *,
    center: bool = False,
    scale: bool | None = None,
    missing: str = "error",
    numeric_only: bool = False,
    memory: int = ROWS_MEMORY,
    **reading: Any,
) -> Operator:
    """The operator whose candidates are the columns of X: in memory, sparse, or in blocks of rows.

    Parameters
    ----------
    X : the m × n matrix: array, nested list, data frame, SciPy sparse matrix, dask array or data
        frame, AnnData, xarray.DataArray, or the path of a file; never modified. Data that may not
        fit in memory are read in blocks of rows: memory maps, Zarr arrays, HDF5 datasets, Arrow
        tables and datasets, files with such data, an iterator or a list of blocks, or a function
        that returns a fresh iterator.
    center : whether to subtract the mean of each column.
    scale : whether to divide each column by its standard deviation. None, the default, does not
        scale, but `select` warns about columns whose values are so large that they decide the
        choice, and about means that do. False neither scales nor warns.
    missing : what to do about missing values: "error", "impute" the mean of the column, "drop" the
        rows that have one, or "pairwise": each covariance from the rows that have both values.
    numeric_only : whether to leave out columns of text, dates or categories, with a warning.
    memory : bytes that may be used for an X read in blocks. A wide X that fits is loaded; a tall X
        is loaded only if it takes at most 1/16 of the memory. Otherwise the Gram matrix XᵀX is
        summed in one pass if it fits, and if not, each product is a pass over the rows.
    reading : `layer`, the layer of an AnnData object to use instead of its X; and how to read a
        file, as the options of the command line: columns, drop, array, and of a text header,
        delimiter, decimal, thousands, na_values, encoding.

    Returns
    -------
    Operator
        The matrix XᵀX of the columns, to be passed to `select`, `path` or `compare`.

    Examples
    --------
    >>> lm.data([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    Data(n=3, dtype=float64)
    >>> blocks = ([[float(i), 1.0, i + 1.0]] for i in range(4))
    >>> lm.data(blocks)
    Dense(n=3, dtype=float64)
    """
    _check.known([name for name in reading if name not in READING], data)
    way = center, scale, missing
    prepared = _of_data(X, *way, numeric_only=numeric_only, memory=memory, **reading)
    _warn_of_constants(prepared)
    _known[prepared.operator] = prepared
    return prepared.operator


def opened(
    A: Any, *, center: bool = False, scale: bool | None = None, missing: str = "error", **more: Any
) -> Prepared:
    """The operator of anything a user may give, and what was done to the columns.

    The arguments are those of `data`; `more` are further ones of `Given.prepared` and `given`.
    """
    dask = is_dask(A)  # first: a Delayed seems to have every attribute
    if isinstance(A, Operator) or (not dask and hasattr(A, "matmat") and hasattr(A, "shape")):
        if asked_for(center, scale, missing) != Preparation():
            raise ValueError(
                "center, scale and missing apply to the columns of data, not to an operator; use "
                "lm.data(X, center=…, scale=…, missing=…), or prepare the matrix before it becomes "
                f"an operator, got {A!r}"
            )
        operator = A if isinstance(A, Operator) else function(A)
        known = _known.get(operator, unprepared(operator))
        return replace(known, given=True, left_open=scale is None and known.left_open)
    if callable(A) and not dask and not hasattr(A, "shape"):
        raise TypeError(
            "A is a function; say how large its matrix is with lm.function(mvm, n=…), or pass "
            "lm.data(A) if it returns blocks of rows"
        )
    return _of_data(A, center, scale, missing, **more)


def _of_data(
    A: Any,
    center: bool,
    scale: bool | None,
    missing: str,
    *,
    numeric_only: bool = False,
    load: bool | None = None,
    memory: int = ROWS_MEMORY,
    weights: Weights = None,
    **reading: Any,
) -> Prepared:
    way = asked_for(center, scale, missing)
    table = unpacked(A, reading.get("layer"))
    if table.kind == "dask":
        from .dask.tall import dask_data

        if missing != "error":
            raise ValueError(
                'missing must be "error" for dask arrays; fill missing values first, e.g. with '
                "dask.array.where"
            )
        prepared = dask_data(table.values, way, table.names)
        prepared.operator.labels = table.labels
        _known[prepared.operator] = prepared
    else:
        A = table.values if table.kind == "frame" else A
        asked: dict[str, Any] = {"missing": missing, "numeric_only": numeric_only, "load": load}
        prepared = given(A, memory=memory, **asked, **reading).prepared(way, weights, memory)
    return replace(prepared, left_open=scale is None)


def has_columns(operator: Operator) -> bool:
    """Whether the candidates are columns of data; the rows may have been read and not kept."""
    return operator.m is not None or operator in _known


def filled_in(operator: Operator) -> int:
    """How many missing values of its data were replaced by means."""
    return _known.get(operator, unprepared(operator)).filled


def warn(prepared: Prepared, by_length: bool, k: int = 0) -> None:
    """Warn of what decides the choice of k columns, unless the user has decided.

    by_length : whether long columns count for more, as the objective says; else no size decides.
    That is a kernel matrix given as data, columns much larger than others, means that were not
    subtracted, and columns of one value. After rows were left out, k or fewer rows are an error.
    """
    check_left(prepared.left_out, k)
    operator = prepared.operator
    if not prepared.given:
        if prepared.symmetric:
            warn_user(
                "the data are a symmetric square matrix, as Gram, covariance and kernel matrices "
                "are. They are treated as data whose columns are chosen; if they are such a matrix "
                "K, pass lm.psd(K); if they are data, pass lm.data(X)",
                SymmetryWarning,
            )
        _warn_of_constants(prepared)
    if not (by_length and prepared.left_open) or on_workers(operator):
        return
    if "diagonal" not in operator.cheap:
        return
    diagonal = host(operator.diagonal())
    if warn_of_spread(operator, diagonal):
        return
    share = prepared.mean_share
    share = _means_hold(operator, diagonal) if share is None else share
    if share > MEANS:
        warn_user(
            f"the means of the columns make up {share:.0%} of the sum of squares, so they decide "
            "the choice; center=True (--center) subtracts them, scale=False (--no-scale) keeps "
            "them without this warning",
            ScaleWarning,
        )


def warn_of_spread(operator: Operator, diagonal: np.ndarray) -> bool:
    """Warn when the size of some columns decides the choice, and name them; whether it does."""
    sizes = np.sqrt(diagonal.astype(np.float64))
    present = np.sort(sizes[sizes > 0])
    if len(present) < 2:
        return False
    typical = present[(len(present) - 1) // 2]
    large = np.flatnonzero(sizes > SPREAD * typical)
    if len(large) == 0:
        return False
    noun, verb = ("column", "holds") if len(large) == 1 else ("columns", "hold")
    listed = _check.labelled(operator, large[np.argsort(-sizes[large], kind="stable")])
    warn_user(
        f"{noun} {listed} {verb} numbers over {SPREAD:.0f} times larger than a typical column and "
        "will decide the choice; center=True, scale=True (--standardize on the command line) gives "
        "every column the same weight, scale=False (--no-scale) keeps them as they are without "
        "this warning",
        ScaleWarning,
    )
    return True


def _warn_of_constants(prepared: Prepared) -> None:
    """Warn of columns that are zero once they are centred."""
    if constant := prepared.constant:
        one = len(constant) == 1
        noun, verb, them = ("column", "holds", "it") if one else ("columns", "hold", "them")
        warn_user(
            f"{noun} {_check.labelled(prepared.operator, constant)} {verb} one value only, so "
            f"nothing once centred: no other column is rebuilt from {them}, and "
            f"{'it' if one else 'they'} need not be rebuilt",
            ConstantWarning,
        )


def _means_hold(operator: Operator, diagonal: np.ndarray) -> float:
    """The share of the sum of squares of the columns that their means hold."""
    X, total = getattr(operator, "X", None), float(np.sum(diagonal, dtype=np.float64))
    if X is None or operator.m is None or operator.m < 2 or total == 0:
        return 0.0
    if hasattr(X, "tocsc"):
        sums = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    else:
        xp = namespace(X)
        sums = host(xp.sum(X, axis=0, dtype=xp.float64))
    return float(np.sum(sums**2)) / operator.m / total


def asked_for(center: bool, scale: bool | None, missing: str) -> Preparation:
    """The preparation that the arguments of a user ask for."""
    center = _check.boolean(center, "center")
    scaled = scale is not None and _check.boolean(scale, "scale")
    return Preparation(center, scaled, _check.choice(missing, WAYS, "missing"))


@dataclass(frozen=True, eq=False)
class Given:
    """Data as they were given: an array or a sparse matrix, or rows that are read in blocks.

    Missing values are NaN; there are none unless they are allowed.
    """

    values: Any
    labels: tuple[Any, ...] | None

    def prepared(
        self, way: Preparation, weights: Weights = None, memory: int = ROWS_MEMORY
    ) -> Prepared:
        """The operator of the columns; it warns about rows that are left out."""
        X, in_blocks = self.values, isinstance(self.values, RowBlocks)
        m, n = (X.m, X.n) if in_blocks else X.shape
        w = weights(m, n) if callable(weights) else weights
        prepared = way.of_source(X, w, memory) if in_blocks else way.of_rows(X, w)
        operator, (dropped, of) = prepared.operator, prepared.left_out
        operator.labels = self.labels
        operator.names = None if self.labels is None else tuple(map(str, self.labels))
        _known[operator] = prepared
        if dropped:
            most = '; missing="impute" (--missing impute) keeps them' if 2 * dropped > of else ""
            warn_user(f"{dropped} of {of} rows have a missing value and were left out{most}")
        return prepared


def given(
    A: Any,
    *,
    missing: str = "error",
    numeric_only: bool = False,
    load: bool | None = None,
    memory: int = ROWS_MEMORY,
    layer: str | None = None,
    ways: Iterable[str] = tuple(_check.FILLS),
    **reading: Any,
) -> Given:
    """Data of any kind as numbers, checked; whatever cannot be used is named as its user knows it.

    load : whether rows in blocks are loaded; None loads them if they fit into the memory.
    ways : what else `missing` may be here, for the message about missing values.
    """
    X, labels, kind = unpacked(A, layer)
    table = None
    if isinstance(A, str | os.PathLike):
        from ..readers.table import read

        try:
            A = read(os.fspath(A), in_blocks=0, numeric_only=numeric_only, **reading)
        except FormatError as error:
            raise type(error)(f"{Path(A).name}: {error}") from None
    elif reading:
        raise TypeError(f"{', '.join(reading)} say how to read a file, got {type(A).__name__}")
    if isinstance(A, FileTable):
        table, X, labels = A, A.values, A.names
        for note in A.notes:
            warn_user(note)
    elif kind == "frame":
        X = numbers_only(X, numeric_only=numeric_only)
        labels, X = unpacked(X).labels, frame_values(X)
    elif is_arrow(X):
        labels = None
    names = None if labels is None else tuple(map(str, labels))
    source = None if type(X) is np.ndarray else rows_of(X, table, numeric_only)
    if source is not None:
        names = labels = source.names = source.names if names is None else names
        source.ways = ways
        if not (fits(source, memory) if load is None else load):
            return Given(source, labels)
        X = source.loaded(memory)
        if table is not None:
            for note in noticed(replace(table, values=X, notes=())).notes:
                warn_user(note)
    place = None if table is None else table.place
    how: dict[str, Any] = {"names": names, "missing": missing != "error", "ways": ways}
    checked = checked_sparse if hasattr(X, "tocsc") else partial(_check.matrix, name="X")
    return Given(checked(X, place=place, **how), labels)


def rows_of(X: Any, table: FileTable | None, numeric_only: bool) -> RowBlocks | None:
    """The rows of X if they are read in blocks; of an Arrow table, the columns of numbers."""
    places: Sequence[int] | None = None if table is None else table.places
    if table is None and numeric_only and is_arrow(X):
        fields = list(schema_of(X))
        kinds = arrow_others(X, schema_of(X))
        others = {j: f"{fields[j].name!r} ({kind})" for j, kind in kinds.items()}
        places = [j for j in range(len(fields)) if j not in others]
        if others:
            warn_user(without(others, len(fields), len(fields), True))
    return as_rows(X, places)


def rows_in_blocks(table: FileTable) -> RowBlocks:
    """The rows of a table that stays in its file."""
    source = as_rows(table.values, table.places)
    if source is None:
        raise ValueError(f"X must have rows and columns, got shape {table.values.shape}")
    return source


def chosen_columns(X: Any, indices: np.ndarray, labels: Sequence[Any] | None, n: int) -> Any:
    """The chosen columns of a table; of a frame by their labels, if these are all different."""
    values, own, kind = unpacked(X)
    if kind == "AnnData":
        return X[:, indices]
    X = values if kind == "frame" else X
    if (kind != "other" or is_arrow(X)) and own is not None:
        places = indices
        if labels is not None and len(set(own)) == len(own):
            wanted = [labels[j] for j in indices]
            if missing := [repr(label) for label in wanted if label not in own]:
                raise ValueError(f"the table lacks chosen columns: {named(missing)}")
            places = np.asarray([own.index(label) for label in wanted], dtype=np.int64)
        elif len(own) != n:
            raise ValueError(f"the table must have the {n} columns of the run, got {len(own)}")
        return taken(X, places.tolist())
    shape = tuple(getattr(X, "shape", None) or np.shape(X))
    if len(shape) != 2 or shape[1] != n:
        got = f"shape {shape}" if shape else _check.described(X)
        raise ValueError(f"X must have the {n} columns of the run, got {got}")
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if hasattr(X, "tocsc"):
        return X.tocsc()[:, indices]
    return X[:, indices.tolist()]
