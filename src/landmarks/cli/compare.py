"""`landmarks compare`: several methods on one file, as a table and a plot."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..report.screen import aligned, printable
from ..report.terminal import Terminal
from ..runs.bar import shown
from . import source
from .outcome import CODES, OK, USAGE, Failure
from .output import check_outputs, written
from .screen import warnings_as_notes
from .select import add_choice_arguments, choose

if TYPE_CHECKING:
    from .source import Source

METHODS = "auto,annealed,swap,greedy,nuclear,pivoted_qr,leverage,rpcholesky,uniform"
PLOTS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Row:
    """How one method did for one k; skipped says why one could not run."""

    method: str
    k: int
    relative_error: float | None
    factor: float | None
    seconds: float | None
    products: int | None
    indices: tuple[int, ...] | None
    skipped: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """For which k, by which methods, and where the result goes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = CODES
    parser.add_argument(
        "--k", type=sizes, required=True, help="how many to choose; several give curves: 5,10,20"
    )
    parser.add_argument(
        "--methods",
        metavar="NAMES",
        type=source.listed,
        default=source.listed(METHODS),
        help=f"(default {METHODS})",
    )
    add_choice_arguments(parser)
    source.add_arguments(parser)
    results = parser.add_argument_group("results")
    results.add_argument("--plot", metavar="FILE", help="draw the errors: png, svg or pdf")
    results.add_argument("--json", action="store_true", help="print the table as JSON")
    results.add_argument("--force", action="store_true", help="replace files that exist")
    results.add_argument("--quiet", action="store_true", help="no progress bar")


def sizes(text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    if not all(entry.strip().isdigit() and int(entry) for entry in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"k is one positive whole number or several, as in 5,10,20; got {text!r}"
        )
    return tuple(sorted({int(entry) for entry in text.split(",")}))


def run(arguments: argparse.Namespace) -> int:
    """Read, run the methods, draw, tell."""
    check_outputs(arguments.plot, force=arguments.force)
    _check_wishes(arguments)
    with warnings_as_notes():
        chosen_from = source.load(arguments)
        _check_sizes(chosen_from, arguments)
        with shown(quiet=arguments.quiet):
            rows = [
                _row(chosen_from, arguments, method, k)
                for k in arguments.k
                for method in arguments.methods
            ]
        if arguments.plot:
            _draw(chosen_from, rows, arguments)
    for line in _lines(chosen_from, rows, arguments):
        print(line)
    return OK


def _check_wishes(arguments: argparse.Namespace) -> None:
    from ..methods.registry import METHODS as KNOWN

    if unknown := [method for method in arguments.methods if method not in KNOWN]:
        raise Failure(
            USAGE, f"there is no method {unknown[0]!r}; the methods are {', '.join(KNOWN)}"
        )
    if arguments.plot and not arguments.plot.lower().endswith(PLOTS):
        raise Failure(
            USAGE,
            f"--plot tells the format by its ending, one of {', '.join(PLOTS)}; got {arguments.plot!r}",
        )


def _check_sizes(chosen_from: Source, arguments: argparse.Namespace) -> None:
    if (k := max(arguments.k)) > chosen_from.operator.n:
        raise Failure(USAGE, f"k must be between 1 and n = {chosen_from.operator.n}, got {k}")


def _row(chosen_from: Source, arguments: argparse.Namespace, method: str, k: int) -> Row:
    """What one method does, or why it cannot."""
    from .record import factor, finite

    try:
        selection = choose(
            chosen_from,
            argparse.Namespace(
                **vars(arguments) | {"k": k, "method": method, "error": None, "checkpoint": None}
            ),
        )
    except Failure as failure:
        return Row(method, k, None, None, None, None, None, skipped=str(failure))
    cost = selection.ledger
    indices = tuple(int(j) for j in selection.indices)
    return Row(
        method,
        k,
        finite(selection.relative_error()),
        factor(selection),
        cost.seconds,
        cost.products,
        indices,
    )


def _draw(chosen_from: Source, rows: list[Row], arguments: argparse.Namespace) -> None:
    from ..plots.comparison import ComparisonDisplay

    errors: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.relative_error is not None:
            errors.setdefault(row.method, {})[row.k] = row.relative_error
    try:
        display = ComparisonDisplay(errors, noun=chosen_from.noun).plot()
    except ImportError as error:
        raise Failure(USAGE, str(error)) from error
    with written(arguments.plot, force=arguments.force) as file:
        display.figure_.savefig(file, format=arguments.plot.lower().rsplit(".", 1)[-1], dpi=150)


def _lines(chosen_from: Source, rows: list[Row], arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.json:
        yield json.dumps(_record(chosen_from, rows, arguments), indent=2, allow_nan=False)
    elif not sys.stdout.isatty():
        yield "method\tk\trelative_error\tfactor\tseconds\tproducts\tskipped"
        yield from ("\t".join(_cell(value) for value in _values(row)) for row in rows)
    else:
        yield from _for_a_person(Terminal.of(sys.stdout), chosen_from, rows)
        if arguments.plot:
            yield f"  written: {printable(arguments.plot)}"


def _record(chosen_from: Source, rows: list[Row], arguments: argparse.Namespace) -> dict[str, Any]:
    from .record import described

    return {
        "schema": "landmarks/compare/1",
        "version": __version__,
        "data": described(chosen_from),
        "criterion": arguments.criterion,
        "seed": arguments.seed,
        "rows": [asdict(row) for row in rows],
        "command": arguments.command_line,
    }


def _values(row: Row) -> tuple[Any, ...]:
    return row.method, row.k, row.relative_error, row.factor, row.seconds, row.products, row.skipped


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else printable(value)


def _for_a_person(terminal: Terminal, chosen_from: Source, rows: list[Row]) -> Iterator[str]:
    """A table for each k, the best first, with what the choices keep as bars."""
    for k in sorted({row.k for row in rows}):
        ran = sorted(
            (row for row in rows if row.k == k and row.relative_error is not None),
            key=lambda row: row.relative_error or 0.0,
        )
        yield ""
        title = f"{k} of {chosen_from.operator.n} {chosen_from.noun}s of {printable(chosen_from.title, 60)}"
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
                _ratio(row),
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


def _ratio(row: Row) -> str:
    return "" if row.factor is None else f"{row.factor:.3f}"
