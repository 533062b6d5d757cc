"""Error against k: greedy choices of every size, the lower bound, and one selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..how_many.cross_validated import HeldOut
from ..how_many.curve import Curve, path, sweep
from ..objectives.objective import Objective
from ..operators.base import Operator
from ..problem import Problem
from ..selection import Selection
from .axes import BLUE, GREY, ORANGE, Display, Drawn

DOTTED: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 3, "linewidth": 1.2}
MARKED: dict[str, Any] = {"color": ORANGE, "marker": "D", "linestyle": "none", "zorder": 3}


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
        return cls.of(selection, ks).plot(ax=ax)

    @classmethod
    def of(cls, selection: Selection, ks: Any = None) -> ErrorCurveDisplay:
        """The curve of the data of a selection, not drawn yet."""
        operator = selection._data
        sizes = curve_sizes(operator.n, selection.k) if ks is None else np.asarray(ks)
        curve = greedy_errors(selection, sizes)
        return cls(
            curve.ks,
            curve.relative,
            best_possible(selection, curve.ks),
            chosen=(selection.k, selection.relative_error()),
            noun="column" if operator.m is not None else "landmark",
        )

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
    """Sizes from 1 to about twice k, k among them."""
    last = min(n, max(2 * k, 10))
    return np.unique(np.append(np.linspace(1, last, min(last, at_most)).round().astype(int), k))


def greedy_errors(selection: Selection, sizes: np.ndarray) -> Curve:
    """The errors of greedy choices for what the selection was asked."""
    operator, objective = selection._data, selection.objective
    if objective.plain:
        return path(operator, sizes, criterion=selection.criterion)
    problem = Problem(operator, 0, objective, exclude=selection.exclude)
    most = len(problem.candidates)
    return sweep(problem, sizes if objective.repeats else sizes[sizes <= most])


def best_possible(selection: Selection, ks: np.ndarray) -> np.ndarray:
    """The relative error of the best k directions for what the selection was asked."""
    return best_errors(selection._data, ks, selection.objective, selection.exclude)


def best_errors(
    operator: Operator, ks: np.ndarray, objective: Objective, exclude: tuple[int, ...] = ()
) -> np.ndarray:
    """The relative error of the best rank-k approximation for each k."""
    errors = [objective.best_rank_error(operator, int(k), exclude) for k in ks]
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
