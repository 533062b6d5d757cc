"""Curves of means with their standard errors, one set of axes per panel and one legend for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .axes import new_figure

# Okabe and Ito's colours, which colour-blind readers can distinguish, with two darker ones;
# shapes and dashes distinguish the rest.
OURS = ("#000000", "#5D3A9B", "#8C510A", "#D55E00")
OTHERS = ("#0072B2", "#999999", "#E69F00", "#CC79A7", "#009E73", "#56B4E9")
MARKERS = "osD^vP"


@dataclass(frozen=True)
class Line:
    """One method: its sizes, means and standard errors (NaN if unknown).

    ours : whether to draw it thicker and on top.
    style : its place among ours, or among the others.
    """

    label: str
    k: Sequence[int]
    mean: Sequence[float]
    error: Sequence[float]
    style: int
    ours: bool = False


@dataclass(frozen=True)
class Axes:
    """One panel: its title and its lines."""

    title: str
    lines: Sequence[Line]


def draw_curves(panels: Sequence[Axes], ylabel: str, title: str = "") -> Any:
    """A matplotlib figure with a logarithmic axis of errors for each panel."""
    width, height = (2, 2) if len(panels) == 4 else (len(panels), 1)
    figure = new_figure(4.4 * width, 3.5 * height + 1.0)
    axes = figure.subplots(height, width, squeeze=False).ravel()
    for place, (ax, panel) in enumerate(zip(axes, panels, strict=True)):
        for line in panel.lines:
            draw_line(ax, line)
        ax.set(
            title=panel.title, yscale="log", xlabel="k", ylabel=ylabel if place % width == 0 else ""
        )
        ax.grid(True, which="both", color="0.92", linewidth=0.6)
        readable_ticks(ax)
    handles = {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles) or 1, 5),
        frameon=False,
    )
    if title:
        figure.suptitle(title)
    return figure


def draw_line(ax: Any, line: Line) -> None:
    """One line with bars of one standard error; broader below, so that coinciding lines show."""
    colours = OURS if line.ours else OTHERS
    above = line.style % 4
    ax.errorbar(
        line.k,
        line.mean,
        yerr=line.error,
        label=line.label,
        color=colours[line.style % len(colours)],
        marker=MARKERS[line.style % len(MARKERS)],
        linestyle="-" if line.ours else "--",
        linewidth=2.8 - 0.5 * above if line.ours else 1.1,
        markersize=8 - 1.2 * above if line.ours else 4,
        zorder=3 + above if line.ours else 2,
        capsize=2,
    )


def readable_ticks(ax: Any) -> None:
    """Plain numbers on a logarithmic axis of less than two decades, which has too few ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    low, high = ax.get_ylim()
    if low <= 0 or high / low > 100:
        return
    ax.yaxis.set_major_locator(
        MaxNLocator(7) if high / low < 4 else LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
    )
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if value < 1e4 else f"{value:.2g}")
    )
    ax.yaxis.set_minor_formatter(NullFormatter())
    if high / low < 4:
        ax.yaxis.set_minor_locator(NullLocator())


def save(figure: Any, stem: Path) -> list[Path]:
    """Write a figure as PNG and SVG; the SVG has no date in it, so one table gives one file."""
    import matplotlib

    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    with matplotlib.rc_context({"svg.hashsalt": "landmarks"}):
        figure.savefig(paths[0], dpi=150)
        figure.savefig(paths[1], metadata={"Date": None})
    return paths
