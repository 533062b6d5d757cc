"""The figures of a choice for an aim: its error, the total, and what no choice can go below."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...linalg.aim import Aim
from ...linalg.error import selection_error, total
from ...operators.base import Operator
from ...problem import Problem
from .explicit_aim import Rebuilding
from .rebuilding import rebuilding
from .tails import best_directions, safe_bound


@dataclass(frozen=True, eq=False)
class Judged:
    """An operator and an aim, and the figures of choices for it in the units of the aim."""

    operator: Operator
    aim: Aim
    exclude: tuple[int, ...] = ()

    @cached_property
    def base(self) -> Rebuilding:
        """The explicit columns."""
        return rebuilding(self.operator, self.aim)

    def figure(self, kind: str, indices: np.ndarray) -> float:
        """The "error" of a choice, the "total", the "best_rank" error, the "rank_bound"."""
        if kind == "error":
            return self.base.error(indices)
        if kind == "total":
            return self.base.total
        tail = best_directions if kind == "best_rank" else safe_bound
        return tail(self.base.without(self.exclude), len(indices), self.aim.repeats)


def error_of(problem: Problem, indices: np.ndarray) -> float:
    """The error of a choice for whatever the problem asks."""
    if problem.aim is None:
        return selection_error(problem.operator, indices, problem.criterion)
    return Judged(problem.operator, problem.aim).base.error(indices)


def total_of(problem: Problem) -> float:
    """The error of choosing nothing."""
    if problem.aim is None:
        return total(problem.operator, problem.criterion)
    return Judged(problem.operator, problem.aim).base.total
