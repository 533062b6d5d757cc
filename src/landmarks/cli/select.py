"""`landmarks select`: the columns of a file, or its rows, that best represent the others.

The file is read, a choice is made, and the files that were asked for are written; what is printed
is the record (--json), a table for a pipe, or a text for a person.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import Any, BinaryIO

import numpy as np

from .. import __version__
from .._select import select
from .._shown import printable
from ..comparison import factor
from ..errors import FormatError, UnknownColumnError, UnsupportedError
from ..explain.alternatives import Alternatives
from ..linalg.error import spectrum_is_cheap
from ..methods.greedy.supervised import Supervised
from ..objectives import Columns
from ..operators.data import rows_in_blocks
from ..report.overview import Chosen, Summary, lines, summarise, target_measure
from ..report.sentences import harmless, is_formula
from ..report.terminal import Terminal
from ..runs.bar import progress_bar
from ..selection import Selection
from . import source
from .outcome import (
    BAD_DATA,
    NO_OUTPUT,
    OK,
    USAGE,
    Failure,
    check_outputs,
    failing,
    note,
    warnings_as_notes,
    written,
)
from .source import Source

# `select` takes them as they were given
AS_GIVEN = ("criterion", "seed", "budget", "noise", "error", "budget_cost")
LISTED = 200  # the most chosen columns that are printed
ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".npz")
SETTINGS = (
    *("k", "error", "method", "criterion", "seed", "budget", "include", "exclude"),
    *("target_columns", "noise", "groups", "costs", "budget_cost", "coordinates", "min_distance"),
    *("columns", "drop", "standardize", "center", "scale", "id", "target", "numeric_only", "rows"),
    *("missing", "na_values", "thousands", "decimal"),
)


def run(arguments: argparse.Namespace) -> int:
    """Read, choose, write, print."""
    out, page = arguments.out, arguments.report
    check_outputs(
        ("--out", out, ENDINGS), ("--report", page, (".html", ".htm")), force=arguments.force
    )
    if page and find_spec("jinja2") is None:
        raise Failure(USAGE, "a report needs Jinja2: pip install jinja2")
    with warnings_as_notes():
        chosen_from = source.load(arguments)
        _check_image(chosen_from, arguments)
        chosen_from = source.with_coordinates(chosen_from, arguments)  # refused before the work
        with progress_bar(quiet=arguments.quiet):
            selection = choose(chosen_from, arguments)
            summary = summarise(selection) if selection.objective.shares else None
            found = _alternatives(selection, arguments)
        done = Done(chosen_from, selection, summary, found, arguments)
        if out:
            done.write_out()
        if page:
            done.write_report()
    for line in done.lines():
        print(line)
    return OK


def choose(chosen_from: Source, arguments: argparse.Namespace) -> Selection:
    """The selection that the arguments ask for; a request that cannot be met is a usage error."""
    with (
        failing(NO_OUTPUT, OSError, about=f"{arguments.checkpoint} cannot be used: "),
        failing(USAGE, ValueError, TypeError),
        failing(BAD_DATA, FormatError),
        failing(USAGE, UnknownColumnError),
    ):
        found = select(
            chosen_from.operator,
            "auto" if arguments.k is None else arguments.k,
            method=method_of(chosen_from, arguments),
            include=chosen_from.positions(arguments.include),
            exclude=chosen_from.positions(arguments.exclude),
            target=target_of(chosen_from, arguments),
            constraints=source.constraints(chosen_from, arguments),
            groups=source.entries(chosen_from, arguments.groups, "--groups"),
            costs=source.costs(chosen_from, arguments),
            checkpoint=arguments.checkpoint or None,
            **{name: getattr(arguments, name) for name in AS_GIVEN},
        )
    return replace(found, center=chosen_from.center, scale=chosen_from.scale)


def _alternatives(selection: Selection, arguments: argparse.Namespace) -> Alternatives | None:
    """All choices that are nearly as good, if they are asked for."""
    if arguments.alternatives is None:
        return None
    with failing(USAGE, UnsupportedError, about="--alternatives: "):
        return selection.alternatives(arguments.alternatives)


def method_of(chosen_from: Source, arguments: argparse.Namespace) -> Any:
    """The method by name; supervised uses the target of the rows."""
    if arguments.method != "supervised":
        return arguments.method
    if arguments.target is None or chosen_from.noun != "row":
        raise ValueError(
            "--method supervised chooses rows that help to predict a target: "
            "give --target COLUMN, and --rows or --kernel"
        )
    return _supervised(chosen_from.table.aside[arguments.target])


def _supervised(cells: Sequence[str]) -> Any:
    """The method that uses a target: numbers as they are, anything else as classes."""
    from ..sklearn.nystroem import numeric_target  # here: scikit-learn loads slowly

    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        values = np.array(cells, dtype=object)
    rows = np.arange(len(cells))
    target = numeric_target(rows[:, None], values, rows)
    if target is None:
        raise ValueError("the target has the same value in every row; there is nothing to predict")
    return Supervised(target)


def target_of(chosen_from: Source, arguments: argparse.Namespace) -> Any:
    """The columns that are to be rebuilt, or None for all."""
    if not arguments.target_columns:
        return None
    if chosen_from.operator.m is None or chosen_from.noun == "row":
        raise ValueError(
            "--target-columns needs a table in memory, and cannot be combined with --rows, "
            "--kernel or --missing pairwise"
        )
    return Columns(tuple(chosen_from.positions(arguments.target_columns)))


def _check_image(chosen_from: Source, arguments: argparse.Namespace) -> None:
    """Refuse, before the work, a size of images that the data do not have."""
    n = chosen_from.operator.n
    if arguments.image is not None and arguments.image[0] * arguments.image[1] != n:
        height, width = arguments.image
        raise Failure(
            USAGE,
            f"images of {height} x {width} have {height * width} pixels, the data have "
            f"{chosen_from.words.counted(n)}",
        )


@dataclass(frozen=True, eq=False)
class Done:
    """What a run found, to be written and printed; indices count from 0 as in the file."""

    chosen_from: Source
    selection: Selection
    summary: Summary | None
    found: Alternatives | None
    arguments: argparse.Namespace

    def write_out(self) -> None:
        """Write the format that the ending of --out names."""
        path, force = self.arguments.out, self.arguments.force
        ending = path.lower().rsplit(".", 1)[-1]
        if ending == "npz":
            self.selection.save(path)
            return
        with written(path, force=force) as file:
            if ending == "json":
                printed = json.dumps(self.record(), indent=2, allow_nan=False)
                file.write(f"{printed}\n".encode())
            elif ending == "parquet":
                _write_parquet(file, *self.chosen_part())
            else:
                names, columns = self.chosen_part()
                names = _safe(names, self.arguments.csv_safe)
                _write_text(file, names, columns, "," if ending == "csv" else "\t")

    def write_report(self) -> None:
        """Write the page."""
        from ..report.html_page import Origin, page  # here: it loads what draws

        chosen_from, arguments, selection = self.chosen_from, self.arguments, self.selection
        settings, places = self.record()["settings"], chosen_from.coordinates
        if chosen_from.filled:
            settings["missing"] = f"{arguments.missing} ({chosen_from.filled} values)"
        origin = Origin(
            title=chosen_from.title,
            noun=chosen_from.noun,
            measure=target_measure(chosen_from.measure, selection),
            command=arguments.command_line,
            settings=settings,
            image=arguments.image,
            rows=chosen_from.described["rows"],
            filled=chosen_from.filled,
            fingerprint=chosen_from.described["fingerprint"],
            coordinates=None if places is None or places.shape[1] > 2 else places,
            alternatives=self.found,
        )
        html = page(selection, origin=origin, summary=self.summary)
        with written(arguments.report, force=arguments.force) as file:
            file.write(html.encode("utf-8"))

    def chosen_part(self) -> tuple[list[str], list[Any]]:
        """Names and values of columns of text, then of the chosen columns as the file has them.

        Of chosen rows all columns.
        """
        table, columns = self.chosen_from.table, self.selection.indices
        if self.chosen_from.noun == "row":
            table, columns = table.only(columns), np.arange(table.values.shape[1])
        if table.stored:
            blocks = rows_in_blocks(table).read(2**26)
            values: Any = np.concatenate([block[:, columns] for block in blocks])
        else:
            values = table.values[:, columns]
            values = values.toarray() if hasattr(values, "toarray") else values
        names = [
            f"column_{table.number(j)}" if table.names is None else table.names[j]
            for j in columns.tolist()
        ]
        return [*table.aside, *names], [*table.aside.values(), *values.T]

    def record(self) -> dict[str, Any]:
        """The record for JSON."""
        selection, summary, arguments = self.selection, self.summary, self.arguments
        columns = self.chosen.record()
        together = columns.pop("kept_together")  # below, next to the other shares
        bounded = (
            spectrum_is_cheap(selection._data) if summary is None else summary.best is not None
        )
        kept = ("chosen", "best", "random", "draws")
        alternatives = (
            {} if self.found is None else {"alternatives": self._alternatives(self.found)}
        )
        return alternatives | {
            "schema": "landmarks/select/1",
            "version": __version__,
            "data": self.chosen_from.described,
            "settings": {name: getattr(arguments, name) for name in SETTINGS}
            | {"kernel": self.chosen_from.kernel},
            "k": selection.k,
            "n": selection.n,
            **columns,
            "criterion": selection.criterion,
            "method": selection.method,
            "seed": selection.seed,
            "error": finite_or_none(selection.error()),
            "relative_error": finite_or_none(selection.relative_error()) if summary else None,
            "kept": summary and {name: getattr(summary, name) for name in kept},
            "kept_together": together,
            "factor": factor(selection),
            "gap": finite_or_none(selection.gap()) if bounded else None,
            "proved": selection.proved,
            "ledger": asdict(selection.ledger),
            "command": arguments.command_line,
        }

    def _alternatives(self, found: Alternatives) -> dict[str, Any]:
        listed = zip(found.rows, found.errors.tolist(), found.above.tolist(), strict=True)
        number = self.chosen_from.number
        choices = [
            {"indices": [number(int(j)) for j in row], "error": error, "above": above}
            for row, error, above in listed
        ]
        return {"within": found.within, "complete": found.complete, "choices": choices}

    @property
    def chosen(self) -> Chosen:
        """The chosen ones as a table."""
        together = None if self.summary is None else self.summary.together
        return Chosen(self.selection, self.chosen_from.words, together)

    def lines(self) -> Iterator[str]:
        """The result for a program that asked for JSON, for a pipe, or for a person."""
        found = self.found
        if self.arguments.json:
            yield json.dumps(self.record(), indent=2, ensure_ascii=True, allow_nan=False)
        elif not sys.stdout.isatty():
            yield from self.chosen.piped()
            if found is not None:
                yield from ("", "error\tabove\tchoice")
                for row, error, above in zip(found.rows, found.errors, found.above, strict=True):
                    names = "\t".join(printable(self.chosen_from.label(int(j))) for j in row)
                    yield f"{error:.6g}\t{above:.6g}\t{names}"
        else:
            yield ""
            words = self.chosen_from.words
            words = replace(words, measure=target_measure(words.measure, self.selection))
            terminal = Terminal.of(sys.stdout)
            yield from lines(self.selection, self.summary, words, terminal, most=LISTED)
            if found is not None:
                yield from ("", *(f"  {printable(line)}" for line in str(found).splitlines()))
            for path in filter(None, (self.arguments.out, self.arguments.report)):
                yield f"  written: {printable(path)}"


def _safe(names: Sequence[str], safe: bool) -> list[str]:
    """The names as they are, with a note when a spreadsheet would run one; or made harmless."""
    risky = [name for name in names if is_formula(name)]
    if risky and not safe:
        note(
            f"the name {risky[0][:40]!r} looks like a formula to a spreadsheet ({len(risky)} such "
            "names); --csv-safe puts ' before them"
        )
    return [harmless(name) for name in names] if safe else list(names)


def _write_text(
    file: BinaryIO, names: Sequence[str], columns: Sequence[Any], delimiter: str
) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*(map(_cell, column) for column in columns), strict=True))
    text.detach()


def _cell(value: Any) -> str:
    """A text, or a number with all the digits that distinguish it; empty for a missing one."""
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else str(value).removesuffix(".0")


def _write_parquet(file: BinaryIO, names: Sequence[str], columns: Sequence[Any]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise Failure(NO_OUTPUT, "writing parquet needs pyarrow: pip install pyarrow") from error
    arrays = [pa.array(column, from_pandas=True) for column in columns]
    pq.write_table(pa.Table.from_arrays(arrays, names=list(names)), file)


def finite_or_none(value: float) -> float | None:
    """A number for JSON, which has neither NaN nor infinity."""
    return value if math.isfinite(value) else None
