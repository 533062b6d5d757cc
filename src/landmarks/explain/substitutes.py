"""What each chosen column adds, and which other columns could replace it, at what cost.

The costs of all pairs follow from the state of a swap search at the choice (`residual.pairs`); K is
read once, for its diagonals. Costs are differences of much larger numbers, so they are computed in
float64 whatever the data.
"""

from dataclasses import dataclass

import numpy as np

from .._array import host
from ..linalg.reconstruction import replaceable
from ..methods.search.landscape import Landscape, as_mask
from ..objectives.objective import Objective
from ..operators.base import Operator
from ..placement import Constraint, exchangeable
from ..problem import Problem
from ..residual.exchange import Exchange
from ..residual.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Substitutes:
    """What k chosen columns add, and the cheapest substitutes of each.

    All numbers are shares of the error of choosing nothing.

    adds : how much the error rises without each chosen column; 0 if the others can replace it.
    indices : a row per chosen column: its substitutes, cheapest first, ties to the lowest index.
    costs : how much the error changes when the column is swapped for each substitute; negative for
        an improvement, 0 if it is within rounding, infinite where constraints allow no more.
    """

    adds: np.ndarray
    indices: np.ndarray
    costs: np.ndarray


def substitutes(
    operator: Operator,
    chosen: np.ndarray,
    objective: Objective,
    *,
    exclude: tuple[int, ...] = (),
    each: int = 3,
    constraints: tuple[Constraint, ...] = (),
) -> Substitutes:
    """The cheapest substitutes of each chosen column that may take its place."""
    problem = Problem(operator, len(chosen), objective, exclude=exclude)
    landscape = Landscape.of(problem)
    state = _independent(landscape, chosen)
    allowed = landscape.open_to(state)
    if not objective.repeats:
        allowed[chosen] = False
    adds, costs = _costs(state, chosen, allowed)
    allowed, costs = allowed[: operator.n], costs[:, : operator.n]
    total = (landscape.base.total or 1.0) if objective.shares else 1.0  # else in nats
    known = landscape.tolerance * (state.error + 10 * adds)
    least = np.maximum(known, landscape.base.rounding(state.error))[:, None]
    allowed = np.tile(allowed, (len(chosen), 1))
    if constraints:
        allowed &= exchangeable(constraints, chosen)
    costs = np.where(allowed, np.where(np.abs(costs) > least, costs, 0.0), np.inf)
    count = min(each, int(np.max(np.sum(allowed, axis=1), initial=0)))
    indices = np.argsort(costs, axis=1, kind="stable")[:, :count]
    return Substitutes(adds / total, indices, np.take_along_axis(costs, indices, axis=1) / total)


def _independent(landscape: Landscape, chosen: np.ndarray) -> Exchange:
    """The state of the chosen columns that are independent of those before, with no free place."""
    state = landscape.state(chosen)
    if len(state.vacant) == 0:
        return state
    filled = Exchange(landscape.base, len(state.chosen))
    if len(state.chosen):
        filled.load(state.chosen)
    return filled


def _costs(
    state: Exchange, chosen: np.ndarray, allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By how much the error rises without each chosen column, and changes by each swap (k × n)."""
    members = np.flatnonzero(np.isin(chosen, state.members))
    needed = _needed(state, chosen, members)
    adds = np.zeros(len(chosen))
    # if others can replace a column, the span stays the same without it: the swap only adds j
    gains = state.powers.gains() * as_mask(allowed, state)
    costs = np.tile(-host(gains).astype(np.float64), (len(chosen), 1))
    if np.any(needed):
        pairs = Pairs(state, None)
        costs[members[needed]] = _pair_costs(pairs)[needed]
        adds[members[needed]] = pairs.cost[needed]
    return adds, costs


def _needed(state: Exchange, chosen: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Which members of the state no other chosen column can replace."""
    B = np.zeros((len(chosen), len(chosen)))
    B[members] = host(state.rows[0])[:, chosen]
    return ~replaceable(B, np.setdiff1d(np.arange(len(chosen)), members))[members]


def _pair_costs(pairs: Pairs) -> np.ndarray:
    """The change of the error for every pair; the drop if other members represent the candidate."""
    g = pairs.g[:, None]
    W = host(pairs.state.rows[0])
    independent = W * W + g * host(pairs.c) > 2 * g * host(pairs.floor)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = -2 * host(pairs.half_gains(slice(0, len(g)))).astype(np.float64)
    return np.where(independent, costs, pairs.cost[:, None])
