"""One sentence: what the method does and why it is different.

Authors, Venue (year). Or "New here." for an invention of your own.

If your method scores columns and takes the best, one at a time, copy the shorter `pivoted_qr.py`:
it derives from `Gains` and calls `pursue`. This skeleton is for all other methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._array import first_argmax, host, like
from ...problem import INCLUDE_EXCLUDE, Choice, Problem, complete
from ...residual.residual import Residual, filled
from ...runs.runner import Step, run


@dataclass(frozen=True)
class LargestResidual:
    """Add, one at a time, the column that is represented worst so far.

    Examples
    --------
    >>> import landmarks as lm
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2, method=LargestResidual()).indices.tolist()
    [1, 2]
    """

    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        # searched: K in the form with accurate residuals; Residual: C = K − K̂, a State
        residual = Residual(problem.searched, problem.k)
        steps = picks(problem, residual)
        if run("largest_residual", steps, residual, deadline=problem.deadline):
            # complete: with fewer than k picks the rank is reached; add the missing ones, and warn
            return Choice(complete(problem, residual.picks))
        # filled: the callback or the deadline stopped the run; add the missing ones by score
        return Choice(filled(problem, residual.picks, host(residual.diagonal)))


def picks(problem: Problem, residual: Residual) -> Iterator[Step]:
    """One pick at a step. A resumed run begins here with the picks of the earlier one.

    What changes from step to step is in a `State` that is passed to `run`, here the residual. A
    method that needs random numbers draws them from `rng` in here: a checkpoint saves its state.
    """
    for j in problem.include[len(residual.picks) :]:
        residual.pick(j)
    free = np.isin(np.arange(problem.operator.n), problem.free)
    allowed = like(free.astype(float), residual.operator.like)  # 0 or 1, times scores ≥ 0
    while len(residual.picks) < problem.k:
        j = first_argmax(residual.diagonal * allowed)
        if not bool(residual.left[j]) or float(allowed[j]) == 0:
            return
        residual.pick(j)
        yield Step(len(residual.picks), problem.k, residual.share_of(problem))
