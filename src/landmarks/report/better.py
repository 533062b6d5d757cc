"""How much better another choice could be, in one sentence that holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..selection import Selection

USELESS = 0.995  # a gap above which nothing is said
LEAST = 1e-5  # the smallest gap that is shown


def better(selection: Selection, *, space: str = "") -> str:
    """How much better another choice could be; empty where all are chosen or nothing is known.

    Better means a smaller error. The bound must be known already, or cheap.
    """
    repeats = selection.aim is not None and selection.aim.repeats
    if selection.k == selection.n and not repeats:
        return ""
    if selection.n - len(selection.exclude) == selection.k and not repeats:
        return "The constraints leave no other choice."
    if selection.proved:
        return f"This is the best {_which(selection)}."
    gap = selection.gap()
    if gap > USELESS:
        return ""
    return f"No other {_which(selection)} can be more than {rounded_up(gap, space)} better."


def _which(selection: Selection) -> str:
    """The choices that are compared: those of the same size and with the same constraints."""
    if "columns" in selection.known:
        return "choice that the groups and costs allow"
    if selection.include or selection.exclude or selection.constraints:
        return f"choice of {selection.k} that the constraints allow"
    return f"choice of {selection.k}"


def rounded_up(gap: float, space: str = "") -> str:
    """A gap in per cent that is never below it."""
    digits = 1 if gap >= 100 * LEAST else 3
    unit = 10 ** (digits + 2)
    return f"{100 * math.ceil(max(gap, LEAST) * unit) / unit:.{digits}f}{space}%"
