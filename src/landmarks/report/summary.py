"""The headline numbers: what is kept by the choice, by the best directions, by random choices."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._array import Indices, host
from .._select import select
from ..linalg.error import FULL_SPECTRUM
from ..operators.base import Operator
from ..operators.pair import Pair
from ..residual.factors import noisy
from ..selection import Selection

DRAWS = 20
EFFORT = 2e10  # multiplications that the random choices may take together


@dataclass(frozen=True, eq=False)
class Summary:
    """What is kept, as shares from 0 to 1.

    chosen : by the choice.
    best : by the best k directions, which no choice of k can exceed; None if they cost too much.
    random : by random choices of k, the mean of `draws` of them.
    together : by the first 1, 2, … of the choice; None if that costs too much.
    """

    chosen: float
    best: float | None
    random: float
    draws: int
    together: np.ndarray | None


def summarise(selection: Selection, *, draws: int = DRAWS) -> Summary:
    """The headline numbers of a selection that has its data.

    Examples
    --------
    >>> from landmarks.report import summarise
    >>> summary = summarise(lm.select(np.diag([1.0, 3.0, 2.0]), 2))
    >>> round(summary.chosen, 3), summary.together.round(3).tolist()
    (0.929, [0.643, 0.929])
    """
    operator, k = selection._data, selection.k
    draws = int(np.clip(EFFORT / (operator.n * k * (operator.m or k)), 1, draws))
    seed = selection.seed or 0
    drawn = [_drawn(selection, seed + draw) for draw in range(draws)]
    best = None
    if spectrum_is_cheap(operator):
        best = 1 - selection.best_rank_error() / (selection.total() or 1.0)
    return Summary(
        1 - selection.relative_error(),
        best,
        1 - float(np.mean(drawn)),
        draws,
        nested_shares(selection),
    )


def _drawn(selection: Selection, seed: int) -> float:
    """The relative error of a random choice of the same size."""
    operator, k, objective = selection._data, selection.k, selection.objective
    if objective.plain:
        drawn = select(
            operator, k, scale=False, method="uniform", criterion=selection.criterion, seed=seed
        )
        return drawn.relative_error()
    allowed = np.setdiff1d(np.arange(operator.n), selection.exclude)
    indices = np.random.default_rng(seed).choice(allowed, k, replace=objective.repeats)
    return objective.error(operator, indices) / (objective.total(operator) or 1.0)


def spectrum_is_cheap(operator: Operator) -> bool:
    """Whether the eigenvalues of K, and so the best directions, cost little."""
    return min(operator.n, operator.m or operator.n) <= FULL_SPECTRUM


def nested_shares(selection: Selection) -> np.ndarray | None:
    """What the first 1, 2, … of the chosen keep; None where that costs too much."""
    operator, objective = selection._data, selection.objective
    if objective.depth == 1:
        shares = explained_shares(objective.on(operator), selection.indices)
        return np.pad(shares, (0, selection.k - len(shares)), mode="edge")[: selection.k]
    if operator.n > 3000:
        return None
    errors = [
        objective.error(operator, selection.indices[:size]) for size in range(1, selection.k + 1)
    ]
    return 1 - np.array(errors) / (selection._figure("total", None) or 1.0)


def explained_shares(pair: Pair, picks: Indices) -> np.ndarray:
    """The share of the total that the first 1, 2, … picks explain, up to a dependent one."""
    total, picks = pair.total(pair.operator.diagonal()), np.asarray(picks)
    if total <= 0:
        return np.ones(1)
    columns = host(pair.operator.columns(picks)).astype(np.float64)
    factor, info = scipy.linalg.lapack.dpotrf(noisy(columns[picks], pair, picks), lower=1)
    rank = info - 1 if info > 0 else len(picks)
    F = scipy.linalg.solve_triangular(factor[:rank, :rank], columns[:, :rank].T, lower=True)
    weights = 1.0 if pair.weights is None else pair.weights
    return np.cumsum(np.sum(F**2 * weights, axis=1)) / total
