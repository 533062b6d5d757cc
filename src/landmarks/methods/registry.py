"""The methods by name."""

from __future__ import annotations

from typing import Any

from .annealed import Annealed
from .auto import Auto
from .continuous import Continuous
from .exact import Exact
from .greedy import Greedy
from .iterated import Iterated
from .kdpp import KDPP
from .kmeans import KMeans
from .knapsack import Knapsack
from .leverage import RidgeLeverage
from .nuclear import NuclearScores
from .pivoted_qr import PivotedQR
from .problem import Method
from .rpcholesky import RPCholesky
from .swap import Swap
from .uniform import Uniform

METHODS: dict[str, type] = {
    "auto": Auto,
    "continuous": Continuous,
    "annealed": Annealed,
    "greedy": Greedy,
    "nuclear": NuclearScores,
    "swap": Swap,
    "iterated": Iterated,
    "rpcholesky": RPCholesky,
    "kdpp": KDPP,
    "leverage": RidgeLeverage,
    "pivoted_qr": PivotedQR,
    "kmeans": KMeans,
    "knapsack": Knapsack,
    "uniform": Uniform,
    "exact": Exact,
}


def as_method(method: Any) -> Method:
    """The method itself, or the one of that name with its default settings."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)} or a method object, got {method!r}")
        return METHODS[method]()
    if isinstance(method, type) or not hasattr(method, "choose"):
        raise TypeError(f"method must be a name or a method object such as Greedy(), got {method!r}")
    return method
