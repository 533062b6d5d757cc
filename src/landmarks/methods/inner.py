"""A method inside a method: on some of the candidates, or saved so that nothing is repeated."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..problem import Choice, Problem, Trial
from ..runs.runner import saved_result, saves
from .trajectory import Trajectory


def saved(name: str, method: Chooser) -> Chooser:
    """The method, its choice saved under a name that tells it from other methods of the same run.

    Without a checkpoint it is the method itself.
    """
    return _Saved(name, method) if saves() else method


class Chooser(Protocol):
    """What chooses: a method, or one whose choice is saved."""

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        """The choice for a problem."""


@dataclass(frozen=True)
class _Saved:
    name: str
    method: Chooser

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        return saved_result(self.name, lambda: self.method.choose(problem, rng), asdict, _choice)


def _choice(plain: dict[str, Any]) -> Choice:
    path = None if plain["path"] is None else Trajectory(**plain["path"])
    trials = tuple(Trial(**trial) for trial in plain["trials"])
    return Choice(**plain | {"path": path, "trials": trials})


def restricted(problem: Problem, sample: np.ndarray) -> Problem:
    """The problem of a sample with the included candidates, in which it alone counts."""
    objective = problem.objective
    if objective.noise is not None:
        objective = replace(objective, noise=objective.noise[sample])
    return replace(
        problem,
        objective=objective,
        operator=problem.operator.restrict(sample),
        include=tuple(np.searchsorted(sample, problem.include).tolist()),
        exclude=(),
        warned={*problem.warned, "rank"},
    )
