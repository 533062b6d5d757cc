"""The coefficients that rebuild a target, or all columns, with a ridge penalty or noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ..._array import host
from ...errors import UnsupportedError
from ...linalg.aim import Aim
from ...linalg.leave_one_out import best_penalty
from ...linalg.reconstruction import Reconstruction
from ...operators.base import Operator
from ..explicit import independent_basis
from .explicit_aim import unit
from .rebuilding import rebuilding


def reconstructed(
    operator: Operator, chosen: np.ndarray, aim: Aim, ridge: Any = None, *, centred: bool = False
) -> Reconstruction:
    """Rebuild the target of an aim, or all columns, from the chosen ones.

    ridge : a penalty in the units of K, "cv" for the one of the smallest leave-one-out error, or
        None for none beyond the noise.
    centred : whether the columns had their means taken out.
    """
    X, Y = _columns(operator, aim)
    noise = np.zeros(len(chosen)) if aim.noise is None else aim.noise[chosen]
    penalty = _penalty(operator, aim, ridge, X[:, chosen], Y, centred)
    coefficients, losses = _fitted(X[:, chosen], Y, noise + penalty, aim)
    names = aim.names if _rebuilds_rows(aim) else operator.names
    return Reconstruction(
        chosen,
        coefficients,
        _shares(X[:, chosen], Y, coefficients, noise),
        np.ldexp(losses, aim.exponent),
        names,
        ridge=float(np.ldexp(penalty, operator.exponent)),
        chosen_names=_labels(operator, chosen),
    )


def _labels(operator: Operator, chosen: np.ndarray) -> tuple[Any, ...]:
    if operator.names is None:
        return tuple(int(j) for j in chosen)
    return tuple(operator.names[j] for j in chosen)


def _rebuilds_rows(aim: Aim) -> bool:
    return aim.target is not None and aim.rows


def _columns(operator: Operator, aim: Aim) -> tuple[np.ndarray, np.ndarray]:
    """The candidates and what is rebuilt, column by column."""
    if operator.m is None:
        X = rebuilding(operator, Aim()).A
    else:
        X = host(operator.factor()).astype(np.float64)
    if aim.target is not None and aim.rows:
        return X, aim.target
    return X, X


def _penalty(
    operator: Operator, aim: Aim, ridge: Any, X: np.ndarray, Y: np.ndarray, centred: bool
) -> float:
    if ridge is None:
        return 0.0
    if aim.noise is not None:
        raise ValueError("the noise already regularises the estimate; leave ridge out")
    if isinstance(ridge, str) and ridge == "cv":
        if operator.m is None:
            raise UnsupportedError(
                'ridge="cv" leaves out rows, which only data have; give ridge as a number'
            )
        return best_penalty(X, Y, intercept=centred)
    if isinstance(ridge, bool) or not isinstance(ridge, int | float | np.number) or not ridge >= 0:
        raise ValueError(f'ridge must be a number of at least 0, "cv" or None, got {ridge!r}')
    return float(np.ldexp(float(ridge), -operator.exponent))


def _fitted(
    X: np.ndarray, Y: np.ndarray, penalties: np.ndarray, aim: Aim
) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients, and by how much the regularised error rises without each chosen column."""
    rows = np.vstack([X, np.diag(np.sqrt(penalties))])
    floor = unit(len(penalties)) ** 2 * np.sum(rows * rows, axis=0)
    kept, Q, T = independent_basis(rows, floor)
    B, losses = np.zeros((len(penalties), Y.shape[1])), np.zeros(len(penalties))
    if len(kept):
        duals = scipy.linalg.solve_triangular(T, Q.T, check_finite=False)
        B[kept] = duals[:, : len(X)] @ Y
        reach = B[kept] if aim.rows else B[kept] @ aim.target
        losses[kept] = np.sum(reach**2, axis=1) / np.sum(duals**2, axis=1)
    return B, losses


def _shares(X: np.ndarray, Y: np.ndarray, B: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The share of the squares of each column that the estimate is expected to keep."""
    left = np.sum((Y - X @ B) ** 2, axis=0) + noise @ B**2
    total = np.sum(Y * Y, axis=0)
    r2 = np.ones(Y.shape[1])
    np.divide(total - left, total, out=r2, where=total > 0)
    return np.clip(r2, 0.0, 1.0)
