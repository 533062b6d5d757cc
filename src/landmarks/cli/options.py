"""A parser whose errors say what was probably meant, and the values of options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn

from .._suggest import suggestion

HOW_MANY = (
    "say how many to choose: -k 10, -k 0.1 for a tenth, -k auto for the knee of the error curve, "
    "or --error 0.05 for the fewest that leave an error of 5 %"
)


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
