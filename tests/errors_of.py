"""The error of a choice, the total, the best rank-k error and bounds, for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from landmarks.objectives.objective import OBJECTIVES, as_objective
from landmarks.operators.base import Operator
from landmarks.operators.pair import Pair

CRITERIA = ("trace", "frobenius")  # of errors that are shares of a total


def selection_error(operator: Operator, indices: Any, criterion: str) -> float:
    """The error of a choice of an operator, by criterion."""
    return as_objective(criterion).error(operator, np.asarray(indices, dtype=np.int64))


def exact_error(operator: Operator, indices: Any, criterion: str) -> float:
    """The same, from the rows where the Gram matrix hides it."""
    return as_objective(criterion).exact_error(operator, np.asarray(indices, dtype=np.int64))


def total(operator: Operator, criterion: str) -> float:
    """The error of choosing nothing."""
    return as_objective(criterion).total(operator)


def best_rank_error(operator: Operator, k: int, criterion: str) -> float:
    """The error of the best k directions."""
    return as_objective(criterion).best_rank_error(operator, k)


def rank_bound(operator: Operator, k: int, criterion: str) -> float:
    """The lower bound from eigenvalues."""
    return as_objective(criterion).bound(operator, k)


#: how many products with the residual the gains of a criterion need
DEPTH = {name: objective.depth for name, objective in OBJECTIVES.items()}


def plain(operator: Operator) -> Pair:
    """The operator with every column counted once and no noise."""
    return Pair(operator, operator.n)
