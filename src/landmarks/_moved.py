"""Names that version 0.1 had elsewhere: they still work, with a DeprecationWarning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module

#: names of 0.1 that are no public names of the package today, and the modules that define them
ELSEWHERE = {
    "Cost": "selection",
    "Method": "problem",
    "Reasons": "explain.reasons",
    "Stability": "explain.stability",
    "Table": "explain.table",
    "Trial": "problem",
}


def moved_from(old: str) -> Callable[[str], object]:
    """The `__getattr__` of a module whose public names have moved to the top of the package."""

    def getattribute(name: str) -> object:
        package = import_module("landmarks")
        if name in package.__all__:
            new, found = f"landmarks.{name}", getattr(package, name)
        elif name in ELSEWHERE:
            new = f"landmarks.{ELSEWHERE[name]}.{name}"
            found = getattr(import_module(f"landmarks.{ELSEWHERE[name]}"), name)
        else:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        warnings.warn(
            f"{old}.{name} is now {new}; the old place goes away in the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return found

    return getattribute
