"""A method as a phase of a run: its choice is kept in the journal, so that a run taken up does not make it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..problem import Choice, Method, Problem, Trial
from ..relaxation_path import Path
from ..runs.journal import once
from ..runs.tree import pack


def run_phase(name: str, method: Method, problem: Problem, rng: np.random.Generator) -> Choice:
    """What the method chooses, or chose in an earlier run that this one takes up."""
    return once(name, lambda: method.choose(problem, rng), _plain, _choice)


def _plain(choice: Choice) -> dict[str, Any]:
    if not isinstance(choice.path, Path | None):
        raise TypeError(
            f"a checkpoint keeps paths of the class landmarks.relaxation_path.Path, got {type(choice.path).__name__}; run without one"
        )
    return pack(replace(choice, trials=tuple(pack(trial) for trial in choice.trials)))


def _choice(plain: dict[str, Any]) -> Choice:
    path = None if plain["path"] is None else Path(**plain["path"])
    return Choice(
        **plain | {"path": path, "trials": tuple(Trial(**trial) for trial in plain["trials"])}
    )
