"""Axes to draw on, and colours for any colour vision (Okabe and Ito, 2008)."""

from io import BytesIO
from typing import Any

BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "0.6"
COLOURS = (BLUE, ORANGE, GREEN, PINK, "#e69f00", "#56b4e9", "#999999", "#000000", "#f0e442")
MARKERS = "os^Dv<>PX"
NUMBERED = 30  # up to this many places are numbered


class Display:
    """A drawing that notebooks display; it has the methods of its axes, such as `set_title`."""

    ax_: Any = None
    figure_: Any = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self.ax_ is None:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return getattr(self.ax_, name)

    def _set_axes(self, ax: Any, width: float = 5.0, height: float = 3.5) -> Any:
        """Remember the axes to draw on: the given ones, or those of a new figure."""
        self.ax_ = new_axes(width, height) if ax is None else ax
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.figure_ = self.ax_.figure
        return self.ax_

    def _repr_png_(self) -> bytes | None:
        if self.figure_ is None:
            return None
        image = BytesIO()
        self.figure_.savefig(image, format="png", dpi=120)
        return image.getvalue()


class Drawn(Display):
    """Axes that were drawn on; without any, those of a new figure."""

    def __init__(self, ax: Any = None, width: float = 5.0, height: float = 3.5):
        self._set_axes(ax, width, height)


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


def mark(ax: Any, x: Any, y: Any, **more: Any) -> None:
    """Draw the chosen points; write 1, 2, … next to them, unless there are too many to read."""
    ax.scatter(x, y, color=ORANGE, edgecolors="white", linewidths=0.8, zorder=3, **more)
    if len(x) <= NUMBERED:
        for place, at in enumerate(zip(x, y, strict=True), 1):
            ax.annotate(str(place), at, xytext=(4, 4), textcoords="offset points", fontsize=7)


def new_axes(width: float = 5.0, height: float = 3.5, columns: int = 1) -> Any:
    """Axes of a new figure that opens no window; more columns give an array of axes."""
    return new_figure(width, height).subplots(1, columns)


def new_figure(width: float, height: float) -> Any:
    """An empty figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install matplotlib") from error
    return Figure(figsize=(width, height), layout="constrained")
