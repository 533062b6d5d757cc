"""From a file and the options about it to the operator of the candidates."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...report.lines import Words
from ..outcome import BAD_DATA, USAGE, Failure
from .missing import refuse_bad_values, without_missing

if TYPE_CHECKING:
    from ...operators.base import Operator
    from ...readers import FileTable

STDIN = "-"


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
        from ...errors import UnknownColumnError
        from ...readers.table import position

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
    from ..outcome import note

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
    from ...errors import FormatError, UnknownColumnError
    from ...readers.read import read

    header = {"auto": None, "yes": True, "no": False}[arguments.header]
    delimiter = {"tab": "\t", "\\t": "\t"}.get(arguments.delimiter, arguments.delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise Failure(
            USAGE, f"a delimiter is one sign, or the word tab, got {arguments.delimiter!r}"
        )
    source = sys.stdin.buffer if arguments.file == STDIN else arguments.file
    try:
        return read(
            source,
            format=arguments.format,
            columns=arguments.columns,
            drop=arguments.drop,
            max_bytes=arguments.max_bytes,
            header=header,
            delimiter=delimiter,
            decimal=arguments.decimal,
            encoding=arguments.encoding,
            array=arguments.array,
            numeric_only=arguments.numeric_only,
            aside=tuple(dict.fromkeys(filter(None, (arguments.id, arguments.target)))),
        )
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
    from ...intake import warn_of_spread
    from ...operators.data import data
    from ...operators.prepare.preparation import Preparation

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
        warn_of_spread(operator)
    measure = "variance" if center else "sum of squares"
    source = Source(title, table, operator, "column", measure, ids=_ids(table, arguments))
    return replace(source, center=bool(center), scale=bool(scale))


def _ids(table: FileTable, arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """The names of the rows: the column of --id, or those of the file."""
    return table.rows if arguments.id is None else table.aside[arguments.id]


def _of_rows(title: str, table: FileTable, arguments: argparse.Namespace) -> Source:
    import landmarks as lm

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
    from ...operators.prepare.preparation import mean_imputed
    from ...operators.standard import Standard
    from ...readers.limit import check_size

    X = table.values
    if hasattr(X, "tocsc"):
        check_size(X.shape[0] * X.shape[1] * 8, arguments.max_bytes, "the table of points")
        X = X.toarray()
    center = arguments.standardize or arguments.center
    scale = arguments.standardize or bool(arguments.scale)
    return Standard(center, scale).of_array(mean_imputed(X, None))[0]


def _kernel(points: Any, arguments: argparse.Namespace) -> Any:
    import landmarks as lm

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
    import numpy as np
    from scipy.spatial.distance import pdist

    some = points[np.linspace(0, len(points) - 1, min(len(points), at_most)).astype(int)]
    distances = pdist(np.asarray(some, dtype=np.float64))
    distances = distances[distances > 0]
    return float(f"{np.median(distances):.3g}") if len(distances) else 1.0
