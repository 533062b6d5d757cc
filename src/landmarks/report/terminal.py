"""What a terminal can show: colour, and more than ASCII."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

SHADES, ASCII_SHADES = " ░▒▓█", " .:+#"


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
