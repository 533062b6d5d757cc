"""The aim of a selection that was saved: with its data it needs its target again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..linalg.aim import Aim
from ..operators.base import Operator
from ..operators.standard import Standard
from ..problem import Problem
from .given import aimed


def saved_aim(record: dict[str, Any] | None) -> Aim | None:
    """The aim of a selection that was saved, without its target."""
    if record is None:
        return None
    return Aim(
        target=None if record["target"] is None else np.zeros((0, int(record["columns"]))),
        rows=bool(record["rows"]),
        noise=None if record["noise"] is None else np.asarray(record["noise"], dtype=np.float64),
        repeats=bool(record["repeats"]),
        exponent=int(record["exponent"]),
        names=None if record["names"] is None else tuple(record["names"]),
    )


def with_target(
    aim: Aim | None,
    record: dict[str, Any] | None,
    operator: Operator | None,
    target: Any,
    standard: Standard,
) -> Aim | None:
    """The aim with its target, which a selection that was read needs again with its data."""
    if aim is None or record is None or aim.target is None:
        if target is not None:
            raise ValueError("the selection was made without a target, but one was given")
        return aim
    if operator is None:
        return aim
    if target is None:
        raise ValueError(
            "the selection rebuilds a target; give it again, load(path, data=…, target=…)"
        )
    found = aimed(Problem(operator, 0), target, None, standard=standard).aim
    if found is None or found.target is None or found.record()["target"] != record["target"]:
        raise ValueError("the target given is not the one that the selection was made for")
    return replace(aim, target=found.target)
