"""From what a user holds to an operator."""

from __future__ import annotations

from typing import Any

from .base import Operator
from .data import data
from .function import function


def as_operator(A: Any) -> Operator:
    """The operator itself, that of a SciPy LinearOperator, or XᵀX of a data matrix X."""
    if isinstance(A, Operator):
        return A
    if hasattr(A, "__dask_graph__"):  # first: a Delayed seems to have every attribute
        return data(A)
    if is_annotated(A):
        return annotated(A)
    if hasattr(A, "matmat") and hasattr(A, "shape"):
        return function(A)
    if callable(A) and not hasattr(A, "shape"):
        raise TypeError(
            "A is a function; say how large its matrix is with lm.function(mvm, n=…), or pass "
            "lm.data(A) if it returns blocks of rows"
        )
    return data(A)


def is_annotated(A: Any) -> bool:
    """Whether A looks like an AnnData object: a matrix X of cells by genes, with gene names."""
    return hasattr(A, "X") and hasattr(A, "var_names") and hasattr(A, "obs_names")


def annotated(A: Any, *, center: bool = False, scale: bool = False) -> Operator:
    """The operator of the columns of A.X, dense or sparse, named by A.var_names."""
    if A.X is None:
        raise ValueError(
            "the AnnData object has no X; choose a layer, e.g. A.X = A.layers['counts']"
        )
    operator = data(A.X, center=center, scale=scale)
    operator.names = tuple(str(name) for name in A.var_names)
    return operator
