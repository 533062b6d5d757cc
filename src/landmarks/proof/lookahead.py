"""Lower bounds for choices with a given candidate, and which candidates are independent.

A pick j turns the residual C into C − vvᵀ, v = C_:j/√C_jj. With C = U Diag(λ) Uᵀ and w = Uᵀv, the
eigenvalues are the roots of 1 − Σ_i w_i²/(λ_i − x), one between each λ_{i+1} and λ_i (Golub, SIAM
Review 15, 1973). Bisection keeps an upper bound of each, from one decomposition for all candidates.
"""

import numpy as np

from .._array import add_diagonal, cholesky
from ..residual.factors import independent as independent_columns
from .conditioned import Conditioned
from .node import Node

SEPARATE = 1e-6  # least share of variance that a column of the dual problem keeps given the others
HALVINGS = 20
GROUP = 8  # eigenvalues that are replaced by the largest of them, if far from the roots
BLOCK = 2**16  # numbers at once, so that they stay in the cache
SAFETY = 4  # times the rounding of a node: a decomposition, a product and the secular function


def allowed(state: Conditioned, free: np.ndarray) -> np.ndarray | None:
    """The candidates that the picks do not represent; None when rounding hides which."""
    doubtful = state.doubtful[free]
    if all(state.represented(int(j)) for j in free[doubtful]):
        return free[~doubtful]
    return None


def independent(
    state: Conditioned, free: np.ndarray, tails: np.ndarray | None
) -> tuple[np.ndarray, float | None]:
    """Independent candidates, the most useful first, and a bound for choices with any of the rest.

    The dual bound needs independent candidates. Choices among the rest are bounded by the tails
    after them; None when these are not known.
    """
    C, d = state.matrix[np.ix_(free, free)], np.sqrt(state.diagonal[free])
    if np.all(d > 0) and cholesky(add_diagonal(C / d[:, None] / d[None, :], -SEPARATE)) is not None:
        return free, np.inf  # each keeps more than SEPARATE of its variance given all others
    order = free if tails is None else free[np.argsort(tails, kind="stable")]
    C, whole = state.matrix[np.ix_(order, order)], state.diagonal[order]
    core = np.sort(order[independent_columns(C, SEPARATE * whole)[0]])
    rest = ~np.isin(free, core)
    if not np.any(rest):
        return core, np.inf
    return core, None if tails is None else float(np.min(tails[rest]))


def tails_after(node: Node) -> np.ndarray:
    """What no choice of the node with each of its candidates in it can go below.

    Each of the r members of a choice has such a bound, so the r-th smallest holds for all choices.
    """
    state, T, r = node.state, node.candidates, node.r
    if node.depth == 0:  # the rest gains no more than it did before
        rest = float(np.sum(node.values[: r - 1]))
        return node.error - node.powers.gains() - rest - node.uncertainty
    values, U = np.linalg.eigh(state.counted)
    values = np.maximum(values[::-1], 0.0)
    if state.missed is not None:
        values = values + state.missed[1]
    w = U[:, ::-1].T @ (state.images(T) / np.sqrt(state.pivots[T]))
    top = largest_after(values, w * w, r - 1) + SAFETY * node.rounding * values[0]
    gains = np.sum(w * w, axis=0)
    if node.depth == 2:
        left = node.error - 2 * (values @ (w * w)) + gains**2
        kept = np.sum(top**2, axis=0)
    else:
        left, kept = node.error - gains, np.sum(top, axis=0)
    doubt = uncertainties(node) + SAFETY * node.rounding * node.error
    return np.maximum(left - kept - doubt, 0.0)


def uncertainties(node: Node) -> np.ndarray:
    """How much the error after each candidate may be off, as `Conditioned.uncertainty` has it."""
    state, T = node.state, node.candidates
    grown = np.abs(state.matrix[:, T]) / state.pivots[T] * state.spread[T]
    weights = np.ones(state.n) if state.pair.weights is None else state.pair.weights
    spread = weights @ (state.spread[:, None] + grown) ** 2
    norm = np.sqrt(state.n) * state.omega * spread
    if node.depth == 1:
        return 4 * norm
    return 8 * np.sqrt(node.error) * norm + 16 * norm**2


def largest_after(values: np.ndarray, squares: np.ndarray, count: int) -> np.ndarray:
    """Upper bounds of the largest eigenvalues of Diag(values) − wwᵀ, one column for each w².

    values : falling. Far below the roots the values of a group are raised to the largest of them,
    which raises the roots.
    """
    count = min(count, len(values))
    poles, weights = grouped(values, squares, 2 * count + GROUP)
    step = max(1, BLOCK // max(1, len(poles) * count))
    blocks = [weights[:, a : a + step] for a in range(0, weights.shape[1], step)]
    ends = values[:count], np.append(values, 0.0)[1 : count + 1]
    return np.concatenate([roots(*ends, poles, block) for block in blocks], axis=1)


def roots(
    above: np.ndarray, below: np.ndarray, poles: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Upper bounds of the roots of 1 − Σ weights/(poles − x) between each two ends."""
    high = np.repeat(above[:, None], weights.shape[1], axis=1)
    low = np.repeat(below[:, None], weights.shape[1], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            inverse = 1 / (poles[:, None, None] - middle)
            # a pole met by chance gives no number, and then the upper bound stays
            beyond = np.sum(weights[:, None, :] * inverse, axis=0) > 1
            high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
    return high


def grouped(values: np.ndarray, squares: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    """The first values with their squares, and one value for each group of the others."""
    if len(values) <= kept:
        return values, squares
    starts = np.arange(kept, len(values), GROUP)
    poles = np.concatenate([values[:kept], values[starts]])
    return poles, np.concatenate([squares[:kept], np.add.reduceat(squares[kept:], starts - kept)])
