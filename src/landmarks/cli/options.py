"""A parser whose errors say what was probably meant, values of options, and those of a choice."""

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
