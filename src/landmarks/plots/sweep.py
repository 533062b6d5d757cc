"""The curve of `lm.path`: error against k, with its knee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .axes import BLUE, ORANGE, new_axes

if TYPE_CHECKING:
    from ..how_many.curve import Curve


def plot_curve(curve: Curve, ax: Any = None) -> Any:
    """Draw the relative errors in per cent against k, and mark the knee; returns the axes."""
    ax = new_axes() if ax is None else ax
    knee = curve.knee()
    place = curve.ks.tolist().index(knee)
    errors = 100 * curve.relative
    ax.plot(curve.ks, errors, color=BLUE, marker="o", markersize=3, linewidth=1.2)
    ax.plot([knee], [errors[place]], "D", color=ORANGE, label=f"knee, k = {knee}", zorder=3)
    ax.set(xlabel="columns chosen", ylabel="error, % of the total")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
