"""The coefficients that rebuild a target, or all columns, with a ridge penalty or noise."""

from typing import Any

import numpy as np
import scipy.linalg

from .._array import host, represented
from ..errors import UnsupportedError
from ..linalg.rebuilding import independent_basis, rebuilding
from ..linalg.reconstruction import Reconstruction, reconstruct
from ..operators.base import Operator
from ..operators.pair import Pair
from .objective import Objective

STEPS = np.concatenate([[0.0], np.geomspace(1e-10, 1e2, 61)])  # of the mean of s²


def reconstructed(
    operator: Operator,
    chosen: np.ndarray,
    objective: Objective,
    ridge: Any = None,
    *,
    centred: bool = False,
) -> Reconstruction:
    """Rebuild the target, or all columns, from the chosen ones.

    ridge : a penalty in the units of K, "cv" for the one of the smallest leave-one-out error, or
        None for none beyond the noise.
    centred : whether the columns had their means taken out.
    """
    if objective.plain and ridge is None:
        return reconstruct(operator, chosen)
    X, Y = _columns(operator, objective)
    noise = np.zeros(len(chosen)) if objective.noise is None else objective.noise[chosen]
    penalty = _penalty(operator, objective, ridge, X[:, chosen], Y, centred)
    coefficients, losses = _fitted(X[:, chosen], Y, noise + penalty, objective)
    names = operator.names
    if objective.rebuilds_rows:
        names = objective.target.names  # type: ignore[union-attr]  # then there is a target
    return Reconstruction(
        chosen,
        coefficients,
        _shares(X[:, chosen], Y, coefficients, noise),
        np.ldexp(losses, objective.exponent(operator)),
        names,
        ridge=float(np.ldexp(penalty, operator.exponent)),
        chosen_names=tuple(int(j) if operator.names is None else operator.names[j] for j in chosen),
    )


def _columns(operator: Operator, objective: Objective) -> tuple[np.ndarray, np.ndarray]:
    """The candidates and what is rebuilt, column by column."""
    if operator.m is None:
        X = rebuilding(Pair(operator, operator.n)).A
    else:
        X = host(operator.factor()).astype(np.float64)
    if objective.rebuilds_rows:
        return X, objective.target.values  # type: ignore[union-attr]  # then there is a target
    return X, X


def _penalty(
    operator: Operator,
    objective: Objective,
    ridge: Any,
    X: np.ndarray,
    Y: np.ndarray,
    centred: bool,
) -> float:
    if ridge is None:
        return 0.0
    if objective.noise is not None:
        raise ValueError("the noise already regularises the estimate; leave ridge out")
    if isinstance(ridge, str) and ridge == "cv":
        if operator.m is None:
            raise UnsupportedError(
                'ridge="cv" leaves out rows, which only data have; give ridge as a number'
            )
        return best_penalty(X, Y, intercept=centred)
    if isinstance(ridge, bool) or not isinstance(ridge, int | float | np.number) or not ridge >= 0:
        given = repr(ridge)
        if np.ndim(ridge) > 0:
            given = f"{type(ridge).__name__}; reconstruction().rebuild(rows) rebuilds other rows"
        raise ValueError(f'ridge must be a number of at least 0, "cv" or None, got {given}')
    return float(np.ldexp(float(ridge), -operator.exponent))


def _fitted(
    X: np.ndarray, Y: np.ndarray, penalties: np.ndarray, objective: Objective
) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients, and by how much the regularised error rises without each chosen column."""
    rows = np.vstack([X, np.diag(np.sqrt(penalties))])
    floor = represented(len(penalties)) ** 2 * np.sum(rows * rows, axis=0)
    kept, Q, T = independent_basis(rows, floor)
    B, losses = np.zeros((len(penalties), Y.shape[1])), np.zeros(len(penalties))
    if len(kept):
        duals = scipy.linalg.solve_triangular(T, Q.T, check_finite=False)
        B[kept] = duals[:, : len(X)] @ Y
        target = objective.target
        reach = B[kept] if target is None or target.rows else B[kept] @ target.columns
        losses[kept] = np.sum(reach**2, axis=1) / np.sum(duals**2, axis=1)
    return B, losses


def _shares(X: np.ndarray, Y: np.ndarray, B: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The share of the squares of each column that the estimate is expected to keep."""
    left = np.sum((Y - X @ B) ** 2, axis=0) + noise @ B**2
    total = np.sum(Y * Y, axis=0)
    r2 = np.ones(Y.shape[1])
    np.divide(total - left, total, out=r2, where=total > 0)
    return np.clip(r2, 0.0, 1.0)


def best_penalty(X: np.ndarray, Y: np.ndarray, *, intercept: bool = False) -> float:
    """The penalty ρ for Y ≈ X B with ‖Y − XB‖² + ρ‖B‖², in the units of XᵀX.

    It has the smallest leave-one-out error, from one singular value decomposition. With X = U s Vᵀ
    and d = s²/(s² + ρ), row i is predicted without itself at the cost of dividing its residual by
    1 − h_i, h_i = Σ_l U_il² d_l (Allen, Technometrics 16, 1974). With E = Y − U UᵀY what no penalty
    can fit, the residual is E + U(1 − d)UᵀY: nothing is subtracted from anything larger.

    intercept : whether the columns were centred, so that a mean was fitted too.
    """
    U, s, _ = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    kept = s > max(X.shape) * np.finfo(np.float64).eps * s[0] if s.size and s[0] > 0 else s > 0
    penalties = STEPS * float(np.mean(s**2)) if s.size else STEPS
    errors = _errors(U[:, kept], s[kept], Y, penalties, intercept)
    return float(penalties[int(np.argmin(errors))])


def _errors(
    U: np.ndarray, s: np.ndarray, Y: np.ndarray, penalties: np.ndarray, intercept: bool
) -> np.ndarray:
    """The sum of squares of the leave-one-out residuals for each penalty."""
    F = U.T @ Y
    E = Y - U @ F
    own, mixed, gram = np.sum(E * E, axis=1), E @ F.T, F @ F.T
    found = []
    for penalty in penalties:
        lost = penalty / (s * s + penalty)
        part = U * lost
        squares = own + 2 * np.sum(part * mixed, axis=1) + np.sum((part @ gram) * part, axis=1)
        leverage = np.sum(U * U * (1 - lost), axis=1) + (1 / len(Y) if intercept else 0.0)
        left = np.maximum(1 - leverage, 1e-9)  # a row that only it can fit cannot be predicted
        found.append(float(np.sum(squares / left**2)))
    return np.asarray(found)
