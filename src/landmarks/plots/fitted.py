"""The selection inside a fitted estimator."""

from __future__ import annotations

from typing import Any

from ..selection import Selection


def selection_of(estimator: Any) -> Selection:
    """The selection of a fitted estimator."""
    selection = getattr(estimator, "selection_", None)
    if not isinstance(selection, Selection):
        raise ValueError(
            f"{type(estimator).__name__} keeps no selection; fit it first, or use from_selection"
        )
    return selection
