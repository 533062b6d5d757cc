"""A method as a phase of a run: its choice is kept in the journal, so that a run taken up does not make it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._tree import pack
from ..journal import once
from ..optimise.path import Path
from .problem import Choice, Method, Problem, Trial


def run_phase(name: str, method: Method, problem: Problem, rng: np.random.Generator) -> Choice:
    """What the method chooses, or chose in an earlier run that this one takes up."""
    return _choice(once(name, lambda: _flat(method.choose(problem, rng))))


def _flat(choice: Choice) -> dict[str, Any]:
    return pack(replace(choice, trials=tuple(pack(trial) for trial in choice.trials)))


def _choice(flat: dict[str, Any]) -> Choice:
    path = None if flat["path"] is None else Path(**flat["path"])
    return Choice(**flat | {"path": path, "trials": tuple(Trial(**trial) for trial in flat["trials"])})
