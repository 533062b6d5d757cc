"""The command `landmarks`: parse, run the command, turn errors into an exit code and a message.

The parser suggests what was probably meant; the options of all commands are listed here.

Exit codes: 0 done; 2 usage error; 3 the data cannot be used; 4 the output cannot be written; 130
interrupted.
"""

import argparse
import csv
import math
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from .. import __doc__ as purpose
from .. import __version__
from .._shown import printable
from ..errors import suggestion
from ..methods.registry import COMPARED, METHODS
from .outcome import BAD_DATA, CODES, OK, Failure

HOW_MANY = (
    "say how many to choose: -k 10, -k 0.1 for a tenth, -k auto for the knee of the error curve, "
    "or --error 0.05 for the fewest that leave an error of 5 %"
)
Group = argparse.ArgumentParser | argparse._ArgumentGroup | argparse._MutuallyExclusiveGroup
CRITERIA = ("trace", "frobenius", "logdet")  # those of `landmarks.objectives`, which loads slowly
KERNELS = ("rbf", "laplacian", "matern", "polynomial", "linear")
NAMES = ", ".join([*METHODS, "supervised"])  # supervised needs --target
EXAMPLES = {
    "select": """examples:
  landmarks select my.csv -k 10 --standardize
  landmarks select my.csv -k 0.1 --id name --numeric-only -o chosen.csv
  landmarks select my.xlsx --error 0.05 --center --scale --report page.html
  landmarks select points.npy -k 50 --kernel rbf
""",
    "compare": """examples:
  landmarks compare my.csv -k 10 --standardize
  landmarks compare my.csv -k 5,10,20 --methods greedy,swap,uniform --plot errors.png
""",
    "demo": """example:
  landmarks demo
""",
    "info": """example:
  landmarks info
""",
}

# Each has its options below, and a module with run(arguments) -> exit code, which is imported on
# use: `--help` loads no array library.
COMMANDS = {
    "select": "choose columns of a file, or landmarks among its rows",
    "compare": "run several methods on a file and compare their errors",
    "demo": "show two examples: 20 of 64 pixels of digits, and 5 of 30 measurements",
    "info": "versions, devices, threads, and whether searches are compiled",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if words is None else words)
    parsed = parser().parse_args(words)
    parsed.command_line = shlex.join(["landmarks", *words])
    try:
        code = import_module(f".{parsed.command}", __package__).run(parsed)
        sys.stdout.flush()
        return code
    except Failure as failure:
        print(f"landmarks: {printable(failure)}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        checkpoint = getattr(parsed, "checkpoint", None)
        rest = f"{printable(checkpoint)} keeps the run" if checkpoint else "nothing was written"
        print(f"landmarks: interrupted; {rest}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (ValueError, OSError, ImportError) as error:  # their messages say what to do
        print(f"landmarks: {printable(error)}", file=sys.stderr)
        return BAD_DATA


def parser() -> argparse.ArgumentParser:
    """The parser of the command."""
    top = Parser(
        prog="landmarks",
        description=purpose,
        epilog="landmarks COMMAND --help shows the options of a command, with examples.",
    )
    top.add_argument("--version", action="version", version=f"landmarks {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {
        name: commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog=EXAMPLES[name],
        )
        for name, summary in COMMANDS.items()
    }
    _options_of_select(parsers["select"])
    _options_of_compare(parsers["compare"])
    text = "seed of the random choices (default 0)"
    option(parsers["demo"], "--seed", text, type=int, default=0)
    return top


def _options_of_select(parser: argparse.ArgumentParser) -> None:
    """How many to choose, how, from which file, and where the result goes."""
    parser.epilog = f"{parser.epilog}\n{CODES}"
    many = parser.add_mutually_exclusive_group(required=True)
    text = (
        "how many to choose: a number, a share such as 0.1, auto for the knee of the error "
        "curve, or held-out for the fewest whose error on held-out rows is within a standard error "
        "of the lowest, which may be many"
    )
    option(many, "-k --k", text, type=number)
    text = "choose the fewest whose relative error is at most this, such as 0.05"
    option(many, "--error", text, type=float)
    _add_choice(parser)
    text = "rebuild these columns; only the others are candidates"
    option(parser, "--target-columns NAMES", text, **LISTED)
    text = (
        "variance of the measurement noise in the units of K = X'X: the number of rows times the "
        "variance of one value"
    )
    option(parser, "--noise VARIANCE", text, type=float)
    text = "labels a,b,a,… or a file with one per line: columns of one label are chosen together"
    option(parser, "--groups LABELS", text)
    text = "costs 1,5,2,… or a file with one per line; needs --budget-cost"
    option(parser, "--costs COSTS", text)
    text = "the most that the choice may cost"
    option(parser, "--budget-cost COST", text, type=float)
    places = parser.add_argument_group("places")
    text = "positions of the candidates, one line for each, in order; the report then has maps"
    option(places, "--coordinates FILE", text)
    text = "minimum distance between chosen places, in the units of --coordinates"
    option(places, "--min-distance DISTANCE", text, type=float)
    option(parser, "--method", f"one of {NAMES} (default auto)", default="auto")
    text = "save the run to this file; after a crash or Ctrl-C the same command continues it"
    option(parser, "--checkpoint FILE", text)
    add_arguments(parser)
    results = parser.add_argument_group("results")
    text = (
        "write the chosen columns (csv, tsv, parquet), the record (json) or the selection (npz) "
        "to this file"
    )
    option(results, "-o --out FILE", text)
    option(results, "--report PAGE.html", "write one HTML page with all results")
    text = "in the report: the columns are the pixels of images of this size, such as 8x8"
    option(results, "--image HxW", text, type=image)
    text = (
        "list every choice whose error is within this share of the best, such as 1%%; for logdet "
        "within so many nats"
    )
    option(results, "--alternatives SHARE", text, type=share)
    option(results, "--json", "print the record as JSON")
    option(results, "--force", "replace files that exist")
    text = "in csv files put ' before names that look like formulas to a spreadsheet"
    option(results, "--csv-safe", text)
    option(results, "-q --quiet", "no progress bar")


def _options_of_compare(parser: argparse.ArgumentParser) -> None:
    """For which k, by which methods, and where the result goes."""
    parser.epilog = f"{parser.epilog}\n{CODES}"
    text = "how many to choose; several give curves: 5,10,20"
    option(parser, "-k --k", text, type=sizes, required=True)
    text = f"methods to compare (default {','.join(COMPARED)})"
    option(parser, "--methods NAMES", text, type=listed, default=COMPARED)
    _add_choice(parser)
    add_arguments(parser)
    results = parser.add_argument_group("results")
    option(results, "--plot FILE", "draw the errors: png, svg or pdf")
    option(results, "--json", "print the table as JSON")
    option(results, "--force", "replace files that exist")
    option(results, "-q --quiet", "no progress bar")


def _add_choice(parser: Group) -> None:
    """The criterion, the seed, the budget and the constraints."""
    text = (
        "what to minimise: the trace (default) or the squared Frobenius norm of K - K^; logdet "
        "maximises the log determinant of the chosen part of K"
    )
    option(parser, "--criterion", text, choices=CRITERIA, default="trace")
    text = "the same seed gives the same choice (default 0)"
    option(parser, "--seed", text, type=int, default=0)
    text = "time that a method may spend on improving its choice"
    option(parser, "--budget SECONDS", text, type=float)
    text = "columns that must be chosen: names, or numbers counted from 0 as in the file"
    option(parser, "--include NAMES", text, **LISTED)
    option(parser, "--exclude NAMES", "columns that must not be chosen", **LISTED)


def option(group: Group, names: str, text: str, **more: Any) -> None:
    """Add an option with its help: "--out FILE" takes a value, "--force" alone is yes or no."""
    words = names.split()
    if not words[-1].startswith("-"):
        more["metavar"] = words.pop()
    elif not more:
        more["action"] = "store_true"
    group.add_argument(*words, help=text, **more)


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest option, command or choice for a misspelt one."""

    def error(self, message: str) -> NoReturn:
        """End the program with the message, and what was probably meant."""
        if "--error" in message and "required" in message:
            message = HOW_MANY
        super().error(message + self._meant(message))

    def _meant(self, message: str) -> str:
        if choice := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            return suggestion(choice[1], re.findall(r"[\w.-]+", choice[2]))
        if unknown := re.search(r"unrecognized arguments: .*?(--?[\w-]+)", message):
            return suggestion(unknown[1], self._options())
        return ""

    def _options(self) -> Iterator[str]:
        """All options of this parser and of the commands below it."""
        yield from self._option_string_actions
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    yield from parser._option_string_actions


def number(text: str) -> int | float | str:
    """A number, or the word that the library is to understand."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def sizes(text: str) -> tuple[int | float | str, ...]:
    """Numbers separated by commas."""
    return tuple(map(number, text.split(",")))


def image(text: str) -> tuple[int, int]:
    """Height and width, as in 8x8."""
    height, _, width = text.lower().partition("x")
    if not (height.isdigit() and width.isdigit() and int(height) and int(width)):
        raise argparse.ArgumentTypeError(f"a size of images is written as in 8x8, got {text!r}")
    return int(height), int(width)


def as_number(text: str) -> float:
    """The number, or NaN, which no range holds."""
    with suppress(ValueError):
        return float(text)
    return math.nan


def share(text: str) -> float:
    """A share such as 0.01 or 1%."""
    value = as_number(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"a share is written as 1% or 0.01, got {text!r}")
    return value


def listed(text: str) -> tuple[str, ...]:
    """The entries of a comma-separated list; one that holds a comma is quoted."""
    return tuple(
        entry.strip()
        for entry in next(csv.reader([text], skipinitialspace=True), [])
        if entry.strip()
    )


LISTED: dict[str, Any] = {"type": listed, "default": ()}  # of an option with a list of names


def size(text: str) -> int:
    """A number of bytes, such as 500M or 4G."""
    factors = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
    number, factor = text, 1
    if text[-1:].lower() in factors:
        number, factor = text[:-1], factors[text[-1].lower()]
    value = as_number(number) * factor
    if not 1 <= value < math.inf:
        raise argparse.ArgumentTypeError(
            f"a size is a positive number of bytes such as 500M or 4G, got {text!r}"
        )
    return int(value)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, how to read it, and how to prepare it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="csv, tsv, txt (also .gz), xlsx, npy, npz, mtx, parquet, arrow, feather, h5, h5ad, "
        "zarr; - reads standard input",
    )
    reading = parser.add_argument_group("reading")
    text = "read only these columns: names such as a,b,'c,d', or numbers counted from 0"
    option(reading, "--columns NAMES", text, **LISTED)
    option(reading, "--drop NAMES", "leave these columns out", **LISTED)
    text = "column with the names of the rows: printed and written, never a candidate"
    option(reading, "--id COLUMN", text)
    text = "column to predict: written, never a candidate; --method supervised uses it"
    option(reading, "--target COLUMN", text)
    text = "leave out columns of text or dates instead of raising an error"
    option(reading, "--numeric-only", text)
    option(reading, "--format FORMAT", "file format, if the file name does not show it")
    text = "whether the first line of a text file holds names (default auto)"
    option(reading, "--header", text, choices=("auto", "yes", "no"), default="auto")
    text = "delimiter of a text file: , ; tab or | (default: detected)"
    option(reading, "--delimiter SIGN", text)
    text = "decimal sign of a text file (default: detected)"
    option(reading, "--decimal", text, choices=(".", ","))
    text = "sign between thousands in a text file: , . or another (default: none)"
    option(reading, "--thousands SIGN", text)
    text = "what stands for a missing value in a text file besides NA and the like: k.A.,-999"
    option(reading, "--na-values WORDS", text, **LISTED)
    option(reading, "--encoding ENCODING", "encoding of a text file (default: UTF-8, else Latin-1)")
    text = "which array of an npz or Zarr file, layer of an h5ad file, or sheet of an xlsx file"
    option(reading, "--array NAME", text)
    text = (
        "memory for the file (default 1G): larger npy, parquet, arrow, h5 and zarr files are read "
        "in blocks of rows, others are refused"
    )
    option(reading, "--max-bytes SIZE", text, type=size, default=2**30)
    preparing = parser.add_argument_group("preparing")
    text = "short for --center --scale: give every column mean 0 and variance 1"
    option(preparing, "--standardize", text)
    option(preparing, "--center", "give every column mean 0")
    text = "divide every column by its standard deviation; --no-scale: neither scale nor warn"
    option(preparing, "--scale", text, action=argparse.BooleanOptionalAction)
    text = (
        "missing values: stop with an error (default), drop the rows that have one, impute the "
        "mean of the column, or use all pairwise complete values"
    )
    ways = ("error", "drop", "impute", "pairwise")
    option(preparing, "--missing", text, choices=ways, default="error")
    kernels = parser.add_argument_group("rows as candidates")
    option(kernels, "--rows", "choose rows that best represent all rows")
    option(kernels, "--kernel", "choose rows as landmarks of this kernel", choices=KERNELS)
    text = "width of the kernel (default: the median distance in a sample of rows)"
    option(kernels, "--sigma WIDTH", text, type=number, default="median")
    text = "smoothness of the Matérn kernel: 0.5, 1.5 or 2.5 (default 1.5)"
    option(kernels, "--nu", text, type=float, default=1.5)
    text = "degree of the polynomial kernel (default 3)"
    option(kernels, "--degree", text, type=int, default=3)
