"""Words on a screen: names without control characters, tables with aligned columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

ESCAPE = re.compile(r"\033\[[0-9;]*m")  # our own colours; names contain no escape characters
#: control, direction, surrogates, private, line separators
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(name: object, width: int | None = None) -> str:
    """A name for a terminal, without characters that control it or change the direction."""
    text = "".join(
        "�" if unicodedata.category(letter) in HIDDEN else letter
        for letter in str(name)[: None if width is None else 4 * width]
    )
    return text if width is None or len(text) <= width else text[: width - 1] + "…"


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
