"""What a terminal shows: colour, bars, and the words for a choice and what it keeps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from .._shown import USUAL as USUAL
from .._shown import columns_of, printable
from .sentences import percent

if TYPE_CHECKING:
    from ..selection import Selection
    from .overview import Summary

SHADES, ASCII_SHADES = " ░▒▓█", " .:+#"


@dataclass(frozen=True)
class Terminal:
    """Whether to use colour, whether to use more than ASCII, and how wide it is."""

    colour: bool = False
    unicode: bool = True
    columns: int = USUAL

    @classmethod
    def of(cls, stream: TextIO) -> Terminal:
        """What the stream can take; colour only on a terminal and without NO_COLOR."""
        colour = (
            stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )
        return cls(colour, _can_encode(stream, SHADES), columns_of(stream))

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
        """A bar that fills the part from 0 to 1 of the width, in colour for what was chosen.

        In a narrow terminal it is shorter, so that lines do not wrap.
        """
        width = min(width, max(4, width - (USUAL - self.columns)))
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


@dataclass(frozen=True)
class Words:
    """The words for the data and their candidates.

    title : the name of the data; noun : what one candidate is; measure : what a choice keeps;
    label, number : the name of a candidate by its place, and its number as the user counts.
    kernel : the kernel in words, if there is one.
    """

    noun: str
    measure: str
    label: Callable[[int], str]
    title: str | None = None
    kernel: str | None = None
    number: Callable[[int], int] = int

    @property
    def of(self) -> str:
        """Of which data, if they have a name."""
        return "" if self.title is None else f" of {printable(self.title, 60)}"

    def counted(self, k: int) -> str:
        """A number of candidates, in words."""
        return f"{k} {self.noun}{'' if k == 1 else 's'}"

    def these(self, k: int) -> str:
        """The chosen ones, in words."""
        return f"this {self.noun}" if k == 1 else f"these {self.counted(k)}"


def headline(selection: Selection, kept: float, words: Words) -> str:
    """How much the choice keeps, in one sentence."""
    verb = "keeps" if selection.k == 1 else "keep"
    return (
        f"{selection.k} of {words.counted(selection.n)}{words.of} {verb} {percent(kept)} of the "
        f"{words.measure}"
    )


def compared(k: int, summary: Summary, words: Words, terminal: Terminal) -> Iterator[str]:
    """Bars: what the choice keeps, random choices, and the best directions."""
    for what, part, chosen in comparisons(k, summary, words):
        yield f"  {what:28s} {terminal.bar(part, chosen=chosen)} {part:6.1%}"


def comparisons(k: int, summary: Summary, words: Words) -> list[tuple[str, float, bool]]:
    """What the choice, random choices and the best directions keep, and whether it was chosen."""
    kept = [(words.these(k), summary.chosen, True)]
    kept.append((f"{words.counted(k)} at random", summary.random, False))
    if summary.best is not None:
        directions = "direction" if k == 1 else "directions"
        kept.append((f"any {k} {directions}, at best", summary.best, False))
    return kept
