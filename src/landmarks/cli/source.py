"""From a file and the options about it to the candidates, and where those are."""

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import landmarks as lm

from ..errors import FormatError, UnknownColumnError
from ..objectives.objective import by_name
from ..operators.base import Operator
from ..operators.data import opened, rows_in_blocks, warn
from ..operators.fingerprint import fingerprint
from ..operators.prepare import Prepared
from ..readers import FileTable
from ..readers.table import check_bytes, position, read
from ..report.terminal import Words
from .main import listed
from .outcome import BAD_DATA, USAGE, Failure, failing, note

STDIN = "-"
READ_AS_GIVEN = (  # options that the reader knows by the same names
    *("format", "columns", "drop", "max_bytes", "decimal", "thousands", "na_values", "encoding"),
    *("array", "numeric_only"),
)


@dataclass(frozen=True, eq=False)
class Source:
    """The content of a file, and the candidates.

    noun : what one candidate is: "column" or "row".
    measure : what a choice keeps, in words.
    center, scale : what was done to the columns; filled : how many missing values were filled in.
    coordinates : where the candidates are, a row for each.
    """

    title: str
    table: FileTable
    operator: Operator
    noun: str
    measure: str
    kernel: str | None = None
    center: bool = False
    scale: bool = False
    filled: int = 0
    coordinates: np.ndarray | None = None

    def label(self, j: int) -> str:
        """The name of a candidate, or its number in the file."""
        names = self.operator.names
        return f"{self.noun} {self.number(j)}" if names is None else names[j]

    def number(self, j: int) -> int:
        """The number of a candidate, counted from 0 as in the file."""
        places = self.table.places if self.noun == "column" else self.table.kept_rows
        return j if places is None else int(places[j])

    def positions(self, names: Iterable[str]) -> list[int]:
        """The candidates that are named, or numbered from 0 as in the file."""
        labels, n = self.operator.names, self.operator.n
        numbers = [self.number(j) for j in range(n)]
        return [position(name, labels, n, numbers) for name in names]

    @cached_property
    def described(self) -> dict[str, Any]:
        """The data of a run: their name, shape, kind of candidates and fingerprint."""
        known = fingerprint(self.operator)
        kind = "sha256" if "sha256" in known else "sketch"
        rows = rows_in_blocks(self.table) if self.table.stored else None
        m, n = self.table.values.shape if rows is None else (rows.m, rows.n)
        return {
            "file": self.title,
            "rows": m,
            "columns": n,
            "candidates": self.noun,
            "fingerprint": f"{kind}:{known[kind]}",
        }

    @property
    def words(self) -> Words:
        """The words for the data and the candidates."""
        return Words(self.noun, self.measure, self.label, self.title, self.kernel, self.number)


def load(arguments: argparse.Namespace) -> Source:
    """Read the file and prepare the candidates."""
    title, rows = "standard input", bool(arguments.kernel or arguments.rows)
    if arguments.file != STDIN:
        title = arguments.file.rstrip("/").rsplit("/", 1)[-1]
    if rows and arguments.missing == "pairwise":
        raise Failure(
            USAGE,
            "distances need every value: use --missing impute or drop with --kernel or --rows",
        )
    table = _table(arguments)
    center = arguments.standardize or arguments.center
    scale = True if arguments.standardize else arguments.scale
    with (
        failing(BAD_DATA, ValueError, about=f"{title}: "),
        failing(BAD_DATA, MemoryError, about=f"{title} does not fit into memory: "),
    ):
        way: dict[str, Any] = {"center": center, "scale": scale, "missing": arguments.missing}
        prepared = opened(table, memory=arguments.max_bytes, **way)
        if prepared.rows is not None:
            table = table.only(prepared.rows)
        if prepared.filled:
            note(f"{prepared.filled} missing values were replaced by the mean of their column")
        if rows:
            return _of_rows(title, table, prepared, arguments)
    warn(prepared, by_name(arguments.criterion).by_length)
    measure = "variance" if center else "sum of squares"
    done: dict[str, Any] = {"center": bool(center), "scale": bool(scale), "filled": prepared.filled}
    return Source(title, table, prepared.operator, "column", measure, **done)


def _table(arguments: argparse.Namespace) -> FileTable:
    delimiter = {"tab": "\t", "\\t": "\t"}.get(arguments.delimiter, arguments.delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise Failure(
            USAGE, f"a delimiter is one character, or the word tab, got {arguments.delimiter!r}"
        )
    points = arguments.kernel or arguments.rows  # in memory
    aside = (arguments.id, arguments.target)
    how = {name: getattr(arguments, name) for name in READ_AS_GIVEN} | {
        "header": {"auto": None, "yes": True, "no": False}[arguments.header],
        "delimiter": delimiter,
        "in_blocks": None if points else arguments.max_bytes,
        "aside": tuple(dict.fromkeys(name for name in aside if name is not None)),
    }
    with (
        failing(BAD_DATA, OSError, ValueError, about=f"{arguments.file}: "),
        failing(BAD_DATA, FileNotFoundError),
        failing(USAGE, UnknownColumnError, about=f"{arguments.file}: "),
    ):
        return read(sys.stdin.buffer if arguments.file == STDIN else arguments.file, **how)


def _of_rows(
    title: str,
    table: FileTable,
    prepared: Prepared,
    arguments: argparse.Namespace,
) -> Source:
    """The rows as candidates, or as points of a kernel."""
    m, n = table.values.shape
    check_bytes(m * n * 8, arguments.max_bytes, "the table of points")
    points = np.ldexp(prepared.operator.factor(), prepared.operator.exponent // 2)
    kernel, measure = None, "sum of squares"
    if arguments.kernel:
        h = _kernel(points, arguments)
        operator = lm.kernel(points, h)
        kernel, measure = repr(h), "trace of the kernel matrix"
    else:
        operator = lm.data(points.T, scale=False)
    operator.names = table.rows if arguments.id is None else table.aside[arguments.id]
    return Source(title, table, operator, "row", measure, kernel=kernel)


def _kernel(points: Any, arguments: argparse.Namespace) -> Any:
    if arguments.kernel == "linear":
        return lm.linear()
    sigma = _median_distance(points) if arguments.sigma == "median" else arguments.sigma
    with failing(USAGE, ValueError):
        if arguments.kernel == "polynomial":
            return lm.polynomial(degree=arguments.degree, gamma=1 / lm.rbf(sigma).sigma ** 2)
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


def with_coordinates(chosen_from: Source, arguments: argparse.Namespace) -> Source:
    """The candidates with the coordinates that the arguments give them."""
    if arguments.coordinates is None:
        return chosen_from
    with failing(BAD_DATA, FormatError, OSError, about=f"--coordinates {arguments.coordinates}: "):
        values = np.asarray(read(arguments.coordinates).values, dtype=np.float64)
    own = _places_in(chosen_from, len(values), "--coordinates", "lines")
    return replace(chosen_from, coordinates=values[own])


def entries(chosen_from: Source, given: str | None, option: str) -> list[str] | None:
    """An entry for each candidate, from the lines of a file or from a list with commas."""
    if given is None:
        return None
    # os.path: a Path raises where a long list could not be the name of a file
    words = Path(given).read_text().splitlines() if os.path.isfile(given) else list(listed(given))
    return [words[j].strip() for j in _places_in(chosen_from, len(words), option, "entries")]


def costs(chosen_from: Source, arguments: argparse.Namespace) -> list[float] | None:
    """The cost of each candidate, None unless there are any."""
    words = entries(chosen_from, arguments.costs, "--costs")
    with failing(USAGE, ValueError, about="--costs must be numbers: "):
        return None if words is None else [float(word) for word in words]


def _places_in(chosen_from: Source, count: int, option: str, what: str) -> list[int]:
    """Where the candidates are among things of which the user gave one for each column."""
    numbers = [chosen_from.number(j) for j in range(chosen_from.operator.n)]
    if count == len(numbers):
        return list(range(count))
    if count > max(numbers):  # also of candidates that were left out
        return numbers
    raise Failure(
        USAGE,
        f"{option} has {count} {what}, but there are {chosen_from.words.counted(len(numbers))}; "
        "give one for each",
    )


def constraints(chosen_from: Source, arguments: argparse.Namespace) -> tuple[Any, ...]:
    """The constraints on places that the arguments ask for."""
    if arguments.min_distance is None:
        return ()
    from ..placement import MinDistance  # here: SciPy's trees load slowly

    if chosen_from.coordinates is None:
        raise ValueError("--min-distance needs --coordinates FILE: where the candidates are")
    return (MinDistance(chosen_from.coordinates, arguments.min_distance),)
