"""A problem with the target and the noise that `select` is given, or that a file was saved with."""

from dataclasses import replace
from typing import Any

import numpy as np

from .. import _check
from .._array import host
from ..constraints import column_indices
from ..errors import UnsupportedError
from ..linalg.aim import Aim, Columns
from ..operators.base import Operator
from ..operators.standard import Standard
from ..problem import Problem
from .target import numbers, shape_of, target_of

ONLY_TRACE = (
    'target and noise are judged by the squared error, criterion="trace"; criterion="frobenius" '
    "has no target and no noise"
)


def aimed(
    problem: Problem,
    target: Any,
    noise: Any,
    repeats: bool = False,
    standard: Standard | None = None,
    spread: bool = False,
) -> Problem:
    """The problem with its target and noise; unchanged if these ask for nothing special.

    standard : how the columns of the data, and those of the target, are centred and scaled.
    spread : whether to warn when some columns of the target decide the choice by their size.
    """
    operator = problem.operator
    variances = _variances(noise, operator)
    if _check.boolean(repeats, "repeats") and variances is None:
        raise ValueError(
            "repeats=True needs noise above 0: without noise a second measurement at the same "
            "place adds nothing"
        )
    aim = Aim(noise=variances, repeats=bool(repeats), exponent=operator.exponent)
    if _is_names(target):
        problem, aim = _of_columns(problem, aim, target)
    elif target is not None:
        aim = replace(aim, **target_of(operator, target, standard or Standard(), spread))
    if aim.target is None and aim.noise is None:
        return problem
    _check_supported(problem, aim)
    return replace(problem, aim=aim)


def _check_supported(problem: Problem, aim: Aim) -> None:
    if problem.criterion != "trace":
        raise UnsupportedError(ONLY_TRACE)
    if problem.groups is not None or problem.costs is not None:
        raise UnsupportedError(
            "target and noise cannot be combined with groups or costs; leave one of them out"
        )
    if problem.constraints and aim.repeats:
        raise UnsupportedError("constraints on places need repeats=False")


def _variances(noise: Any, operator: Operator) -> np.ndarray | None:
    """One variance for each candidate in the units of the operator, None where all are 0."""
    if noise is None:
        return None
    values = numbers(noise, "noise")
    if isinstance(noise, bool) or values.ndim > 1 or values.size not in (1, operator.n):
        raise ValueError(
            "noise must be one variance, or one for each of the "
            f"n = {operator.n} candidates, got {shape_of(values)}"
        )
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        bad = values.ravel()[~(np.isfinite(values.ravel()) & (values.ravel() >= 0))][0]
        raise ValueError(f"noise is a variance: it must be finite and not negative, got {bad}")
    scaled = np.ldexp(np.broadcast_to(values.ravel(), (operator.n,)), -operator.exponent)
    return scaled if np.any(scaled > 0) else None


def _is_names(target: Any) -> bool:
    """Whether the target is the name of a column, a list of names, or places of columns."""
    if isinstance(target, str | Columns):
        return True
    return isinstance(target, list | tuple) and bool(target) and isinstance(target[0], str)


def _of_columns(problem: Problem, aim: Aim, target: Any) -> tuple[Problem, Aim]:
    """The columns of those names are the target, and are not chosen."""
    operator = problem.operator
    if operator.m is None:
        raise ValueError(
            "target names columns, which only data have; for a kernel give weights, a matrix M or "
            "vectors"
        )
    listed = target.places if isinstance(target, Columns) else target
    columns = column_indices(listed, operator, "target")
    if clash := set(columns) & set(problem.include):
        raise ValueError(f"{sorted(clash)} are both included and columns of the target")
    exclude = tuple(dict.fromkeys([*problem.exclude, *columns]))
    names = None if operator.names is None else tuple(operator.names[j] for j in columns)
    B = host(operator.factor(np.asarray(columns))).astype(np.float64)
    return replace(problem, exclude=exclude), replace(aim, target=B, names=names)


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
