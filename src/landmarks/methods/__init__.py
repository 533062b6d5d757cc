"""Methods of selection, one per file, and the entry function."""

from .annealed import Annealed
from .auto import Auto
from .checkpoint import Checkpoint
from .continuous import Continuous
from .curve import Curve, path
from .entry import select
from .exact import Exact
from .greedy import Greedy
from .how_many import Knee
from .iterated import Iterated
from .kdpp import KDPP
from .kmeans import KMeans
from .knapsack import Knapsack
from .leverage import RidgeLeverage
from .likelihood_ratio import LikelihoodRatio
from .nuclear import NuclearScores
from .pivoted_qr import PivotedQR
from .problem import Choice, Method, Problem, Trial
from .reasons import Reasons
from .rpcholesky import RPCholesky
from .selection import Cost, Selection
from .stability import Stability
from .storage import load
from .supervised import Supervised
from .swap import Swap
from .table import Table
from .target import Target
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
    "Knapsack",
    "Knee",
    "LikelihoodRatio",
    "Method",
    "NuclearScores",
    "PivotedQR",
    "Problem",
    "RPCholesky",
    "Reasons",
    "RidgeLeverage",
    "Selection",
    "Stability",
    "Supervised",
    "Swap",
    "Table",
    "Target",
    "Trial",
    "Uniform",
    "load",
    "path",
    "select",
]
