"""A target as it is given to `select`, checked against the data.

Columns of data rebuild a matrix B with the same rows. A kernel or a stored matrix K has no rows:
there a target says how much each candidate counts, by weights, by a positive semidefinite matrix M
or by vectors V with M = V Vᵀ, and the error is tr((K − K̂) M).
"""

from typing import Any

import numpy as np

from .. import _check
from .._array import host, is_array
from ..operators.base import Operator
from ..operators.data import Data
from ..operators.dense import Dense
from ..operators.psd import psd
from ..operators.standard import Standard
from ..readers.frames import column_names, is_frame, numbers_only
from ..residual.aimed.rebuilding import stored_factor


def target_of(operator: Operator, target: Any, standard: Standard, spread: bool) -> dict[str, Any]:
    """The fields of an aim that a target sets; none if the target is the data themselves."""
    if isinstance(target, Operator):
        return _of_operator(operator, target)
    if operator.m is not None:
        return _of_rows(operator, target, standard, spread)
    return _of_candidates(operator, target)


def _of_rows(operator: Operator, target: Any, standard: Standard, spread: bool) -> dict[str, Any]:
    """B with the rows of the data, its columns prepared as theirs are."""
    names = column_names(target)
    values = numbers_only(target) if is_frame(target) else target
    values = _check.as_numpy(host(values) if is_array(values) else values, "target")
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2 or values.shape[0] != operator.m:
        raise ValueError(_rows_sentence(operator, tuple(values.shape)))
    values = _check.matrix(values, "target")
    power = _check.exponent(float(np.max(np.abs(host(values)))), values)
    values = _check.scaled(values, power)
    if not standard.plain:
        values = standard.of_array(values)[0]
    if spread:
        given = Data(values)
        given.names = names
        _check.warn_of_spread(given, stacklevel=3)
    B = host(values).astype(np.float64)
    if _is_data(B, operator):
        return {}
    return {"target": B, "exponent": 0 if standard.scale else 2 * power, "names": names}


def _rows_sentence(operator: Operator, shape: tuple[int, ...]) -> str:
    weights = ""
    if len(shape) == 2 and shape == (operator.n, 1):
        weights = "; to weigh the columns by w, give target = X * np.sqrt(w)"
    return (
        f"target must have the m = {operator.m} rows of the data and one column for each thing to "
        f"rebuild, got shape {shape}{weights}"
    )


def _is_data(B: np.ndarray, operator: Operator) -> bool:
    """Whether the target is the data themselves: then nothing is special about it."""
    if B.shape != (operator.m, operator.n):
        return False
    return bool(np.array_equal(B, host(operator.factor()).astype(np.float64)))


def _of_operator(operator: Operator, target: Operator) -> dict[str, Any]:
    if operator.m is None and isinstance(target, Dense):
        return _of_matrix(operator, target)
    raise TypeError(
        f"target must be an array, or lm.psd(M) for a kernel or a stored matrix, got {target!r}"
    )


def _of_candidates(operator: Operator, target: Any) -> dict[str, Any]:
    """Weights, a matrix M or vectors V for the n candidates of a kernel."""
    values = numbers(target, "target")
    if values.ndim not in (1, 2) or len(values) != operator.n:
        raise ValueError(
            f"target must be n = {operator.n} weights, a positive semidefinite n × n matrix M, or "
            f"n × p vectors, one row for each candidate, got {shape_of(values)}; a target with the "
            "rows of the data needs the data as an array in memory"
        )
    _check.finite(values, "target")
    if values.ndim == 1:
        return _of_weights(operator, values)
    if values.shape == (operator.n, operator.n):
        return _of_matrix(operator, _semidefinite(values))
    return _of_vectors(operator, values)


def _semidefinite(M: np.ndarray) -> Dense:
    try:
        return psd(M)
    except ValueError as error:
        raise ValueError(
            f"an n × n target must be positive semidefinite; for n vectors V give V @ V.T ({error})"
        ) from error


def _of_weights(operator: Operator, weights: np.ndarray) -> dict[str, Any]:
    if np.any(weights < 0) or not np.any(weights > 0):
        raise ValueError(
            "weights of the candidates must not be negative, and some must be above 0, got "
            f"{weights.min():g} to {weights.max():g}"
        )
    if np.all(weights == 1):
        return {}
    return _of_vectors(operator, np.diag(np.sqrt(weights))[:, weights > 0])


def _of_matrix(operator: Operator, M: Dense) -> dict[str, Any]:
    if M.n != operator.n:
        raise ValueError(f"M must be {operator.n} × {operator.n}, got {M.n} × {M.n}")
    values = host(M.K).astype(np.float64)
    if np.array_equal(values, np.eye(M.n)) and M.exponent == 0:
        return {}
    V = stored_factor(values, 32 * float(np.finfo(np.float64).eps)).T
    return {"target": V, "rows": False, "exponent": operator.exponent + M.exponent}


def _of_vectors(operator: Operator, V: np.ndarray) -> dict[str, Any]:
    power = _check.exponent(float(np.max(np.abs(V))), V)
    exponent = operator.exponent + 2 * power
    return {"target": _check.scaled(V, power), "rows": False, "exponent": exponent}


def numbers(values: Any, name: str) -> np.ndarray:
    """An array of float64 on the host."""
    return np.asarray(
        _check.as_numpy(host(values) if is_array(values) else values, name), dtype=np.float64
    )


def shape_of(values: np.ndarray) -> str:
    """What was given, for a message: its shape, or its value if it is one number."""
    return f"shape {values.shape}" if values.ndim else f"{values!r}"
