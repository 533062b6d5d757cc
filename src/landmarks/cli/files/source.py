"""From a file and the options about it to the operator of the candidates; missing values too."""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import landmarks as lm

from ... import _check
from ...errors import FormatError, UnknownColumnError
from ...operators.base import Operator
from ...operators.data import data
from ...operators.prepare.preparation import Preparation, mean_imputed
from ...operators.standard import Standard
from ...readers import FileTable
from ...readers.limit import check_size
from ...readers.read import read
from ...readers.table import position
from ...report.lines import Words
from ..outcome import BAD_DATA, USAGE, Failure, note

STDIN = "-"
READ_AS_GIVEN = (  # options that the reader knows by the same names
    *("format", "columns", "drop", "max_bytes", "decimal", "encoding", "array", "numeric_only"),
)


@dataclass(frozen=True, eq=False)
class Source:
    """The content of a file, and the candidates.

    noun : what one candidate is: "column" or "row".
    measure : what a choice keeps, in words; ids : the names of the rows, if any.
    center, scale : what was done to the columns.
    """

    title: str
    table: FileTable
    operator: Operator
    noun: str
    measure: str
    kernel: str | None = None
    ids: tuple[str, ...] | None = None
    center: bool = False
    scale: bool = False

    def label(self, j: int) -> str:
        """The name of a candidate, or its number in the file."""
        names = self.operator.names
        return f"{self.noun} {self.number(j)}" if names is None else names[j]

    def number(self, j: int) -> int:
        """The number of a candidate, counted from 0 as in the file."""
        places = self.table.places if self.noun == "column" else self.table.kept_rows
        return j if places is None else int(places[j])

    def position(self, name: str) -> int:
        """The candidate of a name, or of a number as in the file; a name comes first."""
        names, n = self.operator.names, self.operator.n
        numbers = {str(self.number(j)): j for j in range(n)}
        if name in numbers and name not in (names or ()):
            return numbers[name]
        if name.isascii() and name.isdigit() and name not in (names or ()):
            raise UnknownColumnError(f"{self.noun} {name} is not among the {n} candidates")
        return position(name, names, n)

    def positions(self, names: Iterable[str]) -> list[int]:
        """The candidates that are named, or numbered from 0 as in the file."""
        return [self.position(name) for name in names]

    @property
    def words(self) -> Words:
        """The words for the data and the candidates."""
        return Words(self.noun, self.measure, self.label, self.title, self.kernel)


def load(arguments: argparse.Namespace) -> Source:
    """Read the file and prepare the candidates."""
    table = _table(arguments)
    for sentence in table.notes:
        note(sentence)
    table = without_missing(table, arguments)
    refuse_bad_values(table, arguments)
    title = "standard input"
    if arguments.file != STDIN:
        title = arguments.file.rstrip("/").rsplit("/", 1)[-1]
    try:
        if arguments.kernel or arguments.rows:
            return _of_rows(title, table, arguments)
        return _of_columns(title, table, arguments)
    except MemoryError as error:
        raise Failure(BAD_DATA, f"{title} does not fit into memory: {error}") from error
    except ValueError as error:
        raise Failure(BAD_DATA, f"{title}: {error}") from error


def _table(arguments: argparse.Namespace) -> FileTable:
    header = {"auto": None, "yes": True, "no": False}[arguments.header]
    delimiter = {"tab": "\t", "\\t": "\t"}.get(arguments.delimiter, arguments.delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise Failure(
            USAGE, f"a delimiter is one character, or the word tab, got {arguments.delimiter!r}"
        )
    source = sys.stdin.buffer if arguments.file == STDIN else arguments.file
    try:
        aside = tuple(dict.fromkeys(filter(None, (arguments.id, arguments.target))))
        how = {name: getattr(arguments, name) for name in READ_AS_GIVEN}
        return read(source, header=header, delimiter=delimiter, aside=aside, **how)
    except UnknownColumnError as error:
        raise Failure(USAGE, f"{arguments.file}: {error}") from error
    except (FormatError, IsADirectoryError) as error:
        raise Failure(BAD_DATA, f"{arguments.file}: {error}") from error
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise Failure(
            BAD_DATA,
            f"{arguments.file} cannot be read: {getattr(error, 'strerror', None) or error}",
        ) from error


def _of_columns(title: str, table: FileTable, arguments: argparse.Namespace) -> Source:
    center = arguments.center or arguments.standardize
    scale = True if arguments.standardize else arguments.scale
    missing = "error" if arguments.missing == "drop" else arguments.missing
    if center or scale or missing != "error":
        prepared = Preparation(center=center, scale=bool(scale), missing=missing)
        operator = prepared.of_rows(table.values, None).operator
    else:
        operator = data(table.values, scale=False)
    operator.names = table.names
    if scale is None:
        _check.warn_of_spread(operator)
    measure = "variance" if center else "sum of squares"
    source = Source(title, table, operator, "column", measure, ids=_ids(table, arguments))
    return replace(source, center=bool(center), scale=bool(scale))


def _ids(table: FileTable, arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """The names of the rows: the column of --id, or those of the file."""
    return table.rows if arguments.id is None else table.aside[arguments.id]


def _of_rows(title: str, table: FileTable, arguments: argparse.Namespace) -> Source:
    if arguments.missing == "pairwise":
        raise Failure(
            USAGE,
            "distances need every value: use --missing impute or drop with --kernel or --rows",
        )
    points = _points(table, arguments)
    ids = _ids(table, arguments)
    if not arguments.kernel:
        operator = lm.data(points.T, scale=False)
        operator.names = ids
        return Source(title, table, operator, "row", "sum of squares", ids=ids)
    h = _kernel(points, arguments)
    operator = lm.kernel(points, h)
    operator.names = ids
    measure = "trace of the kernel matrix"
    return Source(title, table, operator, "row", measure, kernel=repr(h), ids=ids)


def _points(table: FileTable, arguments: argparse.Namespace) -> Any:
    """The rows as points: dense, imputed, and centred and scaled if requested."""
    X = table.values
    if hasattr(X, "tocsc"):
        check_size(X.shape[0] * X.shape[1] * 8, arguments.max_bytes, "the table of points")
        X = X.toarray()
    center = arguments.standardize or arguments.center
    scale = arguments.standardize or bool(arguments.scale)
    return Standard(center, scale).of_array(mean_imputed(X, None))[0]


def _kernel(points: Any, arguments: argparse.Namespace) -> Any:
    if arguments.kernel == "linear":
        return lm.linear()
    sigma = _median_distance(points) if arguments.sigma == "median" else arguments.sigma
    if arguments.kernel == "polynomial":
        return lm.polynomial(degree=arguments.degree, gamma=1 / sigma**2)
    if arguments.kernel == "matern":
        return lm.matern(nu=arguments.nu, sigma=sigma)
    return {"rbf": lm.rbf, "laplacian": lm.laplacian}[arguments.kernel](sigma=sigma)


def _median_distance(points: Any, at_most: int = 500) -> float:
    """The median distance of distinct rows, among at most 500 spread evenly over the file."""
    from scipy.spatial.distance import pdist  # here: SciPy's distances load slowly

    some = points[np.linspace(0, len(points) - 1, min(len(points), at_most)).astype(int)]
    distances = pdist(np.asarray(some, dtype=np.float64))
    distances = distances[distances > 0]
    return float(f"{np.median(distances):.3g}") if len(distances) else 1.0


def refuse_bad_values(table: FileTable, arguments: argparse.Namespace) -> None:
    """Refuse infinite values, and missing ones unless --missing says what to do with them."""
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
    if bad.ndim == 2:
        return table.place(*(int(i) for i in np.argwhere(bad)[0]))
    place = int(np.flatnonzero(bad)[0])
    return table.place(
        int(table.values.indices[place]),
        int(np.searchsorted(table.values.indptr, place, side="right") - 1),
    )


def without_missing(table: FileTable, arguments: argparse.Namespace) -> FileTable:
    """The table without the rows that have a missing value, for --missing drop."""
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
