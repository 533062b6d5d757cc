"""Axes to draw on, and colours for any colour vision (Okabe and Ito, 2008)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "0.6"
COLOURS = (BLUE, ORANGE, GREEN, PINK, "#e69f00", "#56b4e9", "#999999", "#000000", "#f0e442")
MARKERS = "os^Dv<>PX"


class Display:
    """A drawing that notebooks display."""

    ax_: Any = None
    figure_: Any = None

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


def new_axes(width: float = 5.0, height: float = 3.5, columns: int = 1) -> Any:
    """Axes of a new figure that opens no window; more columns give an array of axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install matplotlib") from error
    return Figure(figsize=(width, height), layout="constrained").subplots(1, columns)
