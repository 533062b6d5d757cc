"""Why these columns: what each chosen one adds, and what each dropped one is rebuilt from.

The costs of all replacements follow from the state of a swap search at the choice
(`residual.pairs`); K is read once, for its diagonals. Costs are differences of much larger numbers,
so they are computed in float64 whatever the data.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._array import host, rank_tolerance
from .._shown import ShownAsBars, Table
from ..errors import UnsupportedError
from ..linalg.reconstruction import replaceable
from ..methods.search.landscape import Landscape, as_mask
from ..objectives.objective import Objective
from ..operators.base import Operator
from ..problem import Problem
from ..residual.exchange import Exchange
from ..residual.pairs import Pairs
from .stability import Stability, index_and_name

if TYPE_CHECKING:
    from ..selection import Selection


@dataclass(frozen=True, eq=False, repr=False)
class Reasons(ShownAsBars):
    """Two tables about a selection; columns are given by name if they have one, else by index.

    With a target, `dropped` has a row per column of the target; with noise, one per candidate. Only
    substitutes that costs and constraints on places allow are listed, and `kept_out` says which
    constraint rules out a place: it is too close to a chosen one, or its region is full.
    `stability` is the share of bootstrap samples in which the column is chosen, if `why` was given
    it.

    Attributes
    ----------
    chosen : a row per chosen column, in order of choice. `adds` says how much the error would rise
        without it. `substitute_1`, … are the columns that could replace it, cheapest first, and
        `cost_1`, … say how much the error would change; a negative cost would be an improvement.
        All are shares of the error of choosing nothing.
    dropped : a row per other column, the worst rebuilt first. `r2` is the share of its sum of
        squares that the chosen columns rebuild. `source_1`, … are the chosen columns that
        contribute most, and `weight_1`, … their coefficients, for columns scaled to norm one.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0, 0.0, 3.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    >>> lm.select(X, 2).why(each=1)
    chosen
    index   adds  substitute_1  cost_1
        0  0.783             3       0
        1  0.174             2    0.13
    dropped
    index  r2  source_1  weight_1
        2   0
        3   1         0         1
    """

    chosen: Table
    dropped: Table

    @property
    def table(self) -> Table:
        """The table of the chosen columns."""
        return self.chosen

    def __repr__(self) -> str:
        return f"chosen\n{self.chosen!r}\ndropped\n{self.dropped!r}"

    def _repr_html_(self) -> str:
        return f"<p>chosen</p>{self.chosen._repr_html_()}<p>dropped</p>{self.dropped._repr_html_()}"

    @property
    def bars(self) -> tuple[list[Any], list[float], str]:
        """How much the error would rise without each chosen column."""
        rises = [100 * part for part in self.chosen["adds"]]
        return self.chosen.labels, rises, "error without it rises by, % of the total"


def reasons(
    selection: Selection,
    operator: Operator,
    objective: Objective,
    each: int,
    stability: Stability | None,
) -> Reasons:
    """The tables of a selection, with `each` substitutes and sources per column."""
    _check.count(each, "each")
    if stability is not None and not isinstance(stability, Stability):
        raise TypeError(f"stability must be what Selection.stability returns, got {stability!r}")
    if stability is not None and len(stability.frequencies) != selection.n:
        raise ValueError(
            f"stability is that of {len(stability.frequencies)} candidates, the selection has "
            f"{selection.n}"
        )
    if not objective.shares:
        raise UnsupportedError(
            "why() gives shares of an error, and a log determinant has none; error() and gap() are "
            "in nats"
        )
    names = range(selection.n) if selection.names is None else selection.names
    labels = np.asarray(names, dtype=object)
    adds, places, costs = substitutes(selection, operator, objective, each)
    chosen = Table(
        index_and_name(selection.indices, labels)
        | {"adds": adds.tolist()}
        | _frequency(stability, selection.indices)
        | pairwise("substitute", labels[places], "cost", costs, np.isfinite(costs))
    )
    return Reasons(chosen, _rebuilt(selection, operator, each, labels, stability))


def _frequency(stability: Stability | None, indices: np.ndarray) -> dict[str, list[Any]]:
    return {} if stability is None else {"stability": stability.frequencies[indices].tolist()}


def _rebuilt(
    selection: Selection,
    operator: Operator,
    each: int,
    labels: np.ndarray,
    stability: Stability | None,
) -> Table:
    """A row per column that was not chosen, or of the target, or per candidate with noise."""
    rebuilt, objective = selection.reconstruction(), selection.objective
    shown = np.arange(len(rebuilt.r2))
    if objective.plain:
        shown = np.setdiff1d(shown, selection.indices)
    shown = shown[np.argsort(rebuilt.r2[shown], kind="stable")]
    lengths = np.sqrt(np.maximum(host(operator.diagonal()).astype(np.float64), 0.0))
    if objective.target is not None and objective.rebuilds_rows:
        names = range(len(rebuilt.r2)) if rebuilt.names is None else rebuilt.names
        columns = index_and_name(shown, np.asarray(names, dtype=object))
        columns |= {"r2": rebuilt.r2[shown].tolist()}
        wanted = np.linalg.norm(objective.target.values, axis=0)[shown, None]
    else:
        columns = index_and_name(shown, labels) | {"r2": rebuilt.r2[shown].tolist()}
        columns |= _frequency(stability, shown) | kept_out(selection, shown, labels)
        wanted = lengths[shown, None]
    # B_ij √(K_ii/K_jj): the coefficients for columns of length one, without what is rounding
    weights = rebuilt.coefficients[:, shown].T * lengths[rebuilt.indices]
    np.divide(weights, wanted, out=weights, where=wanted > 0)
    known = (np.abs(weights) > rank_tolerance(operator.digits)) & (wanted > 0)
    weights = np.where(known, weights, 0.0)
    largest = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :each]
    values = np.take_along_axis(weights, largest, axis=1)
    sources = labels[rebuilt.indices][largest]
    return Table(columns | pairwise("source", sources, "weight", values, values != 0))


def substitutes(
    selection: Selection, operator: Operator, objective: Objective, each: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each chosen column adds, its cheapest substitutes, and what these cost.

    All are shares of the error of choosing nothing. A column adds 0 if the others can replace it. A
    cost is negative for an improvement, 0 within rounding, infinite where nothing else is allowed.
    """
    chosen = selection.indices
    landscape = Landscape.of(Problem(operator, len(chosen), objective, exclude=selection.exclude))
    state = _independent(landscape, chosen)
    allowed = landscape.open_to(state)
    if not objective.repeats:
        allowed[chosen] = False
    adds, costs = _costs(state, chosen, allowed)
    allowed, costs = allowed[: operator.n], costs[:, : operator.n]
    total = landscape.base.total or 1.0
    known = landscape.tolerance * (state.error + 10 * adds)
    least = np.maximum(known, landscape.base.rounding(state.error))[:, None]
    allowed = np.tile(allowed, (len(chosen), 1))
    if not selection._limits_lost:
        limits = selection.problem().allowed
        pairs = limits.exchangeable(chosen) if limits.single else None
        allowed = allowed if pairs is None else allowed & pairs
    costs = np.where(allowed, np.where(np.abs(costs) > least, costs, 0.0), np.inf)
    count = min(each, int(np.max(np.sum(allowed, axis=1), initial=0)))
    indices = np.argsort(costs, axis=1, kind="stable")[:, :count]
    return adds / total, indices, np.take_along_axis(costs, indices, axis=1) / total


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
    members = _places(state.chosen, chosen)
    B = np.zeros((len(chosen), len(chosen)))
    B[members] = host(state.rows[0])[:, chosen]
    # the members of the state that no other chosen column can replace
    needed = ~replaceable(B, np.setdiff1d(np.arange(len(chosen)), members))[members]
    adds = np.zeros(len(chosen))
    # if others can replace a column, the span stays the same without it: the swap only adds j
    gains = state.powers.gains() * as_mask(allowed, state)
    costs = np.tile(-host(gains).astype(np.float64), (len(chosen), 1))
    if np.any(needed):
        pairs = Pairs(state, None)
        costs[members[needed]] = _pair_costs(pairs)[needed]
        adds[members[needed]] = pairs.cost[needed]
    return adds, costs


def _places(members: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Where each of the members stands among the chosen; each copy of a column has a place."""
    waiting = defaultdict[int, list[int]](list)
    for place, j in reversed([*enumerate(chosen.tolist())]):
        waiting[j].append(place)
    return np.asarray([waiting[j].pop() for j in members.tolist()], dtype=np.int64)


def _pair_costs(pairs: Pairs) -> np.ndarray:
    """The change of the error for every pair; the drop if other members represent the candidate."""
    g = pairs.g[:, None]
    W = host(pairs.state.rows[0])
    independent = W * W + g * host(pairs.c) > 2 * g * host(pairs.floor)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = -2 * host(pairs.half_gains(slice(0, len(g)))).astype(np.float64)
    return np.where(independent, costs, pairs.cost[:, None])


def pairwise(
    first: str, firsts: np.ndarray, second: str, seconds: np.ndarray, some: np.ndarray
) -> dict[str, list[Any]]:
    """first_1, second_1, first_2, second_2, …; None where there is none."""
    columns: dict[str, list[Any]] = {}
    for q, there in enumerate(some.T):
        for name, values in ((first, firsts), (second, seconds)):
            entries = zip(values[:, q].tolist(), there, strict=True)
            columns[f"{name}_{q + 1}"] = [entry if known else None for entry, known in entries]
    return columns


def kept_out(selection: Selection, indices: np.ndarray, labels: np.ndarray) -> dict[str, list[Any]]:
    """What keeps each of the indices out of the choice, where there are constraints on places."""
    if not selection.constraints:
        return {}
    chosen, listed = selection.indices, labels.tolist()
    found = [constraint.kept_out(chosen, listed) for constraint in selection.constraints]
    words = ["; ".join(filter(None, reasons)) for reasons in zip(*found, strict=True)]
    return {"kept_out": [None if j in chosen else words[j] or None for j in indices.tolist()]}
