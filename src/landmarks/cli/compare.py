"""`landmarks compare`: several methods on one file, as a table and a plot."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from .. import __version__
from .._shown import printable
from ..comparison import Comparison, compare, rank
from ..runs.bar import progress_bar
from . import source
from .outcome import OK, USAGE, check_outputs, failing, warnings_as_notes, written
from .source import Source

PLOTS = (".png", ".svg", ".pdf")
COLUMNS = ("method", "k", "relative_error", "factor", "seconds", "products", "skipped")


def run(arguments: argparse.Namespace) -> int:
    """Read, run the methods, draw, print."""
    check_outputs(("--plot", arguments.plot, PLOTS), force=arguments.force)
    with warnings_as_notes():
        chosen_from = source.load(arguments)
        with progress_bar(quiet=arguments.quiet):
            found = _compared(chosen_from, arguments)
        if arguments.plot:
            _draw(chosen_from, found, arguments)
    for line in _lines(chosen_from, found, arguments):
        print(line)
    return OK


def _compared(chosen_from: Source, arguments: argparse.Namespace) -> Comparison:
    """The result of each method for each k."""
    with failing(USAGE, ValueError, TypeError):
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


def _draw(chosen_from: Source, found: Comparison, arguments: argparse.Namespace) -> None:
    with failing(USAGE, ImportError):
        display = found.plot(noun=chosen_from.noun)
    with written(arguments.plot, force=arguments.force) as file:
        display.figure_.savefig(file, format=arguments.plot.lower().rsplit(".", 1)[-1], dpi=150)


def _lines(chosen_from: Source, found: Comparison, arguments: argparse.Namespace) -> Iterator[str]:
    """The table for a program that asked for JSON, for a pipe, or for a person."""
    if arguments.json:
        yield json.dumps(_record(chosen_from, found, arguments), indent=2, allow_nan=False)
    elif not sys.stdout.isatty():
        yield "\t".join(COLUMNS)
        for row in sorted(found.rows, key=rank):
            yield "\t".join(_cell(getattr(row, name)) for name in COLUMNS)
    else:
        data = printable(chosen_from.title, 60)
        yield f"\n  what each method keeps of the {chosen_from.measure} of {data}\n"
        yield from (f"  {line}" for line in str(found).splitlines())
        yield "\n  over best: the error over that of the best k directions"
        if arguments.plot:
            yield f"  written: {printable(arguments.plot)}"


def _record(
    chosen_from: Source, found: Comparison, arguments: argparse.Namespace
) -> dict[str, Any]:
    listed = []
    for row in found.rows:  # indices count from 0 as in the file
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
