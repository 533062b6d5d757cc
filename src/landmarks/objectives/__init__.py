"""What a choice is worth: trace, Frobenius error, log determinant; of a target, with noise."""

from .logdet import LogDet
from .objective import OBJECTIVES, Frobenius, Objective, Trace, as_objective
from .target import Columns, Target

OBJECTIVES |= {found.criterion: found for found in (LogDet,)}

__all__ = [
    "OBJECTIVES",
    "Columns",
    "Frobenius",
    "LogDet",
    "Objective",
    "Target",
    "Trace",
    "as_objective",
]
