"""The methods by name.

The command line, messages, `compare`, `landmarks.<Class>` and the tests take them from here.
`tools/register` writes a new one into the files that name each method.
A class is imported on first use, so that `landmarks --help` does not load an array library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import suggestion

if TYPE_CHECKING:
    from ..problem import Method

#: the class of each method, with its module inside `landmarks.methods`
CLASSES = {
    "auto": "auto.Auto",
    "continuous": "relaxation.continuous.Continuous",
    "annealed": "annealed.Annealed",
    "greedy": "greedy.greedy.Greedy",
    "nuclear": "greedy.nuclear.NuclearScores",
    "swap": "search.swap.Swap",
    "iterated": "search.iterated.Iterated",
    "rpcholesky": "sampling.rpcholesky.RPCholesky",
    "kdpp": "sampling.kdpp.KDPP",
    "leverage": "sampling.leverage.RidgeLeverage",
    "pivoted_qr": "greedy.pivoted_qr.PivotedQR",
    "kmeans": "sampling.kmeans.KMeans",
    "knapsack": "knapsack.Knapsack",
    "uniform": "sampling.uniform.Uniform",
    "exact": "search.exact.Exact",
}

#: the module of each class, from the package on
MODULES = {
    name: f"methods.{module}" for module, _, name in (c.rpartition(".") for c in CLASSES.values())
}

#: what `compare` runs when no methods are named; a new method need not be here
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
        module, _, class_name = CLASSES[name].rpartition(".")
        return getattr(import_module(f".{module}", __package__), class_name)

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)


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
