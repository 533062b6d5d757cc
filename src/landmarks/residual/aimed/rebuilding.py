"""Candidates and target of an aim as explicit columns of few rows, and the figures of a choice.

Rows beyond the number of candidates are rotated away, and a wide B is replaced by a square one
with the same B Bᵀ. What of B lies outside the range of A is one number: no choice changes it.
"""

from weakref import WeakKeyDictionary

import numpy as np
import scipy.linalg

from ..._array import eps, host, is_single
from ...errors import UnsupportedError
from ...linalg.aim import Aim
from ...linalg.error import selection_error, total
from ...operators.base import DENSE_MEMORY, Operator
from ...operators.forms import densify, in_double
from ...operators.pivoted_factor import FLOOR, pivoted_factor
from ...problem import Problem
from .explicit_aim import Rebuilding
from .tails import best_directions, safe_bound

STORED = 5000  # largest order of a kernel or stored matrix that is factorised completely
LOW_RANK = 600  # most columns of the factor of a larger one

_made: WeakKeyDictionary[Aim, WeakKeyDictionary[Operator, Rebuilding]] = WeakKeyDictionary()


def rebuilding(operator: Operator, aim: Aim) -> Rebuilding:
    """The explicit form of an aim on an operator; made once."""
    made = _made.setdefault(aim, WeakKeyDictionary())
    if operator not in made:
        made[operator] = _explicit(operator, aim)
    return made[operator]


def _explicit(operator: Operator, aim: Aim) -> Rebuilding:
    X, rounding = _factor(operator)
    if aim.target is None:
        B = X
    else:
        B = aim.target if aim.rows else X @ aim.target
    A, B, outside = _fewer_rows(X, B)
    sigma = None if aim.noise is None else np.sqrt(aim.noise)
    return Rebuilding(A, _fewer_columns(B), outside, sigma, rounding)


def _factor(operator: Operator) -> tuple[np.ndarray, float]:
    """X with K = XᵀX in float64, and the relative rounding of its squared lengths."""
    operator.ledger.widened += is_single(operator.like)
    if operator.m is not None:
        _check_size(operator.m, operator.n)
        operator.ledger.add(entries=operator.m * operator.n)
        rounding = (2 * eps(operator.like)) ** 2 if is_single(operator.like) else 0.0
        return host(operator.factor()).astype(np.float64), rounding
    wide = in_double(operator)
    rounding = FLOOR * eps(wide.digits)
    if wide.n <= STORED:
        return stored_factor(host(densify(wide)).astype(np.float64), rounding), rounding
    F = pivoted_factor(wide, LOW_RANK, eps(wide.digits))
    if F is None:
        raise UnsupportedError(
            f"target and noise need a factor of K: at most {STORED} candidates, or a numerical "
            f"rank of at most {LOW_RANK}; this is {operator!r}. Choose among fewer points"
        )
    return host(F).astype(np.float64).T, rounding


def _check_size(m: int, n: int) -> None:
    if m * n * 8 > DENSE_MEMORY // 2:
        raise UnsupportedError(
            f"target and noise need the data as an array in memory, and {m} × {n} numbers take "
            f"{m * n * 8 / 2**30:.1f} GiB; choose on fewer rows"
        )


def stored_factor(K: np.ndarray, rounding: float) -> np.ndarray:
    """X with K = XᵀX by a pivoted Cholesky factor of K scaled to a unit diagonal."""
    lengths = np.sqrt(np.maximum(np.diag(K), 0.0))
    scale = np.where(lengths > 0, lengths, 1.0)
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(
        K / np.outer(scale, scale), lower=1, tol=rounding
    )
    X = np.zeros((max(1, rank), len(K)))
    X[:rank, order - 1] = np.tril(factor)[:, :rank].T
    return X * lengths


def _fewer_rows(X: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """X and B in an orthonormal basis of X where that has fewer rows, and ‖B‖² outside of it."""
    if X.shape[0] <= X.shape[1]:
        return X, B, 0.0
    lengths = np.sqrt(np.sum(X * X, axis=0))
    scale = np.where(lengths > 0, lengths, 1.0)
    Q, R = np.linalg.qr(X / scale)
    if B is X:
        return R * scale, R * scale, 0.0
    inside = Q.T @ B
    rest = B - Q @ inside
    more = Q.T @ rest
    rest = rest - Q @ more
    return R * scale, inside + more, float(np.sum(rest * rest))


def _fewer_columns(B: np.ndarray) -> np.ndarray:
    """B, or a square matrix with the same B Bᵀ where B is wide."""
    if B.shape[1] <= B.shape[0]:
        return B
    return scipy.linalg.qr(B.T, mode="r", check_finite=False)[0][: B.shape[0]].T


def aimed_figure(
    operator: Operator, aim: Aim, exclude: tuple[int, ...], kind: str, indices: np.ndarray
) -> float:
    """The "error" of a choice, the "total", the "best_rank" error, the "rank_bound" of an aim."""
    base = rebuilding(operator, aim)
    if kind == "error":
        return base.error(indices)
    if kind == "total":
        return base.total
    tail = best_directions if kind == "best_rank" else safe_bound
    return tail(base.without(exclude), len(indices), aim.repeats)


def error_of(problem: Problem, indices: np.ndarray) -> float:
    """The error of a choice for whatever the problem asks."""
    if problem.aim is None:
        return selection_error(problem.operator, indices, problem.criterion)
    return rebuilding(problem.operator, problem.aim).error(indices)


def total_of(problem: Problem) -> float:
    """The error of choosing nothing."""
    if problem.aim is None:
        return total(problem.operator, problem.criterion)
    return rebuilding(problem.operator, problem.aim).total
