"""The one picture of a selection that tells most."""

from __future__ import annotations

from typing import Any

from ..selection import Selection
from .coverage import CoverageDisplay
from .error_curve import ErrorCurveDisplay


def telling(selection: Selection, ax: Any = None) -> CoverageDisplay | ErrorCurveDisplay:
    """Landmarks among the points of a kernel; for columns the error against k, this one marked."""
    if selection._data.raw is not None:
        return CoverageDisplay.from_selection(selection, ax=ax)
    return ErrorCurveDisplay.from_selection(selection, ax=ax)
