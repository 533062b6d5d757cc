"""From what a user holds to an operator."""

from __future__ import annotations

from typing import Any

from .base import Operator
from .data import data
from .function import function


def as_operator(A: Any) -> Operator:
    """The operator itself, the operator of a SciPy LinearOperator, or XᵀX for anything that is a data matrix."""
    if isinstance(A, Operator):
        return A
    if hasattr(A, "matmat") and hasattr(A, "shape"):
        return function(A)
    if callable(A) and not hasattr(A, "shape"):
        raise TypeError("A is a function; say how large its matrix is with lm.function(mvm, n=…), or pass lm.data(A) if it returns blocks of rows")
    return data(A)
