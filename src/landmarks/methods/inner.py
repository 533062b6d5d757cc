"""A method inside a method: its choice is saved, so that a resumed run does not repeat it."""

from __future__ import annotations

from dataclasses import dataclass, fields
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
        return saved_result(self.name, lambda: self.method.choose(problem, rng), _plain, _choice)


def _plain(choice: Choice) -> dict[str, Any]:
    if not isinstance(choice.path, Trajectory | None):
        raise TypeError(
            "a checkpoint holds paths of the class Trajectory in "
            f"landmarks.methods.trajectory, got {type(choice.path).__name__}; "
            "run without one"
        )
    plain = _fields(choice)
    if choice.path is not None:
        plain["path"] = _fields(choice.path)
    plain["trials"] = tuple(_fields(trial) for trial in choice.trials)
    return plain


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _choice(plain: dict[str, Any]) -> Choice:
    found = dict(plain)
    if plain["path"] is not None:
        found["path"] = Trajectory(**plain["path"])
    found["trials"] = tuple(Trial(**trial) for trial in plain["trials"])
    return Choice(**found)
