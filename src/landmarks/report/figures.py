"""The numbers behind the drawings of the page: error against k, path of t, correlations."""

from __future__ import annotations

import base64
import warnings
from typing import Any

import numpy as np

from .._array import host
from ..errors import RankWarning
from ..how_many.curve import path
from ..operators.base import Operator
from ..plots.error_curve import best_errors, curve_sizes
from ..plots.path import drawn
from ..selection import Selection
from .summary import spectrum_is_cheap

# the most that is drawn
TRAJECTORIES = 300
STEPS = 160
OTHERS = 2000


def error_curve(selection: Selection) -> dict[str, Any]:
    """The error in percent of greedy choices and of the best directions, up to about twice k."""
    operator = selection._data
    sizes = curve_sizes(operator.n, selection.k, at_most=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # beyond the rank the curve is zero
        curve = path(operator, sizes, criterion=selection.criterion)
    best = None
    if spectrum_is_cheap(operator):
        best = _percent(best_errors(operator, curve.ks, selection.criterion))
    return {
        "k": curve.ks.tolist(),
        "greedy": _percent(curve.relative),
        "best": best,
        "chosen": [selection.k, *_percent(np.array([selection.relative_error()]))],
    }


def trajectories(selection: Selection) -> dict[str, Any] | None:
    """The weights of the chosen and some other columns over the steps of a relaxation."""
    if not selection.path:
        return None
    t = np.asarray(selection.path.t)
    steps = np.unique(np.linspace(0, len(t) - 1, min(len(t), STEPS)).round().astype(int))
    chosen = np.zeros(selection.n, dtype=bool)
    chosen[selection.indices] = True
    columns = _with_chosen(chosen, drawn(chosen, TRAJECTORIES, seed=0))
    levels = np.rint(255 * np.clip(t[np.ix_(steps, columns)], 0, 1)).astype(np.uint8)
    return {
        "step": steps.tolist(),
        "column": columns.tolist(),
        "chosen": chosen[columns].tolist(),
        "t": _packed(levels.T),
    }


def correlations(selection: Selection) -> dict[str, Any] | None:
    """The chosen against the others, those that resemble the same chosen one side by side."""
    operator = selection._data
    others = np.setdiff1d(np.arange(selection.n), selection.indices)
    if len(others) == 0:
        return None
    others = others[np.linspace(0, len(others) - 1, min(len(others), OTHERS)).astype(int)]
    C = correlation(operator, selection.indices, others)
    nearest = np.argmax(np.abs(C), axis=0)
    order = np.lexsort((-np.abs(C).max(axis=0), nearest))
    levels = np.rint(127 * np.clip(C[:, order], -1, 1)).astype(np.int8)
    return {
        "chosen": selection.indices.tolist(),
        "other": others[order].tolist(),
        "levels": _packed(levels),
    }


def correlation(operator: Operator, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
    """K_ij/√(K_ii K_jj): the correlation of centred columns, the cosine of others."""
    lengths = np.sqrt(np.maximum(host(operator.diagonal()).astype(np.float64), 0.0))
    products = host(operator.columns(chosen)).astype(np.float64)[others].T
    scale = np.outer(lengths[chosen], lengths[others])
    return np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)


def _with_chosen(chosen: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The columns with all chosen ones last; if there are too many, others are left out."""
    members = np.flatnonzero(chosen)
    others = columns[~chosen[columns]][: max(0, TRAJECTORIES - len(members))]
    return np.concatenate([others, members])


def _percent(parts: np.ndarray) -> list[float]:
    return [float(f"{100 * part:.5g}") for part in parts]


def _packed(levels: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(levels).tobytes()).decode("ascii")
