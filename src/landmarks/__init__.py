"""Choose the k columns of a matrix, or k landmarks of a kernel, that best represent the others."""

from typing import TYPE_CHECKING

from .methods.registry import MODULES

if TYPE_CHECKING:
    from ._select import select as select
    from .checkpoint import Checkpoint as Checkpoint
    from .comparison import Comparison as Comparison, compare as compare
    from .how_many.cross_validated import CrossValidated as CrossValidated, HeldOut as HeldOut
    from .how_many.curve import (
        Curve as Curve,
        Knee as Knee,
        MaxError as MaxError,
        path as path,
    )
    from .how_many.likelihood_ratio import LikelihoodRatio as LikelihoodRatio
    from .kernels import (
        laplacian as laplacian,
        linear as linear,
        matern as matern,
        polynomial as polynomial,
        rbf as rbf,
    )
    from .methods.annealed import Annealed as Annealed
    from .methods.auto import Auto as Auto
    from .methods.greedy.greedy import Greedy as Greedy
    from .methods.greedy.nuclear import NuclearScores as NuclearScores
    from .methods.greedy.pivoted_qr import PivotedQR as PivotedQR
    from .methods.greedy.supervised import Supervised as Supervised
    from .methods.knapsack import Knapsack as Knapsack
    from .methods.relaxation.continuous import Continuous as Continuous
    from .methods.sampling.kdpp import KDPP as KDPP
    from .methods.sampling.kmeans import KMeans as KMeans
    from .methods.sampling.leverage import RidgeLeverage as RidgeLeverage
    from .methods.sampling.rpcholesky import RPCholesky as RPCholesky
    from .methods.sampling.uniform import Uniform as Uniform
    from .methods.search.exact import Exact as Exact
    from .methods.search.iterated import Iterated as Iterated
    from .methods.search.swap import Swap as Swap
    from .operators.data import data as data
    from .operators.function import function as function
    from .operators.dense import psd as psd
    from .operators.kernel import kernel as kernel
    from .operators.structured_matrices import (
        hadamard as hadamard,
        toeplitz as toeplitz,
    )
    from .placement import (
        MinDistance as MinDistance,
        Regions as Regions,
        in_ball as in_ball,
        in_box as in_box,
        in_polygon as in_polygon,
    )
    from .problem import Choice as Choice, Problem as Problem
    from .runs.runner import Progress as Progress
    from .selection import Selection as Selection
    from .selection.file import load as load
    from .sklearn.column_selector import ColumnSelector as ColumnSelector
    from .sklearn.cross_validation import held_out as held_out
    from .sklearn.nystroem import Nystroem as Nystroem

__version__ = "0.2.0"

#: where each public name is defined, except the methods, which `methods.registry` lists; it is
#: imported on first use, so that `landmarks --help` does not load an array library
_WHERE = {
    name: module
    for module, names in {
        "_select": "select",
        "checkpoint": "Checkpoint",
        "comparison": "Comparison compare",
        "how_many.cross_validated": "CrossValidated HeldOut",
        "how_many.curve": "Curve Knee MaxError path",
        "how_many.likelihood_ratio": "LikelihoodRatio",
        "kernels": "laplacian linear matern polynomial rbf",
        "methods.greedy.supervised": "Supervised",
        "operators.data": "data",
        "operators.function": "function",
        "operators.kernel": "kernel",
        "operators.dense": "psd",
        "operators.structured_matrices": "hadamard toeplitz",
        "placement": "MinDistance Regions in_ball in_box in_polygon",
        "problem": "Choice Problem",
        "runs.runner": "Progress",
        "selection": "Selection",
        "selection.file": "load",
        "sklearn.column_selector": "ColumnSelector",
        "sklearn.cross_validation": "held_out",
        "sklearn.nystroem": "Nystroem",
    }.items()
    for name in names.split()
}
__all__ = sorted([*_WHERE, *MODULES])


if not TYPE_CHECKING:  # type checkers see the imports above, and refuse a name that is not there

    def __getattr__(name: str) -> object:
        """A public name or a subpackage, imported on first use."""
        from importlib import import_module

        from .errors import suggestion

        if where := _WHERE.get(name) or MODULES.get(name):
            found = getattr(import_module(f".{where}", __name__), name)
            return globals().setdefault(name, found)
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
        close = suggestion(name, __all__) or "; dir(landmarks) lists what there is"
        raise AttributeError(f"landmarks has no {name!r}{close}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
