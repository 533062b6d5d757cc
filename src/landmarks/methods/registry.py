"""The methods by name."""

from __future__ import annotations

from typing import Any

from .._suggest import suggestion
from ..problem import Method
from .annealed.annealed import Annealed
from .auto import Auto
from .greedy.greedy import Greedy
from .greedy.nuclear import NuclearScores
from .greedy.pivoted_qr import PivotedQR
from .groups.knapsack import Knapsack
from .relaxation.continuous import Continuous
from .sampling.kdpp import KDPP
from .sampling.kmeans import KMeans
from .sampling.leverage import RidgeLeverage
from .sampling.rpcholesky import RPCholesky
from .sampling.uniform import Uniform
from .search.exact import Exact
from .search.iterated import Iterated
from .search.swap import Swap

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
            raise ValueError(
                f"method must be one of {', '.join(METHODS)} or a method object, got {method!r}"
                f"{suggestion(method, METHODS)}"
            )
        return METHODS[method]()
    if isinstance(method, type) or not hasattr(method, "choose"):
        raise TypeError(
            f"method must be a name or a method object such as Greedy(), got {method!r}"
        )
    return method
