"""Which members a page of the reference shows: those that this package wrote and documented."""

from __future__ import annotations

from typing import Any


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what was inherited from another package, and fields, which have their section."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    owner = getattr(function, "__module__", None) or ""
    if not owner.startswith("landmarks") or not callable(function):
        return True
    return None if getattr(function, "__doc__", None) else True


def setup(app: Any) -> dict[str, bool]:
    """Ask before autodoc decides."""
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
