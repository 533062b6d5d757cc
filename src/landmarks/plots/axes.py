"""Axes to draw on, and colours for any colour vision (Okabe and Ito, 2008)."""

from io import BytesIO
from typing import Any

import numpy as np

BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "0.6"
COLOURS = (BLUE, ORANGE, GREEN, PINK, "#e69f00", "#56b4e9", "#999999", "#000000", "#f0e442")
MARKERS = "os^Dv<>PX"
NUMBERED = 30  # up to this many places are numbered


class Drawn:
    """A drawing that notebooks display; it has the methods of its axes, such as `set_title`.

    Parameters
    ----------
    ax : the axes to draw on, which are then `ax_`; those of a new figure, `figure_`, unless given.
    width, height : of a new figure, in inches.

    Examples
    --------
    >>> drawn = lm.path(np.diag([3.0, 2.0, 1.0]), 3).plot()
    >>> _ = drawn.set_title("three columns")
    >>> drawn.ax_.get_title()
    'three columns'
    """

    def __init__(self, ax: Any = None, width: float = 5.0, height: float = 3.5):
        self.ax_ = new_figure(width, height).subplots() if ax is None else ax
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.figure_ = self.ax_.figure

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "ax_":
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return getattr(self.ax_, name)

    def _repr_png_(self) -> bytes:
        image = BytesIO()
        self.figure_.savefig(image, format="png", dpi=120)
        return image.getvalue()


def bars(names: list[Any], values: Any, label: str, ax: Any = None, at_most: int = 20) -> Drawn:
    """Horizontal bars, the first on top; above `at_most` only the first ones."""
    shown = [str(name)[:40] for name in names[:at_most]]
    drawn = Drawn(ax, 5.0, 0.8 + 0.22 * len(shown))
    places = range(len(shown))
    drawn.ax_.barh(places, list(values)[:at_most], color=BLUE, height=0.65)
    drawn.ax_.set_yticks(places, shown, fontsize=8)
    drawn.ax_.invert_yaxis()
    drawn.ax_.set_xlabel(label)
    return drawn


def logarithmic(ax: Any) -> None:
    """A logarithmic scale of errors, whose ticks are numbers such as 20 and not 2 × 10¹."""
    from matplotlib.ticker import LogFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(LogFormatter())
    ax.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.4)))


def mark(ax: Any, at: np.ndarray, **more: Any) -> None:
    """Draw the chosen points with their places in the order of choice, if these can be read."""
    ax.scatter(*at.T, color=ORANGE, edgecolors="white", linewidths=0.8, zorder=3, **more)
    numbers: dict[tuple[float, ...], list[str]] = {}
    for number, point in enumerate(at.tolist(), 1):
        numbers.setdefault(tuple(point), []).append(str(number))
    if len(at) <= NUMBERED:
        from matplotlib.patheffects import withStroke

        clear = {"path_effects": [withStroke(linewidth=2, foreground="white")]}
        for point, listed in numbers.items():
            words = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": 8}
            ax.annotate(", ".join(listed), point, **words, **clear)


def new_figure(width: float, height: float) -> Any:
    """An empty figure that opens no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install matplotlib") from error
    return Figure(figsize=(width, height), layout="constrained")
