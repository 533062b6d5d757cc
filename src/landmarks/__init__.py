"""Choose the k columns of a matrix, or the k landmarks of a kernel, that best represent all the rest."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kernels import laplacian, linear, matern, polynomial, rbf
    from .methods import (
        KDPP,
        Annealed,
        Auto,
        Checkpoint,
        Choice,
        Continuous,
        Curve,
        Exact,
        Greedy,
        Iterated,
        KMeans,
        Knapsack,
        Knee,
        LikelihoodRatio,
        NuclearScores,
        PivotedQR,
        Problem,
        RidgeLeverage,
        RPCholesky,
        Selection,
        Supervised,
        Swap,
        Target,
        Uniform,
        load,
        path,
        select,
    )
    from .operators.data import data
    from .operators.dense import psd
    from .operators.function import function
    from .operators.kernel import kernel
    from .operators.toeplitz import toeplitz

__all__ = [
    "KDPP",
    "Annealed",
    "Auto",
    "Checkpoint",
    "Choice",
    "ColumnSelector",
    "Continuous",
    "Curve",
    "Exact",
    "Greedy",
    "HeldOut",
    "Iterated",
    "KMeans",
    "Knapsack",
    "Knee",
    "LikelihoodRatio",
    "NuclearScores",
    "Nystroem",
    "PivotedQR",
    "Problem",
    "RPCholesky",
    "RidgeLeverage",
    "Selection",
    "Supervised",
    "Swap",
    "Target",
    "Uniform",
    "data",
    "function",
    "held_out",
    "kernel",
    "laplacian",
    "linear",
    "load",
    "matern",
    "path",
    "polynomial",
    "psd",
    "rbf",
    "select",
    "toeplitz",
]
__version__ = "0.1.0"

_PARTS = ("kernels", "operators", "methods", "estimators")  # where the public names live, the lightest first


def __getattr__(name: str) -> object:
    """Public names and parts of the package on first use: `landmarks --help` waits for no array library."""
    if name in __all__:
        part = next(part for part in map(_part, _PARTS) if hasattr(part, name))
        return globals().setdefault(name, getattr(part, name))
    try:
        return _part(name)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
    raise AttributeError(f"module 'landmarks' has no attribute {name!r}")


def _part(name: str) -> object:
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
