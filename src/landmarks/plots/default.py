"""The picture that `Selection.plot` draws: a map, landmarks among points, or an error curve."""

from __future__ import annotations

from typing import Any

from ..selection import Selection
from .coverage import CoverageDisplay
from .error_curve import ErrorCurveDisplay
from .places import MapDisplay


def default_display(
    selection: Selection, ax: Any = None, coordinates: Any = None, field: Any = None
) -> CoverageDisplay | ErrorCurveDisplay | MapDisplay:
    """A map where there are coordinates, landmarks among the points of a kernel, else the error
    against k.
    """
    if field is not None and coordinates is None:
        raise ValueError("a field needs coordinates: give where its candidates are")
    if coordinates is not None:
        return MapDisplay.from_selection(selection, coordinates, field=field, ax=ax)
    if selection._data.raw is not None:
        return CoverageDisplay.from_selection(selection, ax=ax)
    return ErrorCurveDisplay.from_selection(selection, ax=ax)
