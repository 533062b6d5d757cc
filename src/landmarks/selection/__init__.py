"""The result of a selection: what was chosen, how good it is, how it is shown and saved."""

from .selection import Cost, Selection

__all__ = ["Cost", "Selection"]
