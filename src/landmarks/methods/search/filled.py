"""Greedy selection by the compiled search: the start that `auto` takes for a stored K."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import Stopped
from ...operators.base import product_seconds
from ...problem import Choice, Problem, brief, lowered
from ...residual.compiled.library import Compiled
from ...residual.exchange import Exchange
from ...runs.runner import Step, run
from ..greedy.greedy import Greedy
from .landscape import Landscape

CLEAR = 1e-3  # of the largest gain: what rounding may hide below it makes no difference to swaps


@dataclass(frozen=True)
class Filled:
    """The choice of `Greedy` in less time, where K is stored and rounding leaves little doubt."""

    honours: ClassVar[frozenset[str]] = Greedy.honours
    __repr__ = brief

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        fill = problem.k * product_seconds(problem.pair.operator)
        if not problem.affords(fill):  # greedy can be interrupted
            return Greedy().choose(problem, rng)
        try:
            landscape = Landscape.of(problem, lowered(problem, problem.objective.cheaper))
        except Stopped:
            return Greedy().choose(problem, rng)
        if landscape.compiled is not None and problem.operator.m is None:
            state = landscape.state(np.zeros(0, dtype=np.int64))
            run("greedy", filling(landscape.compiled, state), state)
            # whether rounding may have hidden a better column; that grows from pick to pick
            hidden = state.powers.doubt() > CLEAR * float(state.powers.gains().max())
            if not len(state.vacant) and not hidden:
                return Choice(landscape.indices(state.chosen, state.chosen))
        return Greedy().choose(problem, rng)


def filling(compiled: Compiled, state: Exchange) -> Iterator[Step]:
    """One step: it takes less than a second where K is stored."""
    compiled.fill(state)
    yield Step(len(state.chosen), len(state.members))
