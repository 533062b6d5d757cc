"""What no choice with a given candidate can go below, and which candidates are independent."""

from __future__ import annotations

import numpy as np

from .._array import add_diagonal, cholesky
from .conditioned import Conditioned
from .node import Node
from .one_more import tails_after

LOOKED_AHEAD = 1000  # candidates up to which every first pick is looked at
SEPARATE = 1e-6  # share of its variance that a column of the dual problem keeps given the others


def allowed(state: Conditioned, free: np.ndarray) -> np.ndarray | None:
    """The candidates that the picks do not represent; None when rounding hides which."""
    doubtful = state.doubtful[free]
    if all(state.represented(int(j)) for j in free[doubtful]):
        return free[~doubtful]
    return None


def looked_ahead(
    state: Conditioned, free: np.ndarray, r: int, frobenius: bool
) -> np.ndarray | None:
    """What no choice with each candidate in it can go below; None when there are too many.

    Each of the r members of a choice has such a bound, so the r-th smallest holds for all choices.
    """
    if len(free) > LOOKED_AHEAD:
        return None
    return tails_after(Node(state, free, r, frobenius))


def independent(
    state: Conditioned, free: np.ndarray, tails: np.ndarray | None
) -> tuple[np.ndarray, float | None]:
    """Independent candidates, the most useful first, and a bound for choices with any of the rest.

    The dual bound needs independent candidates. Choices among the rest are bounded by the tails
    after them; None when these are not known.
    """
    if separate(state.matrix[np.ix_(free, free)]):
        return free, np.inf
    order = free if tails is None else free[np.argsort(tails, kind="stable")]
    core = independent_of(state.matrix, order)
    rest = ~np.isin(free, core)
    if not np.any(rest):
        return core, np.inf
    return core, None if tails is None else float(np.min(tails[rest]))


def separate(C: np.ndarray) -> bool:
    """Whether each column keeps more than SEPARATE of its variance given all others."""
    scale = np.sqrt(np.diagonal(C))
    if not np.all(scale > 0):
        return False
    unit = C / scale[:, None] / scale[None, :]
    return cholesky(add_diagonal(unit, -SEPARATE)) is not None


def independent_of(C: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The columns that those before them do not nearly represent, rising."""
    C, kept = C.copy(), []
    whole = np.diagonal(C).copy()
    for j in order:
        if C[j, j] > SEPARATE * whole[j]:
            kept.append(int(j))
            C -= np.multiply.outer(C[:, j], C[j] / C[j, j])
    return np.sort(np.asarray(kept, dtype=np.int64))
