"""Objectives of the relaxation: a value and a gradient from one block of probes."""

from .dimension import effective_dimension
from .evaluation import Evaluation, Objective
from .frobenius import Frobenius
from .trace import Trace

__all__ = ["Evaluation", "Frobenius", "Objective", "Trace", "effective_dimension"]
