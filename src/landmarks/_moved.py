"""Names of 0.1 that still work in `methods` and `problem`, with a DeprecationWarning."""

import warnings
from collections.abc import Callable
from importlib import import_module


def moved_from(old: str) -> Callable[[str], object]:
    """The `__getattr__` of a module whose public names have moved to the top of the package."""

    def getattribute(name: str) -> object:
        package = import_module("landmarks")
        if name not in package.__all__:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        _warn(f"{old}.{name}", f"landmarks.{name}")
        return getattr(package, name)

    return getattribute


def renamed(old: str, new: str, module: str) -> object:
    """The object that a module calls `new` and called `old` in version 0.1."""
    _warn(f"{module}.{old}", f"{module}.{new}")
    return getattr(import_module(module), new)


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is now {new}; the old name will be removed in the next release",
        DeprecationWarning,
        stacklevel=3,
    )
