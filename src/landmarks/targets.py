"""Target and noise as they are given to `select`, checked against the data, or as in a file.

Columns of data rebuild a matrix B with the same rows. A kernel or a stored matrix K has no rows:
there a target says how much each candidate counts, by weights, by a positive semidefinite matrix M
or by vectors V with M = V Vᵀ, and the error is tr((K − K̂) M).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from . import _check
from ._array import eps, host
from .constraints import column_indices
from .errors import UnsupportedError
from .linalg.rebuilding import stored_factor
from .objectives.objective import OBJECTIVES, Objective
from .objectives.target import Columns, Target
from .operators.base import Operator
from .operators.data import warn_of_spread
from .operators.dense import Data, Dense, psd
from .operators.pivoted_factor import FLOOR
from .operators.prepare import Preparation
from .problem import Problem
from .readers.frames import numbers_only, unpacked


def with_target_and_noise(
    problem: Problem,
    target: Any,
    noise: Any,
    repeats: bool = False,
    standard: Preparation | None = None,
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
    if repeats and (problem.groups is not None or problem.costs is not None):
        raise UnsupportedError(
            "repeats=True chooses single candidates again, so it cannot be combined with groups or "
            "costs; leave one out"
        )
    found: Target | None = None
    listed = isinstance(target, list | tuple) and bool(target) and isinstance(target[0], str)
    if listed or isinstance(target, str | Columns):
        problem, found = _of_columns(problem, target)
    elif target is not None:
        spread = spread and problem.objective.by_length
        found = target_of(operator, target, standard or Preparation(), spread)
    objective = type(problem.objective)(found, variances, bool(repeats))
    return replace(problem, objective=objective)


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


def _of_columns(problem: Problem, target: Any) -> tuple[Problem, Target]:
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
    return replace(problem, exclude=exclude), Target(B, True, operator.exponent, names)


def saved_objective(criterion: str, record: dict[str, Any] | None) -> Objective:
    """The objective of a selection that was saved, without the values of its target."""
    if record is None:
        return OBJECTIVES[criterion]()
    target = None
    if record["target"] is not None:
        target = Target(
            np.zeros((0, int(record["columns"]))),
            bool(record["rows"]),
            int(record["exponent"]),
            None if record["names"] is None else tuple(record["names"]),
        )
    noise = None if record["noise"] is None else np.asarray(record["noise"], dtype=np.float64)
    return OBJECTIVES[criterion](target, noise, bool(record["repeats"]))


def with_saved_target(
    objective: Objective,
    record: dict[str, Any] | None,
    operator: Operator | None,
    target: Any,
    standard: Preparation,
) -> Objective:
    """The objective with its target, which a selection that was read needs again with its data."""
    if record is None or objective.target is None:
        if target is not None:
            raise ValueError("the selection was made without a target, but one was given")
        return objective
    if operator is None:
        return objective
    if target is None:
        raise ValueError(
            "the selection rebuilds a target; give it again, load(path, data=…, target=…)"
        )
    given = with_target_and_noise(Problem(operator, 0), target, None, standard=standard)
    found = given.objective.target
    if found is None or found.digest != record["target"]:
        raise ValueError("the target given is not the one that the selection was made for")
    return replace(objective, target=found)


def target_of(
    operator: Operator, target: Any, standard: Preparation, spread: bool
) -> Target | None:
    """What is to be rebuilt; None if that is the data themselves."""
    if isinstance(target, Dense) and operator.m is None:
        return _of_matrix(operator, target)
    if isinstance(target, Operator):
        raise TypeError(
            f"target must be an array, or lm.psd(M) for a kernel or a stored matrix, got {target!r}"
        )
    if operator.m is not None:
        return _of_rows(operator, target, standard, spread)
    return _of_candidates(operator, target)


def _of_rows(operator: Operator, target: Any, standard: Preparation, spread: bool) -> Target | None:
    """B with the rows of the data, its columns prepared as theirs are."""
    values, _, kind = given = unpacked(target)
    names = given.names
    values = numbers_only(values) if kind == "frame" else values
    values = _check.as_numpy(values, "target")
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2 or values.shape[0] != operator.m:
        shape = tuple(values.shape)
        by_weights = "; to weigh the columns by w, give target = X * np.sqrt(w)"
        raise ValueError(
            f"target must have the m = {operator.m} rows of the data and one column for each thing "
            f"to rebuild, got shape {shape}{by_weights if shape == (operator.n, 1) else ''}"
        )
    values = _check.matrix(values, "target")
    power = _check.exponent(float(np.max(np.abs(host(values)))), values)
    values = _check.scaled(values, power)
    if not standard.plain:
        values = standard.of_array(values)[0]
    if spread:
        columns = Data(values)
        columns.names = names
        warn_of_spread(columns, host(columns.diagonal()))
    B = host(values).astype(np.float64)
    if B.shape == (operator.m, operator.n) and np.array_equal(B, numbers(operator.factor(), "X")):
        return None  # the data themselves: nothing is special about them
    return Target(B, True, 0 if standard.scale else 2 * power, names)


def _of_candidates(operator: Operator, target: Any) -> Target | None:
    """Weights, a matrix M or vectors V for the n candidates of a kernel."""
    values = numbers(unpacked(target).values, "target")
    if values.ndim not in (1, 2) or len(values) != operator.n:
        raise ValueError(
            f"target must be n = {operator.n} weights, a positive semidefinite n × n matrix M, or "
            f"n × p vectors, one row for each candidate, got {shape_of(values)}; a target with the "
            "rows of the data needs the data as an array in memory"
        )
    _check.finite(values, "target")
    power = _check.exponent(float(np.max(np.abs(values))), values)
    if values.ndim == 1:
        if np.any(values < 0) or not np.any(values > 0):
            raise ValueError(
                "weights of the candidates must not be negative, and some must be above 0, got "
                f"{values.min():g} to {values.max():g}"
            )
        if np.all(values == 1):
            return None
        return Target(_check.scaled(values, power), False, operator.exponent + power)
    if values.shape != (operator.n, operator.n):
        return Target(_check.scaled(values, power), False, operator.exponent + 2 * power)
    try:
        M = psd(values)
    except ValueError as error:
        raise ValueError(
            f"an n × n target must be positive semidefinite; for n vectors V give V @ V.T ({error})"
        ) from error
    return _of_matrix(operator, M)


def _of_matrix(operator: Operator, M: Dense) -> Target | None:
    if M.n != operator.n:
        raise ValueError(f"M must be {operator.n} × {operator.n}, got {M.n} × {M.n}")
    values = host(M.K).astype(np.float64)
    if np.array_equal(values, np.eye(M.n)) and M.exponent == 0:
        return None
    V = stored_factor(values, FLOOR * eps(values)).T
    return Target(V, False, operator.exponent + M.exponent)


def numbers(values: Any, name: str) -> np.ndarray:
    """An array of float64 on the host."""
    return np.asarray(_check.as_numpy(values, name), dtype=np.float64)


def shape_of(values: np.ndarray) -> str:
    """What was given, for a message: its shape, or its value if it is one number."""
    return f"shape {values.shape}" if values.ndim else f"{values!r}"
