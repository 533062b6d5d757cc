"""A parser whose errors say what was probably meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
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
