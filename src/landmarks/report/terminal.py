"""What a terminal can show: colour, safe names, and tables with aligned columns."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from .._shown import printable

__all__ = ["Terminal", "aligned", "printable"]

SHADES, ASCII_SHADES = " ░▒▓█", " .:+#"
ESCAPE = re.compile(r"\033\[[0-9;]*m")  # our own colours; names contain no escape characters


@dataclass(frozen=True)
class Terminal:
    """Whether to use colour, and whether to use more than ASCII."""

    colour: bool = False
    unicode: bool = True

    @classmethod
    def of(cls, stream: TextIO) -> Terminal:
        """What the stream can take; colour only on a terminal and without NO_COLOR."""
        colour = (
            stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )
        return cls(colour=colour, unicode=_can_encode(stream, SHADES))

    def bold(self, text: str) -> str:
        """The text, set off from the rest where colour is allowed."""
        return f"\033[1;36m{text}\033[0m" if self.colour else text

    def dim(self, text: str) -> str:
        """The text, set back where colour is allowed."""
        return f"\033[90m{text}\033[0m" if self.colour else text

    def shade(self, part: float) -> str:
        """A character as dark as the part from 0 to 1."""
        shades = SHADES if self.unicode else ASCII_SHADES
        return shades[min(len(shades) - 1, int(part * len(shades)))]

    def bar(self, part: float, width: int = 40, *, chosen: bool = False) -> str:
        """A bar that fills the part from 0 to 1 of the width, in colour for what was chosen."""
        full = round(part * width)
        filled = self.shade(1.0) * full
        empty = ("·" if self.unicode else ".") * (width - full)
        if not self.colour:
            return filled + empty
        code = 36 if chosen else 37
        return f"\033[{code}m{filled}\033[0m{self.dim(empty)}"


def _can_encode(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """The rows as lines, each column as wide as its widest cell."""
    widths = [max(_width(row[j]) for row in rows) for j in range(len(right))]
    for row in rows:
        cells = (
            _padded(cell, width, side) for cell, width, side in zip(row, widths, right, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """The width of a text on a terminal: 2 for wide letters, 0 for combining marks."""
    text = ESCAPE.sub("", text)
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space
