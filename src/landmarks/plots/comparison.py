"""Methods side by side: their errors as bars for one k, as curves for several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..selection import Selection
from .axes import BLUE, COLOURS, GREY, MARKERS, Display, logarithmic


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
