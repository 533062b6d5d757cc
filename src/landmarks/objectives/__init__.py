"""What a choice is worth: the trace, the Frobenius error, for all columns or a target, with noise."""

from .objective import OBJECTIVES, Frobenius, Objective, Trace, as_objective
from .target import Columns, Target

__all__ = ["OBJECTIVES", "Columns", "Frobenius", "Objective", "Target", "Trace", "as_objective"]
