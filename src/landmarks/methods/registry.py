"""The methods by name: the one list, from which the command line takes its help texts.

A class is imported on first use, so that `landmarks --help` does not load an array library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import suggestion

if TYPE_CHECKING:
    from ..problem import Method

WHERE = {
    "auto": "auto.Auto",
    "continuous": "relaxation.continuous.Continuous",
    "annealed": "annealed.annealed.Annealed",
    "greedy": "greedy.greedy.Greedy",
    "nuclear": "greedy.nuclear.NuclearScores",
    "swap": "search.swap.Swap",
    "iterated": "search.iterated.Iterated",
    "rpcholesky": "sampling.rpcholesky.RPCholesky",
    "kdpp": "sampling.kdpp.KDPP",
    "leverage": "sampling.leverage.RidgeLeverage",
    "pivoted_qr": "greedy.pivoted_qr.PivotedQR",
    "kmeans": "sampling.kmeans.KMeans",
    "knapsack": "groups.knapsack.Knapsack",
    "uniform": "sampling.uniform.Uniform",
    "exact": "search.exact.Exact",
}

#: the module of each class, from the package on
MODULES = {
    name: f"methods.{module}" for module, _, name in (w.rpartition(".") for w in WHERE.values())
}

#: what `compare` runs by default
COMPARED = (
    "auto",
    "annealed",
    "swap",
    "greedy",
    "nuclear",
    "pivoted_qr",
    "leverage",
    "rpcholesky",
    "uniform",
)


class Methods(Mapping[str, type]):
    """The classes of the methods by name."""

    def __getitem__(self, name: str) -> type:
        module, _, class_name = WHERE[name].rpartition(".")
        return getattr(import_module(f".{module}", __package__), class_name)

    def __iter__(self) -> Iterator[str]:
        return iter(WHERE)

    def __len__(self) -> int:
        return len(WHERE)


METHODS = Methods()


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
