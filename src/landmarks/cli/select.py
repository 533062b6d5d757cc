"""`landmarks select`: the columns of a file, or its rows, that best represent the others."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import report
from .._select import select
from ..errors import FormatError, UnknownColumnError
from ..methods.greedy.supervised import Supervised
from ..objectives import Columns
from ..report import Summary
from ..report.overview import target_measure
from ..report.terminal import Terminal, lines, printable
from ..runs.bar import progress_bar
from ..selection import Selection
from . import source, write
from .outcome import BAD_DATA, NO_OUTPUT, OK, USAGE, Failure, check_outputs, warnings_as_notes
from .source import Source
from .write import record

AS_GIVEN = (
    "criterion",
    "seed",
    "budget",
    "noise",
    "error",
    "budget_cost",
)  # `select` takes them so
LISTED = 200  # the most chosen columns that are printed


def run(arguments: argparse.Namespace) -> int:
    """Read, choose, write, print."""
    check_outputs(arguments.out, arguments.report, force=arguments.force)
    _check_endings(arguments)
    with warnings_as_notes():
        chosen_from = source.load(arguments)
        _check_image(chosen_from, arguments)
        source.coordinates(chosen_from, arguments)  # refused before the work
        with progress_bar(quiet=arguments.quiet):
            selection = choose(chosen_from, arguments)
            summary = report.summarise(selection)
        if arguments.out:
            write.write_out(chosen_from, selection, summary, arguments)
        if arguments.report:
            write.write_report(chosen_from, selection, summary, arguments)
    for line in _lines(chosen_from, selection, summary, arguments):
        print(line)
    return OK


def choose(chosen_from: Source, arguments: argparse.Namespace) -> Selection:
    """The selection that the arguments ask for; a request that cannot be met is a usage error."""
    try:
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
    except FormatError as error:
        raise Failure(
            USAGE if isinstance(error, UnknownColumnError) else BAD_DATA, str(error)
        ) from error
    except OSError as error:
        raise Failure(
            NO_OUTPUT, f"{arguments.checkpoint} cannot be used: {error.strerror or error}"
        ) from error
    except (ValueError, TypeError) as error:
        raise Failure(USAGE, str(error)) from error


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


def _check_endings(arguments: argparse.Namespace) -> None:
    if arguments.out and not arguments.out.lower().endswith(write.ENDINGS):
        raise Failure(
            USAGE,
            f"the file of --out must end in one of {', '.join(write.ENDINGS)}, "
            f"got {arguments.out!r}",
        )
    if arguments.report and not arguments.report.lower().endswith((".html", ".htm")):
        raise Failure(USAGE, f"the file of --report must end in .html, got {arguments.report!r}")
    if arguments.report and find_spec("jinja2") is None:
        raise Failure(USAGE, "a report needs Jinja2: pip install jinja2")


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


def _lines(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> Iterator[str]:
    """The result for a program that asked for JSON, for a pipe, or for a person."""
    if arguments.json:
        yield json.dumps(
            record(chosen_from, selection, summary, arguments),
            indent=2,
            ensure_ascii=True,
            allow_nan=False,
        )
    elif not sys.stdout.isatty():
        yield from _for_a_pipe(chosen_from, selection, summary)
    else:
        yield ""
        words = replace(chosen_from.words, measure=_measure(chosen_from, selection))
        yield from lines(selection, summary, words, Terminal.of(sys.stdout), most=LISTED)
        for path in filter(None, (arguments.out, arguments.report)):
            yield f"  written: {printable(path)}"


def _for_a_pipe(chosen_from: Source, selection: Selection, summary: Summary) -> Iterator[str]:
    """Tab-separated: place in the order of choice, index, name, what is kept up to here."""
    yield "place\tindex\tname\tkept"
    for place, j in enumerate(selection.indices):
        kept = "" if summary.together is None else f"{summary.together[place]:.6g}"
        number, label = chosen_from.number(int(j)), printable(chosen_from.label(int(j)))
        yield f"{place + 1}\t{number}\t{label}\t{kept}"


def _measure(chosen_from: Source, selection: Selection) -> str:
    if selection.objective.depth == 1:
        return target_measure(chosen_from.measure, selection)
    return "squared norm of the kernel matrix"
