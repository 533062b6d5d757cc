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
from .._shown import Table
from ..errors import UnsupportedError
from ..linalg.rebuilding import rebuilding
from ..linalg.reconstruction import replaceable
from ..methods.search.landscape import Landscape, as_mask
from ..objectives.objective import Objective
from ..operators.base import Operator
from ..placement import Constraint
from ..problem import Problem
from ..residual.exchange import Exchange
from ..residual.pairs import Pairs
from .stability import Stability, index_and_name

if TYPE_CHECKING:
    from ..selection import Selection


@dataclass(frozen=True, eq=False)
class Reasons:
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

    def __repr__(self) -> str:
        return f"chosen\n{self.chosen!r}\ndropped\n{self.dropped!r}"

    def _repr_html_(self) -> str:
        return f"<p>chosen</p>{self.chosen._repr_html_()}<p>dropped</p>{self.dropped._repr_html_()}"

    def plot(self, ax: Any = None, *, at_most: int = 20) -> Any:
        """Draw how much the error would rise without each chosen column, as bars."""
        from ..plots.axes import bars

        names = self.chosen.columns.get("name", self.chosen["index"])
        rises = [100 * part for part in self.chosen["adds"]]
        return bars(names, rises, "error without it rises by, % of the total", ax, at_most)


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
    names = range(selection.n) if selection.names is None else selection.names
    labels = np.asarray(names, dtype=object)
    if not objective.shares:
        raise UnsupportedError(
            "why() gives shares of an error, and a log determinant has none; error() and gap() are "
            "in nats"
        )
    found = substitutes(
        operator,
        selection.indices,
        objective,
        exclude=selection.exclude,
        each=each,
        pairs=_exchangeable(selection),
    )
    some = np.isfinite(found.costs)
    chosen = Table(
        index_and_name(selection.indices, labels)
        | {"adds": found.adds.tolist()}
        | _frequency(stability, selection.indices)
        | pairwise("substitute", labels[found.indices], "cost", found.costs, some)
    )
    if objective.plain:
        return Reasons(chosen, _dropped(selection, operator, each, labels, stability))
    return Reasons(chosen, _rebuilt(selection, each, labels))


def _dropped(
    selection: Selection,
    operator: Operator,
    each: int,
    labels: np.ndarray,
    stability: Stability | None,
) -> Table:
    rebuilt = selection.reconstruction()
    dropped = np.setdiff1d(np.arange(selection.n), selection.indices)
    dropped = dropped[np.argsort(rebuilt.r2[dropped], kind="stable")]
    columns = (
        index_and_name(dropped, labels)
        | {"r2": rebuilt.r2[dropped].tolist()}
        | _frequency(stability, dropped)
        | kept_out(selection.constraints, selection.indices, dropped, labels)
    )
    # B_ij √(K_ii/K_jj): the coefficients for columns of length one
    lengths = np.sqrt(np.maximum(host(operator.diagonal()).astype(np.float64), 0.0))
    terms = rebuilt.coefficients[:, dropped].T * lengths[rebuilt.indices]
    weights = _clear(terms, lengths[dropped, None], rank_tolerance(operator.digits))
    return Table(columns | source_columns(labels[rebuilt.indices], weights, each))


def _clear(terms: np.ndarray, lengths: np.ndarray, rounding: float) -> np.ndarray:
    """terms / lengths; 0 where it is rounding, and for a column of zeros."""
    weights = np.divide(terms, lengths, out=np.zeros_like(terms), where=lengths > 0)
    return np.where(np.abs(weights) > rounding, weights, 0.0)


def _exchangeable(selection: Selection) -> np.ndarray | None:
    """Whether places and costs allow each candidate in the place of each chosen one."""
    if selection._limits_lost:
        return None
    allowed = selection.problem().allowed
    return allowed.exchangeable(selection.indices) if allowed.single else None


def _frequency(stability: Stability | None, indices: np.ndarray) -> dict[str, list[Any]]:
    return {} if stability is None else {"stability": stability.frequencies[indices].tolist()}


def _rebuilt(selection: Selection, each: int, labels: np.ndarray) -> Table:
    """A row per column of the target, or per candidate, the worst rebuilt first."""
    rebuilt, objective = selection.reconstruction(), selection.objective
    order = np.argsort(rebuilt.r2, kind="stable")
    names = range(len(order)) if rebuilt.names is None else rebuilt.names
    columns = index_and_name(order, np.asarray(names, dtype=object)) | {
        "r2": rebuilt.r2[order].tolist()
    }
    if not objective.rebuilds_rows:
        columns |= kept_out(selection.constraints, selection.indices, order, labels)
    base = rebuilding(objective.on(selection._data))
    own = np.sqrt(np.maximum(base.lengths, 0.0))[rebuilt.indices]
    wanted = base.A
    if objective.target is not None and objective.rebuilds_rows:
        wanted = objective.target.values
    lengths = np.linalg.norm(wanted, axis=0)
    weights = _clear(rebuilt.coefficients * own[:, None], lengths, 1e-12)[:, order].T
    return Table(columns | source_columns(labels[rebuilt.indices], weights, each))


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
    pairs: np.ndarray | None = None,
) -> Substitutes:
    """The cheapest substitutes of each chosen column that may take its place.

    pairs : whether each candidate may take the place of each chosen one; None if all may.
    """
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
    if pairs is not None:
        allowed &= pairs
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


def source_columns(labels: np.ndarray, weights: np.ndarray, each: int) -> dict[str, list[Any]]:
    """The chosen columns that contribute most to each row, and their weights; None for 0."""
    largest = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :each]
    values = np.take_along_axis(weights, largest, axis=1)
    return pairwise("source", labels[largest], "weight", values, values != 0)


def kept_out(
    constraints: tuple[Constraint, ...], chosen: np.ndarray, indices: np.ndarray, labels: np.ndarray
) -> dict[str, list[Any]]:
    """What keeps each of the indices out of the choice, where there are constraints on places."""
    if not constraints:
        return {}
    found = [constraint.kept_out(chosen, labels.tolist()) for constraint in constraints]
    members = set(chosen.tolist())
    reasons = []
    for j in indices.tolist():
        words = [reasons_of[j] for reasons_of in found if reasons_of[j] is not None]
        reasons.append("; ".join(words) if words and j not in members else None)
    return {"kept_out": reasons}
