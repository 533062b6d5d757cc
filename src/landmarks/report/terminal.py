"""What a terminal shows: colour, bars, and the table of a selection."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from .._shown import aligned, printable
from .sentences import better

if TYPE_CHECKING:
    from ..selection import Selection
    from .overview import Summary

SHADES, ASCII_SHADES = " ░▒▓█", " .:+#"
USUAL = 80  # columns of a terminal


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
        columns = shutil.get_terminal_size((USUAL, 24)).columns if stream.isatty() else USUAL
        return cls(colour=colour, unicode=_can_encode(stream, SHADES), columns=columns)

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
    label : the name of a candidate by its place; kernel : the kernel in words, if there is one.
    """

    noun: str
    measure: str
    label: Callable[[int], str]
    title: str | None = None
    kernel: str | None = None

    def counted(self, k: int) -> str:
        """A number of candidates, in words."""
        return f"{k} {self.noun}{'' if k == 1 else 's'}"

    def these(self, k: int) -> str:
        """The chosen ones, in words."""
        return f"this {self.noun}" if k == 1 else f"these {self.counted(k)}"


def lines(
    selection: Selection, summary: Summary, words: Words, terminal: Terminal, *, most: int
) -> Iterator[str]:
    """The headline, the chosen ones with what they keep, and how that compares."""
    yield "  " + terminal.bold(headline(selection, summary.chosen, words))
    yield ""
    rows = list(_rows(selection, summary, words, terminal, most))
    yield from ("  " + line for line in aligned(rows, (True, False, False, True)))
    if selection.k > most:
        yield f"      … {selection.k - most} more"
    yield ""
    yield "  kept by"
    yield from compared(selection.k, summary, words, terminal)
    yield ""
    if summary.best is not None and (promise := better(selection)):
        yield "  " + promise
    yield "  " + terminal.dim(_made(selection, words))


def headline(selection: Selection, kept: float, words: Words) -> str:
    """How much the choice keeps, in one sentence."""
    of = "" if words.title is None else f" of {printable(words.title, 60)}"
    verb = "keeps" if selection.k == 1 else "keep"
    return (
        f"{selection.k} of {words.counted(selection.n)}{of} {verb} {share(kept)} of the "
        f"{words.measure}"
    )


def share(part: float) -> str:
    """A share in percent; less than all never prints as 100 %, more than nothing never as 0 %."""
    if 0.9995 <= part < 1 - 1e-12:
        return "over 99.9%"
    if 0 < part < 0.0005:
        return "under 0.1%"
    return f"{part:.1%}"


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


def _made(selection: Selection, words: Words) -> str:
    kernel = f" on {words.kernel}" if words.kernel else ""
    seconds, precision = selection.ledger.seconds, selection.ledger.precision
    made = f"by {selection.method}{kernel}, seed {selection.seed}, in {seconds:.2f} s"
    return made if precision in ("", "float64") else f"{made}, in {precision}"


def _rows(
    selection: Selection, summary: Summary, words: Words, terminal: Terminal, most: int
) -> Iterator[tuple[str, ...]]:
    """The chosen ones, with what they keep together with those above them."""
    together = summary.together
    yield "", words.noun, "", "" if together is None else "kept so far"
    name = max(12, min(44, terminal.columns - 40))
    for place, j in enumerate(selection.indices[:most]):
        shares = ("", "")
        if together is not None:
            part = float(together[place])
            shares = (terminal.bar(part, 20, chosen=True), f"{part:.1%}")
        yield str(place + 1), printable(words.label(int(j)), name), *shares
