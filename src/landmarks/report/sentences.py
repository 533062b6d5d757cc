"""The sentences of the page: they hold for good and poor results, for one column and for all."""

from __future__ import annotations

from ..selection import Selection
from .better import better
from .summary import Summary
from .words import percent, plural

POOR = 0.5  # the page says so if a choice keeps less
CRITERIA = {
    "trace": "the squared error of rebuilding everything",
    "frobenius": "the squared error of the kernel matrix",
}


def meaning(selection: Selection, summary: Summary, noun: str, measure: str) -> str:
    """What the headline means, in a sentence or two."""
    k, n = selection.k, selection.n
    if k == n:
        return f"All {plural(n, noun)} were chosen, so nothing is lost."
    kept, left = percent(summary.chosen), n - k
    who = f"This {noun} reproduces" if k == 1 else f"Together these {k} {noun}s reproduce"
    others = f"all {plural(n, noun)}"
    if summary.chosen < POOR:
        rest = "the other one carries" if left == 1 else f"the other {left} carry"
        return (
            f"{who} only {kept} of the {measure} of {others}: {rest} much that is not in the "
            "choice. Choose more, or expect to lose it."
        )
    return f"{who} {kept} of the {measure} of {others}."


def limit(selection: Selection, summary: Summary) -> str:
    """How much better another choice could be; empty where the bound would cost too much."""
    if summary.best is None and not selection.proved:
        return ""
    return better(selection, space="\u202f")
