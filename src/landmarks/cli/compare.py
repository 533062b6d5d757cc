"""`landmarks compare`: several methods on one file, as a table and a plot."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from .. import __version__
from .._shown import aligned, printable
from ..comparison import Comparison, Row, compare, rank
from ..errors import UnsupportedError, suggestion
from ..methods.registry import METHODS
from ..report.terminal import Terminal
from ..runs.bar import progress_bar
from . import source
from .outcome import OK, USAGE, Failure, check_outputs, warnings_as_notes, written
from .source import Source

PLOTS = (".png", ".svg", ".pdf")
COLUMNS = ("method", "k", "relative_error", "factor", "seconds", "products", "skipped")


def run(arguments: argparse.Namespace) -> int:
    """Read, run the methods, draw, print."""
    check_outputs(arguments.plot, force=arguments.force)
    _check_arguments(arguments)
    with warnings_as_notes():
        chosen_from = source.load(arguments)
        with progress_bar(quiet=arguments.quiet):
            found = _compared(chosen_from, arguments)
        if arguments.plot:
            _draw(chosen_from, found, arguments)
    for line in _lines(chosen_from, found.rows, arguments):
        print(line)
    return OK


def _check_arguments(arguments: argparse.Namespace) -> None:
    if unknown := [method for method in arguments.methods if method not in METHODS]:
        close = suggestion(unknown[0], METHODS)
        raise Failure(
            USAGE, f"there is no method {unknown[0]!r}; the methods are {', '.join(METHODS)}{close}"
        )
    if arguments.plot and not arguments.plot.lower().endswith(PLOTS):
        raise Failure(
            USAGE,
            f"the file of --plot must end in one of {', '.join(PLOTS)}, got {arguments.plot!r}",
        )


def _compared(chosen_from: Source, arguments: argparse.Namespace) -> Comparison:
    """The result of each method for each k."""
    try:
        return compare(
            chosen_from.operator,
            list(arguments.k),
            methods=arguments.methods,
            criterion=arguments.criterion,
            seed=arguments.seed,
            budget=arguments.budget,
            include=chosen_from.positions(arguments.include),
            exclude=chosen_from.positions(arguments.exclude),
        )
    except (ValueError, UnsupportedError) as error:
        raise Failure(USAGE, str(error)) from error


def _draw(chosen_from: Source, found: Comparison, arguments: argparse.Namespace) -> None:
    try:
        display = found.plot(noun=chosen_from.noun)
    except ImportError as error:
        raise Failure(USAGE, str(error)) from error
    with written(arguments.plot, force=arguments.force) as file:
        display.figure_.savefig(file, format=arguments.plot.lower().rsplit(".", 1)[-1], dpi=150)


def _lines(
    chosen_from: Source, rows: Sequence[Row], arguments: argparse.Namespace
) -> Iterator[str]:
    if arguments.json:
        yield json.dumps(_record(chosen_from, rows, arguments), indent=2, allow_nan=False)
    elif not sys.stdout.isatty():
        yield "\t".join(COLUMNS)
        for row in sorted(rows, key=rank):
            yield "\t".join(_cell(getattr(row, name)) for name in COLUMNS)
    else:
        yield from _for_a_person(Terminal.of(sys.stdout), chosen_from, rows)
        if arguments.plot:
            yield f"  written: {printable(arguments.plot)}"


def _record(
    chosen_from: Source, rows: Sequence[Row], arguments: argparse.Namespace
) -> dict[str, Any]:
    listed = []
    for row in rows:  # indices count from 0 as in the file
        numbers = row.indices and [chosen_from.number(j) for j in row.indices]
        listed.append(asdict(row) | {"indices": numbers})
    return {
        "schema": "landmarks/compare/1",
        "version": __version__,
        "data": chosen_from.described,
        "criterion": arguments.criterion,
        "seed": arguments.seed,
        "rows": listed,
        "command": arguments.command_line,
    }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def _for_a_person(terminal: Terminal, chosen_from: Source, rows: Sequence[Row]) -> Iterator[str]:
    """A table for each k, the best first, with what the choices keep as bars."""
    for k in sorted({row.k for row in rows}):
        known = (row for row in rows if row.k == k and row.relative_error is not None)
        ran = sorted(known, key=rank)
        yield ""
        n, data = chosen_from.operator.n, printable(chosen_from.title, 60)
        title = f"{k} of {n} {chosen_from.noun}s of {data}"
        yield "  " + terminal.bold(
            f"{title}: the part of the {chosen_from.measure} that each method keeps"
        )
        yield ""
        cells = [("method", "kept", "", "over best", "seconds")]
        cells += [
            (
                row.method,
                f"{_kept(row):.2%}",
                terminal.bar(_kept(row), 30, chosen=row is ran[0]),
                "" if row.factor is None else f"{row.factor:.3f}",
                f"{row.seconds or 0:.2f}",
            )
            for row in ran
        ]
        yield from ("  " + line for line in aligned(cells, (False, True, False, True, True)))
        yield from (
            f"  {row.method}: {printable(row.skipped)}"
            for row in rows
            if row.k == k and row.skipped
        )
    yield ""
    directions = "k" if len({row.k for row in rows}) > 1 else rows[0].k
    yield "  " + terminal.dim(f"over best: the error over that of the best {directions} directions")


def _kept(row: Row) -> float:
    return 1 - (row.relative_error or 0.0)
