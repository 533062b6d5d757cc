"""Curves: the error against k, methods side by side, and the weights of a relaxation (Figure 1)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import RankWarning
from ..how_many.cross_validated import HeldOut
from ..how_many.curve import Curve, sweep
from ..linalg.error import spectrum_is_cheap
from ..problem import Problem
from .axes import BLUE, COLOURS, GREY, MARKERS, ORANGE, Drawn, logarithmic

if TYPE_CHECKING:
    from ..methods.trajectory import Trajectory
    from ..selection import Selection

DOTTED: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 3, "linewidth": 1.2}
MARKED: dict[str, Any] = {"color": ORANGE, "marker": "D", "linestyle": "none", "zorder": 3}
SUPPORT = 0.05  # relative to the largest final weight: weights above it count as selected


def plot_errors(selection: Selection, ax: Any = None) -> Drawn:
    """Draw the error of greedy choices up to twice the size of the selection, which is marked."""
    curve, best = error_curve(selection, at_most=60)
    drawn = Drawn(ax)
    drawn.ax_.plot(curve.ks, 100 * curve.relative, label="greedy choice", **DOTTED)
    if best is not None:
        dashed = {"color": GREY, "linestyle": "--", "linewidth": 1.2}
        drawn.ax_.plot(curve.ks, 100 * best, label="best directions, a lower bound", **dashed)
    error = 100 * selection.relative_error()
    drawn.ax_.plot([selection.k], [error], label="this selection", **MARKED)
    return _against_size(drawn, selection._noun)


def error_curve(selection: Selection, at_most: int) -> tuple[Curve, np.ndarray | None]:
    """The errors of greedy choices for k up to about twice that of the selection.

    With them those of the best k directions, where the spectrum costs little.
    """
    operator, objective, exclude = selection._data, selection.objective, selection.exclude
    last = min(operator.n, max(2 * selection.k, 10))
    sizes = np.linspace(1, last, min(last, at_most)).round().astype(int)
    sizes = np.unique(np.append(sizes, max(selection.k, 1)))
    problem = Problem(operator, 0, objective, exclude=exclude)
    if not objective.repeats:
        sizes = sizes[sizes <= len(problem.candidates)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # beyond the rank the curve is zero
        curve = sweep(problem, sizes)
    if not spectrum_is_cheap(operator):
        return curve, None
    errors = [objective.best_rank_error(operator, int(k), exclude) for k in curve.ks]
    return curve, np.array(errors) / (objective.total(operator) or 1.0)


def plot_curve(curve: Curve, ax: Any = None) -> Drawn:
    """Draw the relative errors in per cent against k, and mark the knee."""
    drawn, knee = Drawn(ax), curve.knee()
    error = 100 * curve.relative[curve.ks.tolist().index(knee)]
    drawn.ax_.plot(curve.ks, 100 * curve.relative, **DOTTED)
    drawn.ax_.plot([knee], [error], label=f"knee, k = {knee}", **MARKED)
    return _against_size(drawn)


def plot_held_out(curve: HeldOut, ax: Any = None) -> Drawn:
    """Draw the mean error on held-out rows with its standard error, and mark two sizes."""
    drawn, mean, wide = Drawn(ax), 100 * curve.mean, 100 * curve.standard_error
    drawn.ax_.plot(curve.ks, mean, **DOTTED)
    drawn.ax_.fill_between(curve.ks, mean - wide, mean + wide, color=BLUE, alpha=0.15, linewidth=0)
    few = curve.one_standard_error
    error = mean[curve.ks.tolist().index(few)]
    drawn.ax_.plot([few], [error], label=f"within one standard error, k = {few}", **MARKED)
    _against_size(drawn)
    drawn.ax_.set_ylabel("error on held-out rows, % of their total")
    return drawn


def _against_size(drawn: Drawn, noun: str = "column", lowest: float | None = 0.0) -> Drawn:
    drawn.ax_.set(xlabel=f"{noun}s chosen", ylabel="error, % of the total")
    drawn.ax_.set_ylim(bottom=lowest)
    drawn.ax_.legend(fontsize=8, frameon=False)
    return drawn


def plot_methods(errors: dict[str, dict[int, float]], ax: Any, noun: str) -> Drawn:
    """Draw the relative errors of methods: bars for one k, the best on top, else curves."""
    if not errors:
        raise ValueError("there is nothing to compare: no method has an error")
    sizes = sorted({k for curve in errors.values() for k in curve})
    drawn = Drawn(ax, 6.0, 3.8)
    ax = drawn.ax_
    if len(sizes) == 1:
        ranked = sorted(errors, key=lambda method: errors[method][sizes[0]])
        values = [100 * errors[method][sizes[0]] for method in ranked]
        colours = [BLUE] + [GREY] * (len(ranked) - 1)
        bars = ax.barh(ranked, values, color=colours, height=0.65)
        ax.bar_label(bars, fmt="%.2f %%", padding=3, fontsize=8)
        ax.invert_yaxis()
        ax.margins(x=0.15)
        ax.set(xlabel=f"error of {sizes[0]} {noun}s, % of the total")
        return drawn
    for place, (method, curve) in enumerate(errors.items()):
        style = {"markersize": 4, "linewidth": 1.2, "marker": MARKERS[place % len(MARKERS)]}
        style["color"] = COLOURS[place % len(COLOURS)]
        ks = sorted(curve)
        ax.plot(ks, [100 * curve[k] for k in ks], label=method, **style)
    positive = min(value for curve in errors.values() for value in curve.values()) > 0
    if positive:
        logarithmic(ax)
    return _against_size(drawn, noun, None if positive else 0.0)


def sampled(selected: np.ndarray, at_most: int, seed: int) -> np.ndarray:
    """The columns to draw: a random sample, as in the paper, with the selected ones on top."""
    columns = np.sort(np.random.default_rng(seed).permutation(len(selected))[:at_most])
    return columns[np.argsort(selected[columns], kind="stable")]


def plot_path(path: Trajectory, ax: Any, at_most: int, seed: int) -> Drawn:
    """The trajectories of the weights of a relaxation (Figure 1).

    Columns that end selected are blue; of more than `at_most` columns a random sample is drawn.
    """
    drawn, t = Drawn(ax), path.t
    selected = t[-1] > SUPPORT * t[-1].max()
    for j in sampled(selected, at_most, seed):
        colour, order = ("tab:blue", 2) if selected[j] else ("0.7", 1)
        drawn.ax_.plot(t[:, j], color=colour, linewidth=0.8, zorder=order)
    drawn.ax_.set(xlabel="step", ylabel="t", ylim=(-0.02, 1.02))
    return drawn
