"""A pivoted Cholesky factor of K in blocks of columns, down to rounding if the rank is low.

Harbrecht, Peters and Schneider, Applied Numerical Mathematics 62 (2012). A block keeps only pivots
that are not much smaller than the largest residual elsewhere, so the result is nearly that of
choosing pivots one at a time.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._array import (
    Array,
    add_diagonal,
    cholesky,
    host,
    is_single,
    like,
    namespace,
    solve_from_right,
    take,
    zeros,
)
from ..errors import NotPSDError
from ..operators.base import Operator

BLOCK = 32  # pivots proposed at a time
NEAR = 0.3  # least size of a pivot of a block, relative to the largest diagonal entry outside
INDEFINITE = 1e-4  # relative to the largest diagonal entry: far above the rounding of K
FLOOR = 32  # units in the last place of K_jj: a smaller residual counts as zero
CHOLESKY_ORDER = 3000  # up to this order a stored matrix is checked by a Cholesky factorisation
SLOWEST = 7.0  # decades that the trace must fall over the most columns, in proportion at each step


def pivoted_factor(operator: Operator, most: int, unit: float) -> Array | None:
    """F with K = F Fᵀ up to rounding; None where that would take more than `most` columns.

    It gives up early where the trace falls too slowly.

    unit : the relative rounding of the entries of K.
    """
    diagonal = np.maximum(host(operator.diagonal()).astype(np.float64), 0.0)
    floor = FLOOR * unit * diagonal
    left, trace = diagonal.copy(), float(diagonal.sum())
    F, r = zeros((operator.n, 0), operator.like), 0
    while np.any(left > floor):
        slow = r >= BLOCK and float(left.sum()) > trace * 10 ** (-SLOWEST * r / most)
        if r == most or slow:
            return None
        # the columns of which most is left, and the most that is left of any other
        open_to = np.flatnonzero(left > floor)
        order, width = open_to[np.argsort(-left[open_to], kind="stable")], min(BLOCK, most - r)
        proposed, outside = order[:width], float(left[order[width]]) if width < len(order) else 0.0
        columns = operator.columns(proposed) - F[:, :r] @ take(F[:, :r], proposed).T
        limits = np.maximum(floor[proposed], NEAR * min(outside, float(np.max(left))))
        C = host(take(columns, proposed)).astype(np.float64)
        taken, L = _pivots(C, limits)
        if len(taken) == 0:  # rounding alone said that something was left
            left[proposed] = np.minimum(np.maximum(np.diag(C), 0.0), floor[proposed])
            continue
        V = solve_from_right(take(columns, taken, axis=1), like(L, columns))
        if F.shape[1] < r + len(taken):  # grow by doubling: most factors are given up early
            wider = zeros((operator.n, min(most, max(2 * (r + len(taken)), 4 * BLOCK))), F)
            wider[:, :r] = F[:, :r]
            F = wider
        F[:, r : r + len(taken)] = V
        r += len(taken)
        left = left - host(namespace(V).sum(V * V, axis=1)).astype(np.float64)
        left[proposed[taken]] = 0.0
        check_semidefinite(left, diagonal)
        left = np.maximum(left, 0.0)
    return F[:, :r]


def lapack_pivots(K: np.ndarray, tolerance: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    """L and the order of LAPACK's pivoted Cholesky: K[order, order] = L Lᵀ up to the rank of K.

    L has a column for each pivot. tolerance : the largest residual at which it ends; that of LAPACK
    below 0.
    """
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=tolerance)
    return np.tril(factor)[:, :rank], order.astype(np.int64) - 1


def check_semidefinite(left: np.ndarray, diagonal: np.ndarray, first: int = 0) -> None:
    """Raise when a diagonal entry of a residual is negative far beyond rounding.

    first : the number of the first of these entries.
    """
    j = int(np.argmin(left))
    if left[j] < -INDEFINITE * float(np.max(diagonal)):
        raise NotPSDError(
            f"K must be positive semidefinite, but what columns leave of "
            f"K[{first + j}, {first + j}] = "
            f"{diagonal[j]:.3g} is {left[j]:.3g}; clip its negative eigenvalues, or use another "
            "kernel"
        )


def rounding_slack(K: Array) -> float:
    """How negative rounding may make a minor, relative to the largest diagonal entry."""
    return 1e-4 if is_single(K) else 1e-8


def check_definite(K: Array) -> None:
    """Raise when a stored K of order up to 3000 is clearly indefinite, by its Cholesky factor."""
    largest = float(namespace(K).max(namespace(K).linalg.diagonal(K)))
    if largest <= 0 or K.shape[0] > CHOLESKY_ORDER:
        return
    if cholesky(add_diagonal(K / largest, rounding_slack(K) * K.shape[0] ** 0.5)) is None:
        least = float(np.linalg.eigvalsh(host(K).astype(np.float64))[0])
        raise NotPSDError(
            f"K must be positive semidefinite, but it has the eigenvalue {least:.3g}; clip "
            f"negative eigenvalues, or add {-least:.3g} to the diagonal"
        )


def _pivots(C: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pivots of a small C by the largest diagonal entry, while they are above their limits."""
    C, taken = C.copy(), list[int]()
    V = np.zeros((len(C), len(C)))
    while len(taken) < len(C):
        open_to = np.where(np.isin(np.arange(len(C)), taken), -np.inf, np.diag(C))
        i = int(np.argmax(open_to))
        if open_to[i] <= limits[i]:
            break
        V[:, len(taken)] = C[:, i] / np.sqrt(C[i, i])
        C -= np.outer(V[:, len(taken)], V[:, len(taken)])
        taken.append(i)
    return np.asarray(taken, dtype=np.int64), np.tril(V[taken, : len(taken)])
