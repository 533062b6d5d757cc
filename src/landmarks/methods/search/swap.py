"""Local search: swap a member for a candidate, each time the pair that lowers the error most.

The change of the error for all pairs at once follows from K_SS⁻¹, the residual and one product with
K per swap (`residual/pairs.py`). Swaps of one column for another are classical in column subset
selection (Gu and Eisenstat, SIAM J. Sci. Comput. 17, 1996, for the determinant).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...errors import Stopped
from ...problem import PLACED, SEARCHED, Choice, Problem, brief, check_criterion, lowered
from ..inner import saved
from .landscape import Landscape
from .local_search import descend, starting_choice


@dataclass(frozen=True)
class Swap:
    """Improve a start by repeating the best swap; never worse than its start.

    Parameters
    ----------
    start : a method, by name or as an object, or k indices.
    criterion : the error to lower, "trace" or "frobenius". None takes that of the problem and, for
        "frobenius", swaps on the trace first: this leads to lower errors, costs less and is more
        accurate.
    max_swaps : swaps after which to stop; None continues to a local optimum (about 0.1 to 0.75 k
        swaps from greedy).

    Examples
    --------
    >>> K = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> lm.select(lm.psd(K), 2, method="greedy").error("trace")  # doctest: +ELLIPSIS
    0.25...
    >>> round(lm.select(lm.psd(K), 2, method=lm.Swap(start="greedy")).error("trace"), 10)
    0.2
    """

    start: Any = "greedy"
    criterion: str | None = None
    max_swaps: int | None = None
    honours: ClassVar[frozenset[str]] = SEARCHED | PLACED
    improves: ClassVar[bool] = True
    __repr__ = brief

    def __post_init__(self) -> None:
        check_criterion(self.criterion)
        if self.max_swaps is not None and self.max_swaps < 0:
            raise ValueError(f"max_swaps must be at least 0 or None, got {self.max_swaps!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        start = starting_choice(self.start, problem, rng)
        if problem.time_left <= 0:
            return replace(start, details=start.details | {"swaps": 0})
        begun = [start]
        if self.criterion is None and problem.objective.cheaper is not None:
            cheaper = problem.objective.cheaper
            first = replace(self, start=start.indices, criterion=cheaper)
            begun.append(saved(cheaper, first).choose(problem, rng))
        try:
            landscape = Landscape.of(problem, lowered(problem, self.criterion))
        except Stopped:
            return start
        best, state = landscape.lowest([choice.indices for choice in begun])
        choice = begun[best]
        before, made = state.error, 0 if choice is start else choice.details["swaps"]
        swaps = descend(landscape, state, None if self.max_swaps is None else self.max_swaps - made)
        if swaps and landscape.error(state) > before:
            state, swaps = landscape.state(choice.indices), 0
        return Choice(
            landscape.indices(state.chosen, choice.indices),
            path=start.path,
            trials=start.trials,
            details={"swaps": made + swaps},
        )
