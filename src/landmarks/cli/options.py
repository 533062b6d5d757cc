"""Options: a parser whose errors say what was probably meant, and the options about a file."""

import argparse
import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

from ..errors import suggestion

HOW_MANY = (
    "say how many to choose: -k 10, -k 0.1 for a tenth, -k auto for the knee of the error curve, "
    "or --error 0.05 for the fewest that leave an error of 5 %"
)
Group = argparse.ArgumentParser | argparse._ArgumentGroup | argparse._MutuallyExclusiveGroup
KERNELS = ("rbf", "laplacian", "matern", "polynomial", "linear")


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
    """A whole number, a share between 0 and 1, or the word auto or held-out."""
    if text in ("auto", "held-out"):
        return text
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        if 0 < float(text) < 1:
            return float(text)
    raise argparse.ArgumentTypeError(
        f"k is a whole number, a share such as 0.1, or the word auto or held-out, got {text!r}"
    )


def image(text: str) -> tuple[int, int]:
    """Height and width, as in 8x8."""
    height, _, width = text.lower().partition("x")
    if not (height.isdigit() and width.isdigit() and int(height) and int(width)):
        raise argparse.ArgumentTypeError(f"a size of images is written as in 8x8, got {text!r}")
    return int(height), int(width)


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
    try:
        value = int(float(number) * factor)
    except (ValueError, OverflowError):
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(
            f"a size is a positive number of bytes such as 500M or 4G, got {text!r}"
        )
    return value


def width(text: str) -> float | str:
    """A positive number, or the word median."""
    if text == "median":
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(
            f"a width is a positive number or the word median, got {text!r}"
        )
    return value


def sizes(text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    if not all(entry.strip().isdigit() and int(entry) for entry in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"k is one positive whole number or several, as in 5,10,20; got {text!r}"
        )
    return tuple(sorted({int(entry) for entry in text.split(",")}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, how to read it, and how to prepare it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="csv, tsv, txt (also .gz), xlsx, npy, npz, mtx, parquet, arrow, feather, h5, h5ad, "
        "zarr; "
        "- reads standard input",
    )
    _add_reading(parser.add_argument_group("reading"))
    _add_preparing(parser.add_argument_group("preparing"))
    _add_rows(parser.add_argument_group("rows as candidates"))


def _add_reading(reading: Group) -> None:
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


def _add_preparing(preparing: Group) -> None:
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


def _add_rows(kernels: Group) -> None:
    option(kernels, "--rows", "choose rows that best represent all rows")
    option(kernels, "--kernel", "choose rows as landmarks of this kernel", choices=KERNELS)
    text = "width of the kernel (default: the median distance in a sample of rows)"
    option(kernels, "--sigma WIDTH", text, type=width, default="median")
    text = "smoothness of the Matérn kernel: 0.5, 1.5 or 2.5 (default 1.5)"
    option(kernels, "--nu", text, type=float, default=1.5)
    text = "degree of the polynomial kernel (default 3)"
    option(kernels, "--degree", text, type=int, default=3)
