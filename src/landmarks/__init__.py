"""Choose the k columns of a matrix, or the k landmarks of a kernel, that best represent all the rest."""

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
    NuclearScores,
    PivotedQR,
    Problem,
    RidgeLeverage,
    RPCholesky,
    Selection,
    Swap,
    Uniform,
    load,
    path,
    select,
)
from .operators import data, function, kernel, psd, toeplitz

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
    "Iterated",
    "KMeans",
    "NuclearScores",
    "Nystroem",
    "PivotedQR",
    "Problem",
    "RPCholesky",
    "RidgeLeverage",
    "Selection",
    "Swap",
    "Uniform",
    "data",
    "function",
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


def __getattr__(name: str) -> object:
    """The estimators, on first use: they bring in scikit-learn."""
    if name in ("ColumnSelector", "Nystroem"):
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'landmarks' has no attribute {name!r}")
