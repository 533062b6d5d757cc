"""One sentence: what the method does and why it is different.

Authors, Venue (year).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from landmarks._array import first_argmax, host, like
from landmarks.problem import INCLUDE_EXCLUDE, Choice, Problem, complete
from landmarks.residual.represent import searchable
from landmarks.residual.residual import Residual, filled
from landmarks.runs.runner import Step, run


@dataclass(frozen=True)
class LargestResidual:
    """Pick by pick, the column of which least is represented so far.

    Examples
    --------
    >>> import landmarks as lm
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2, method=LargestResidual()).indices.tolist()
    [1, 2]
    """

    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = Residual(searchable(problem.operator, problem.k), problem.k)
        steps = picks(problem, residual)
        if run("largest_residual", steps, residual, deadline=problem.deadline):
            return Choice(complete(problem, residual.picks))
        return Choice(filled(problem, residual.picks, host(residual.diagonal)))


def picks(problem: Problem, residual: Residual) -> Iterator[Step]:
    """One pick at a step. A resumed run begins here with the picks of the earlier one.

    A method that draws takes its numbers from `rng` in here: a checkpoint saves where it is.
    """
    for j in problem.include[len(residual.picks) :]:
        residual.pick(j)
    free = np.isin(np.arange(problem.operator.n), problem.free)
    allowed = like(free.astype(float), residual.operator.like)
    while len(residual.picks) < problem.k:
        j = first_argmax(residual.diagonal * allowed)
        if not bool(residual.left[j]) or float(allowed[j]) == 0:
            return
        residual.pick(j)
        yield Step(len(residual.picks), problem.k)
