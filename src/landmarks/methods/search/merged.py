"""Merge two choices: take the columns of both, then drop the least useful one until k are left.

Columns in both choices are likely to stay; where the choices differ, the elimination compares
columns in the presence of all others. Swaps follow. The tour merging of Cook and Seymour, INFORMS
J. Comput. 15 (2003), also keeps what good solutions have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import Stopped
from ...problem import INCLUDE_EXCLUDE, Choice, Problem, brief
from ...residual.exchange import Exchange
from ...residual.pairs import drop_costs
from .landscape import Landscape
from .local_search import descend


@dataclass(frozen=True)
class Merged:
    """The best of two choices by elimination from their union, improved by swaps."""

    first: np.ndarray
    second: np.ndarray
    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE
    __repr__ = brief

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        union = np.asarray(list(dict.fromkeys([*self.first, *self.second])), dtype=np.int64)
        if len(union) == problem.k:
            return Choice(self.first)
        try:
            landscape = Landscape.of(problem)
        except Stopped:
            return Choice(self.first)
        state = landscape.state(eliminated(landscape, union))
        descend(landscape, state)
        return Choice(landscape.indices(state.chosen, self.first))


def eliminated(landscape: Landscape, union: np.ndarray) -> np.ndarray:
    """The k columns that are left when the one that matters least is dropped again and again."""
    state = Exchange(landscape.base, len(union))
    state.load(union)
    while len(state.chosen) > landscape.problem.k:
        places = landscape.unlocked(state)
        if np.any(np.diag(state.H)[places] <= 0):  # its digits are gone
            state.load(state.chosen)
            continue
        state.drop(int(places[np.argmin(drop_costs(state)[places])]))
    return state.chosen
