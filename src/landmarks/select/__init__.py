"""Methods of selection, one per file, and the entry function."""

from .continuous import Continuous
from .entry import select
from .greedy import Greedy
from .problem import Choice, Problem, Trial
from .selection import Cost, Selection
from .storage import load
from .uniform import Uniform

__all__ = ["Choice",
    "Continuous", "Cost", "Greedy", "Problem", "Selection", "Trial", "Uniform", "load", "select"]
