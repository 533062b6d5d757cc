"""A method inside a method: its choice is saved, so that a resumed run does not repeat it."""

from dataclasses import fields
from typing import Any

import numpy as np

from ..problem import Choice, Method, Problem, Trial
from ..runs.runner import saved_result
from .trajectory import Trajectory


def run_method(name: str, method: Method, problem: Problem, rng: np.random.Generator) -> Choice:
    """What the method chooses, under a name that tells it from other methods of the same run."""
    return saved_result(name, lambda: method.choose(problem, rng), _plain, _choice)


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
