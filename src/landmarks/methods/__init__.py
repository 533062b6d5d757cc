"""Methods of selection, one per file, and the entry function."""

from .annealed import Annealed
from .auto import Auto
from .checkpoint import Checkpoint
from .continuous import Continuous
from .curve import Curve, path
from .entry import select
from .exact import Exact
from .greedy import Greedy
from .iterated import Iterated
from .kdpp import KDPP
from .kmeans import KMeans
from .leverage import RidgeLeverage
from .nuclear import NuclearScores
from .pivoted_qr import PivotedQR
from .problem import Choice, Method, Problem, Trial
from .rpcholesky import RPCholesky
from .selection import Cost, Selection
from .storage import load
from .swap import Swap
from .uniform import Uniform

__all__ = [
    "KDPP",
    "Annealed",
    "Auto",
    "Checkpoint",
    "Choice",
    "Continuous",
    "Cost",
    "Curve",
    "Exact",
    "Greedy",
    "Iterated",
    "KMeans",
    "Method",
    "NuclearScores",
    "PivotedQR",
    "Problem",
    "RPCholesky",
    "RidgeLeverage",
    "Selection",
    "Swap",
    "Trial",
    "Uniform",
    "load",
    "path",
    "select",
]
