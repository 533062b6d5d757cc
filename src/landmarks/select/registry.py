"""The methods by name."""

from __future__ import annotations

from typing import Any

from .continuous import Continuous
from .greedy import Greedy
from .problem import Method
from .uniform import Uniform

METHODS: dict[str, type] = {
    "continuous": Continuous,
    "greedy": Greedy,
    "uniform": Uniform,
}


def as_method(method: Any) -> Method:
    """The method itself, or the one of that name with its default settings."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(sorted(METHODS))} or a method object, got {method!r}")
        return METHODS[method]()
    if isinstance(method, type) or not hasattr(method, "choose"):
        raise TypeError(f"method must be a name or a method object such as Greedy(), got {method!r}")
    return method
