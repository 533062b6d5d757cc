"""Curves: the error against k, methods side by side, and the weights of a relaxation (Figure 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..how_many.cross_validated import HeldOut
from ..how_many.curve import Curve, checked_sizes, sweep
from ..problem import Problem
from .axes import BLUE, COLOURS, GREY, MARKERS, ORANGE, Display, Drawn, logarithmic, new_axes

if TYPE_CHECKING:
    from ..methods.trajectory import Trajectory
    from ..selection import Selection

DOTTED: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 3, "linewidth": 1.2}
MARKED: dict[str, Any] = {"color": ORANGE, "marker": "D", "linestyle": "none", "zorder": 3}
SUPPORT = 0.05  # relative to the largest final weight: weights above it count as selected


class ErrorCurveDisplay(Display):
    """The relative error for each k.

    Parameters
    ----------
    ks : the sizes.
    greedy : the error of greedy choices of these sizes.
    best : the error of the best k directions, a lower bound.
    chosen : the size and the error of a selection to mark.
    noun : what one candidate is.

    Attributes
    ----------
    ax_, figure_ : what was drawn on.

    Examples
    --------
    >>> from landmarks.plots import ErrorCurveDisplay
    >>> X = np.random.default_rng(0).standard_normal((30, 8))
    >>> display = ErrorCurveDisplay.from_selection(lm.select(X, 3))
    >>> display.ax_.get_xlabel()
    'columns chosen'
    """

    def __init__(
        self,
        ks: Any,
        greedy: Any,
        best: Any,
        *,
        chosen: tuple[int, float] | None = None,
        noun: str = "column",
    ):
        self.ks = np.asarray(ks)
        self.greedy = np.asarray(greedy)
        self.best = np.asarray(best)
        self.chosen = chosen
        self.noun = noun

    @classmethod
    def from_selection(
        cls, selection: Selection, *, ks: Any = None, ax: Any = None
    ) -> ErrorCurveDisplay:
        """Draw the curve with the selection marked; by default k is 1 to twice its size."""
        sizes = curve_sizes(selection.n, selection.k) if ks is None else np.asarray(ks)
        curve = greedy_errors(selection, sizes)
        display = cls(
            curve.ks,
            curve.relative,
            best_possible(selection, curve.ks),
            chosen=(selection.k, selection.relative_error()),
            noun=selection._noun,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> ErrorCurveDisplay:
        """Draw."""
        ax = self._set_axes(ax)
        ax.plot(self.ks, 100 * self.greedy, label="greedy choice", **DOTTED)
        dashed = {"color": GREY, "linestyle": "--", "linewidth": 1.2}
        ax.plot(self.ks, 100 * self.best, label="best directions, a lower bound", **dashed)
        if self.chosen is not None:
            k, error = self.chosen
            ax.plot([k], [100 * error], label="this selection", **MARKED)
        _label(ax, self.noun)
        return self


def curve_sizes(n: int, k: int, at_most: int = 60) -> np.ndarray:
    """Sizes from 1 to about twice k, k among them unless nothing was chosen."""
    last = min(n, max(2 * k, 10))
    some = np.linspace(1, last, min(last, at_most)).round().astype(int)
    return np.unique(np.append(some, max(k, 1)))


def greedy_errors(selection: Selection, sizes: np.ndarray) -> Curve:
    """The errors of greedy choices for what the selection was asked."""
    problem = Problem(selection._data, 0, selection.objective, exclude=selection.exclude)
    if not selection.objective.repeats:
        sizes = checked_sizes(sizes, selection.n)
        sizes = sizes[sizes <= len(problem.candidates)]
    return sweep(problem, sizes)


def best_possible(selection: Selection, ks: np.ndarray) -> np.ndarray:
    """The relative error of the best k directions for what the selection was asked."""
    operator, objective = selection._data, selection.objective
    errors = [objective.best_rank_error(operator, int(k), selection.exclude) for k in ks]
    return np.array(errors) / (objective.total(operator) or 1.0)


def plot_curve(curve: Curve, ax: Any = None) -> Drawn:
    """Draw the relative errors in per cent against k, and mark the knee."""
    drawn, knee = Drawn(ax), curve.knee()
    error = 100 * curve.relative[curve.ks.tolist().index(knee)]
    drawn.ax_.plot(curve.ks, 100 * curve.relative, **DOTTED)
    drawn.ax_.plot([knee], [error], label=f"knee, k = {knee}", **MARKED)
    _label(drawn.ax_, "column")
    return drawn


def plot_held_out(curve: HeldOut, ax: Any = None) -> Drawn:
    """Draw the mean error on held-out rows with its standard error, and mark two sizes."""
    drawn, mean, wide = Drawn(ax), 100 * curve.mean, 100 * curve.standard_error
    drawn.ax_.plot(curve.ks, mean, **DOTTED)
    drawn.ax_.fill_between(curve.ks, mean - wide, mean + wide, color=BLUE, alpha=0.15, linewidth=0)
    few = curve.one_standard_error
    error = mean[curve.ks.tolist().index(few)]
    drawn.ax_.plot([few], [error], label=f"within one standard error, k = {few}", **MARKED)
    _label(drawn.ax_, "column")
    drawn.ax_.set_ylabel("error on held-out rows, % of their total")
    return drawn


def _label(ax: Any, noun: str) -> None:
    ax.set(xlabel=f"{noun}s chosen", ylabel="error, % of the total")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8, frameon=False)


class ComparisonDisplay(Display):
    """The errors of several methods.

    Parameters
    ----------
    errors : for each method the relative error for each k.
    noun : what one candidate is.

    Attributes
    ----------
    ax_, figure_ : what was drawn on.

    Examples
    --------
    >>> from landmarks.plots import ComparisonDisplay
    >>> X = np.random.default_rng(0).standard_normal((30, 8))
    >>> selections = [lm.select(X, 3, method=method) for method in ("greedy", "uniform")]
    >>> display = ComparisonDisplay.from_selections(selections)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['Greedy()', 'Uniform()']
    """

    def __init__(self, errors: Mapping[str, Mapping[int, float]], *, noun: str = "column"):
        if not errors:
            raise ValueError("there is nothing to compare: no method has an error")
        self.errors = {method: dict(curve) for method, curve in errors.items()}
        self.noun = noun

    @classmethod
    def from_selections(
        cls, selections: Iterable[Selection], *, ax: Any = None
    ) -> ComparisonDisplay:
        """Draw the errors of selections, grouped by their methods."""
        errors: dict[str, dict[int, float]] = {}
        for selection in selections:
            errors.setdefault(selection.method, {})[selection.k] = selection.relative_error()
        return cls(errors).plot(ax=ax)

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Draw; bars when there is one k, the best on top, else curves."""
        sizes = {k for curve in self.errors.values() for k in curve}
        self._set_axes(ax, 6.0, 3.8)
        if len(sizes) == 1:
            self._bars(sizes.pop())
        else:
            self._curves()
        return self

    def _bars(self, k: int) -> None:
        ranked = sorted(self.errors, key=lambda method: self.errors[method][k])
        values = [100 * self.errors[method][k] for method in ranked]
        bars = self.ax_.barh(ranked, values, color=[BLUE] + [GREY] * (len(ranked) - 1), height=0.65)
        self.ax_.bar_label(bars, fmt="%.2f %%", padding=3, fontsize=8)
        self.ax_.invert_yaxis()
        self.ax_.margins(x=0.15)
        self.ax_.set(xlabel=f"error of {k} {self.noun}s, % of the total")

    def _curves(self) -> None:
        for place, (method, curve) in enumerate(self.errors.items()):
            sizes = sorted(curve)
            style = {"markersize": 4, "linewidth": 1.2, "marker": MARKERS[place % len(MARKERS)]}
            style["color"] = COLOURS[place % len(COLOURS)]
            self.ax_.plot(sizes, [100 * curve[k] for k in sizes], label=method, **style)
        if min(value for curve in self.errors.values() for value in curve.values()) > 0:
            logarithmic(self.ax_)
        self.ax_.set(xlabel=f"{self.noun}s chosen", ylabel="error, % of the total")
        self.ax_.legend(fontsize=8, frameon=False)


def drawn(selected: np.ndarray, at_most: int, seed: int) -> np.ndarray:
    """The columns to draw: a random sample, as in the paper, with the selected ones on top."""
    columns = np.sort(np.random.default_rng(seed).permutation(len(selected))[:at_most])
    return columns[np.argsort(selected[columns], kind="stable")]


class PathDisplay(Display):
    """The trajectories of the weights of a relaxation (Figure 1).

    Parameters
    ----------
    path : the record of a relaxation, as `Selection.path` holds it.

    Attributes
    ----------
    ax_, figure_ : what was drawn on.

    Examples
    --------
    >>> from landmarks.plots import PathDisplay
    >>> X = np.random.default_rng(0).standard_normal((30, 8))
    >>> display = PathDisplay.from_selection(lm.select(X, 3, method="annealed"))
    >>> sorted({line.get_color() for line in display.ax_.get_lines()})
    ['0.7', 'tab:blue']
    """

    def __init__(self, path: Trajectory):
        self.path = path

    @classmethod
    def from_selection(
        cls, selection: Selection, *, ax: Any = None, at_most: int = 300, seed: int = 0
    ) -> PathDisplay:
        """Draw the path of a selection that was made by a relaxation."""
        if not selection.path:
            raise ValueError(
                f"{selection.method} has no path; use method='annealed' or 'continuous'"
            )
        return cls(selection.path).plot(ax=ax, at_most=at_most, seed=seed)

    def plot(self, ax: Any = None, *, at_most: int = 300, seed: int = 0) -> PathDisplay:
        """Draw t against the step, the finally selected columns in blue, others in grey.

        Of more than `at_most` columns a random sample by the seed is drawn.
        """
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        t = self.path.t
        selected = t[-1] > SUPPORT * t[-1].max()
        for j in drawn(selected, at_most, seed):
            colour, order = ("tab:blue", 2) if selected[j] else ("0.7", 1)
            self.ax_.plot(t[:, j], color=colour, linewidth=0.8, zorder=order)
        self.ax_.set(xlabel="step", ylabel="t", ylim=(-0.02, 1.02))
        return self
