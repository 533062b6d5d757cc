"""Choose the k columns of a matrix, or k landmarks of a kernel, that best represent the rest."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._select import select
    from .checkpoint import Checkpoint
    from .comparison import Comparison, compare
    from .how_many.cross_validated import CrossValidated, HeldOut
    from .how_many.curve import Curve, path
    from .how_many.knee import Knee
    from .how_many.likelihood_ratio import LikelihoodRatio
    from .how_many.max_error import MaxError
    from .kernels import laplacian, linear, matern, polynomial, rbf
    from .methods.annealed.annealed import Annealed
    from .methods.auto import Auto
    from .methods.greedy.greedy import Greedy
    from .methods.greedy.nuclear import NuclearScores
    from .methods.greedy.pivoted_qr import PivotedQR
    from .methods.greedy.supervised import Supervised
    from .methods.groups.knapsack import Knapsack
    from .methods.relaxation.continuous import Continuous
    from .methods.sampling.kdpp import KDPP
    from .methods.sampling.kmeans import KMeans
    from .methods.sampling.leverage import RidgeLeverage
    from .methods.sampling.rpcholesky import RPCholesky
    from .methods.sampling.uniform import Uniform
    from .methods.search.exact import Exact
    from .methods.search.iterated import Iterated
    from .methods.search.swap import Swap
    from .operators.data import data
    from .operators.function import function
    from .operators.kernel import kernel
    from .operators.psd import psd
    from .operators.structured.hadamard import hadamard
    from .operators.structured.toeplitz import toeplitz
    from .placement.minimum_distance import MinDistance
    from .placement.regions import Regions
    from .placement.zones import in_ball, in_box, in_polygon
    from .problem import Choice, Problem
    from .runs.runner import Progress
    from .selection import Selection
    from .selection.file import load
    from .sklearn.column_selector import ColumnSelector
    from .sklearn.cross_validation import held_out
    from .sklearn.nystroem import Nystroem

__all__ = [
    "KDPP",
    "Annealed",
    "Auto",
    "Checkpoint",
    "Choice",
    "ColumnSelector",
    "Comparison",
    "Continuous",
    "CrossValidated",
    "Curve",
    "Exact",
    "Greedy",
    "HeldOut",
    "Iterated",
    "KMeans",
    "Knapsack",
    "Knee",
    "LikelihoodRatio",
    "MaxError",
    "MinDistance",
    "NuclearScores",
    "Nystroem",
    "PivotedQR",
    "Problem",
    "Progress",
    "RPCholesky",
    "Regions",
    "RidgeLeverage",
    "Selection",
    "Supervised",
    "Swap",
    "Uniform",
    "compare",
    "data",
    "function",
    "hadamard",
    "held_out",
    "in_ball",
    "in_box",
    "in_polygon",
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

#: where each public name is defined, except the methods, which `methods.registry` lists; it is
#: imported on first use, so that `landmarks --help` does not load an array library
_WHERE = {
    "Checkpoint": "checkpoint",
    "Choice": "problem",
    "ColumnSelector": "sklearn.column_selector",
    "Comparison": "comparison",
    "CrossValidated": "how_many.cross_validated",
    "Curve": "how_many.curve",
    "HeldOut": "how_many.cross_validated",
    "Knee": "how_many.knee",
    "LikelihoodRatio": "how_many.likelihood_ratio",
    "MinDistance": "placement.minimum_distance",
    "Nystroem": "sklearn.nystroem",
    "Problem": "problem",
    "Progress": "runs.runner",
    "Regions": "placement.regions",
    "Selection": "selection",
    "Supervised": "methods.greedy.supervised",
    "MaxError": "how_many.max_error",
    "compare": "comparison",
    "data": "operators.data",
    "function": "operators.function",
    "hadamard": "operators.structured.hadamard",
    "held_out": "sklearn.cross_validation",
    "in_ball": "placement.zones",
    "in_box": "placement.zones",
    "in_polygon": "placement.zones",
    "kernel": "operators.kernel",
    "laplacian": "kernels",
    "linear": "kernels",
    "load": "selection.file",
    "matern": "kernels",
    "path": "how_many.curve",
    "polynomial": "kernels",
    "psd": "operators.psd",
    "rbf": "kernels",
    "select": "_select",
    "toeplitz": "operators.structured.toeplitz",
}


#: public names of 0.1 and what they are called now
_RENAMED = {"Target": "MaxError"}


if not TYPE_CHECKING:  # type checkers see the imports above, and refuse a name that is not there

    def __getattr__(name: str) -> object:
        """A public name or a room of the package, on first use."""
        from importlib import import_module

        from ._suggest import suggestion
        from .methods.registry import MODULES

        if where := _WHERE.get(name) or MODULES.get(name):
            found = getattr(import_module(f".{where}", __name__), name)
            return globals().setdefault(name, found)
        if name in _RENAMED:
            return import_module("._moved", __name__).renamed(name, _RENAMED[name])
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
        close = suggestion(name, __all__) or "; dir(landmarks) lists what there is"
        raise AttributeError(f"landmarks has no {name!r}{close}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
