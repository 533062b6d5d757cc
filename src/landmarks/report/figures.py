"""The numbers behind the page: error against k, path of t, correlations, and files to download."""

import base64
import csv
import io
import json
import warnings
from typing import Any

import numpy as np

from .._array import host
from ..errors import RankWarning
from ..operators.base import Operator
from ..plots.error_curve import best_possible, curve_sizes, greedy_errors
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
        curve = greedy_errors(selection, sizes)
    best = None
    if spectrum_is_cheap(operator):
        best = _percent(best_possible(selection, curve.ks))
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


def downloads(selection: Selection, noun: str) -> list[dict[str, str]]:
    """A name, a file name and an address that holds the file, for each form."""
    names = selection.chosen_names or [int(j) for j in selection.indices]
    record = {"indices": selection.indices.tolist(), "names": _plain(names)}
    forms = {
        "CSV": ("chosen.csv", "text/csv", _csv(selection, names, noun)),
        "JSON": ("chosen.json", "application/json", json.dumps(record, indent=2) + "\n"),
        "Python": ("chosen.py", "text/x-python", f"chosen = {_plain(names)!r}\n"),
    }
    return [
        {
            "form": form,
            "file": file,
            "address": f"data:{kind};charset=utf-8;{_encoded(text)}",
        }
        for form, (file, kind, text) in forms.items()
    ]


def _csv(selection: Selection, names: list[Any], noun: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["order", "index", noun])
    for place, (j, name) in enumerate(zip(selection.indices, names, strict=True), 1):
        writer.writerow([place, int(j), _harmless(str(name))])
    return text.getvalue()


def _harmless(name: str) -> str:
    """A name that a spreadsheet does not treat as a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _plain(names: list[Any]) -> list[Any]:
    """Names as text and numbers as numbers; anything else as it is printed."""
    return [name if isinstance(name, str | int) else str(name) for name in names]


def _encoded(text: str) -> str:
    return "base64," + base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
