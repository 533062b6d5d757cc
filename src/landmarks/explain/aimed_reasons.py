"""Why these candidates, for a target or noise: what each adds, substitutes, what is rebuilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..linalg.reconstruction import Reconstruction
from ..placement.packing import exchangeable
from ..residual.aimed.cross import Cross
from ..residual.aimed.explicit_aim import Rebuilding
from ..residual.aimed.rebuilding import rebuilding
from .substitutes import Substitutes
from .table import Table, identity, kept_out, source_columns

if TYPE_CHECKING:
    from ..selection import Selection

SURE = 1e-9  # of the error and of what a drop costs: a cost below it is rounding


def aimed_substitutes(selection: Selection, each: int) -> Substitutes:
    """What each chosen candidate adds, and the cheapest substitutes."""
    adds, costs = _costs(selection, _base(selection))
    count = min(each, int(np.max(np.sum(np.isfinite(costs), axis=1))))
    cheapest = np.argsort(costs, axis=1, kind="stable")[:, :count]
    return Substitutes(adds, cheapest, np.take_along_axis(costs, cheapest, axis=1))


def aimed_table(selection: Selection, each: int, labels: np.ndarray) -> Table:
    """A row per column of the target, or per candidate, the worst rebuilt first."""
    rebuilt = selection.reconstruction()
    order = np.argsort(rebuilt.r2, kind="stable")
    names = range(len(order)) if rebuilt.names is None else rebuilt.names
    columns = identity(order, np.asarray(names, dtype=object)) | {"r2": rebuilt.r2[order].tolist()}
    if selection.aim is None or selection.aim.target is None or not selection.aim.rows:
        columns |= kept_out(selection.constraints, selection.indices, order, labels)
    weights = _weights(selection, rebuilt)[:, order].T
    return Table(columns | source_columns(labels[rebuilt.indices], weights, each))


def _base(selection: Selection) -> Rebuilding:
    if selection.aim is None:
        raise ValueError("the selection has neither a target nor noise")
    return rebuilding(selection._data, selection.aim)


def _costs(selection: Selection, base: Rebuilding) -> tuple[np.ndarray, np.ndarray]:
    """The rise of the error without each chosen candidate, and its change for each substitution."""
    state = Cross(base, selection.k, selection.indices)
    places = np.flatnonzero(state.members >= 0)
    rows = _rows_of(selection.indices, state.members[places])
    adds, costs = np.zeros(selection.k), np.tile(-state.gains(), (selection.k, 1))
    gains, adds[rows] = state.pair_gains(places)
    costs[rows] = -gains
    costs[np.abs(costs) <= SURE * (state.error + adds[:, None])] = 0.0
    repeats = selection.aim is not None and selection.aim.repeats
    costs[:, list(selection.exclude)] = np.inf
    if not repeats:
        costs[:, selection.indices] = np.inf
    if selection.constraints:
        costs[~exchangeable(selection.constraints, selection.indices)] = np.inf
    total = base.total or 1.0
    return adds / total, costs / total


def _rows_of(indices: np.ndarray, members: np.ndarray) -> np.ndarray:
    """The place of each member in the choice; equal ones in turn."""
    left = [int(j) for j in indices]
    rows = []
    for j in members:
        row = left.index(int(j))
        left[row] = -1
        rows.append(row)
    return np.asarray(rows, dtype=np.int64)


def _weights(selection: Selection, rebuilt: Reconstruction) -> np.ndarray:
    """The coefficients for columns of length one."""
    own = np.sqrt(np.maximum(np.asarray(_base(selection).lengths), 0.0))[rebuilt.indices]
    target = None if selection.aim is None else selection.aim.target
    if target is not None and selection.aim is not None and selection.aim.rows:
        lengths = np.sqrt(np.sum(target**2, axis=0))
    else:
        lengths = np.sqrt(np.sum(_base(selection).A ** 2, axis=0))
    terms = rebuilt.coefficients * own[:, None]
    weights = np.divide(terms, lengths, out=np.zeros_like(terms), where=lengths > 0)
    return np.where(np.abs(weights) > 1e-12, weights, 0.0)
