"""Names that have moved or changed since 0.1: they still work, with a DeprecationWarning."""

import warnings
from collections.abc import Callable
from importlib import import_module

#: names of 0.1 that are not public today, and the modules that define them
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
        _warn(f"{old}.{name}", new)
        return found

    return getattribute


def renamed(old: str, new: str, module: str = "landmarks") -> object:
    """The object that a module calls `new` and called `old` in version 0.1."""
    _warn(f"{module}.{old}", f"{module}.{new}")
    return getattr(import_module(module), new)


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is now {new}; the old name will be removed in the next release",
        DeprecationWarning,
        stacklevel=3,
    )
