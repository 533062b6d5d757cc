"""Draw a figure from its tables; nothing is computed but means, with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..plots.axes import new_figure
from ..plots.path import plot_path
from .claims import SAMPLING, Key, Mean, means, panel_key, rows_of
from .paths import path_file, read_path, runs
from .settings import Figure, Panel
from .table import Row

LABELS = {"factor": "error / best rank-k error", "value": "squared Frobenius error"}
# Okabe and Ito's colours, which colour-blind readers can distinguish, with two darker ones;
# shapes and dashes distinguish the rest.
OURS = ("#000000", "#5D3A9B", "#8C510A", "#D55E00")
OTHERS = ("#0072B2", "#999999", "#E69F00", "#CC79A7", "#009E73", "#56B4E9")
MARKERS = "osD^vP"


def draw(figure: Figure, out: Path) -> list[Path]:
    """Draw a figure from the tables in a folder, into that folder; returns the files."""
    rows = rows_of(figure, out)
    if figure.name == "figure1":
        return save(draw_paths(figure, out, rows), out / figure.stem)
    means_files = save(draw_means(figure, rows), out / figure.stem)
    ratio_files = save(draw_ratios(figure, rows), out / f"{figure.stem}-to-greedy")
    return means_files + ratio_files


def draw_means(figure: Figure, rows: list[Row]) -> object:
    """The curves of all methods over k, one set of axes per data set."""
    return _drawn(figure, means(rows, figure.value), LABELS[figure.value])


def draw_ratios(figure: Figure, rows: list[Row]) -> object:
    """The curves over greedy's error, without the sampling methods, which are far above."""
    found = means(rows, figure.value)
    ratios = {}
    for (dataset, sigma, label, k), mean in found.items():
        if label not in SAMPLING and (greedy := found.get((dataset, sigma, "greedy", k))):
            ratios[dataset, sigma, label, k] = replace(
                mean, value=mean.value / greedy.value, error=mean.error / greedy.value
            )
    title = f"{figure.title.partition(':')[0]}, over greedy's error"
    return _drawn(replace(figure, title=title), ratios, "error / greedy's error")


def _drawn(figure: Figure, found: dict[Key, Mean], ylabel: str) -> object:
    panels = [Axes(panel.title, _lines(figure, panel, found)) for panel in figure.panels]
    return draw_curves([panel for panel in panels if panel.lines], ylabel, figure.title)


def _lines(figure: Figure, panel: Panel, found: dict[Key, Mean]) -> list[Line]:
    lines = []
    for entry in figure.entries:
        known = {
            k: found[key] for k in panel.k if (key := (*panel_key(panel), entry.label, k)) in found
        }
        group = sorted(other.label for other in figure.entries if other.group == entry.group)
        style = group.index(entry.label)
        if known:
            values = known.values()
            lines.append(
                Line(
                    entry.label,
                    list(known),
                    [v.value for v in values],
                    [v.error for v in values],
                    style,
                    entry.group == "ours",
                )
            )
    return lines


def draw_paths(figure: Figure, out: Path, rows: list[Row]) -> object:
    """The trajectories of t: gradient descent on the left, the stochastic one on the right."""
    notes = {row.label: row.note for row in rows}
    labels = [label for label, _ in runs(figure)]
    drawn = new_figure(10, 3.2 * len(labels) / 2 + 0.5)
    axes = drawn.subplots(len(labels) // 2, 2, squeeze=False).ravel()
    for ax, label in zip(axes, labels, strict=True):
        steps, path = read_path(path_file(figure, out, label))
        plot_path(path, ax=ax, at_most=path.t.shape[1])
        for line in ax.get_lines():
            line.set_xdata(steps)
            line.set_rasterized(True)  # hundreds of lines would make an SVG of megabytes
        ax.relim()
        ax.autoscale_view(scaley=False)
        kind, penalty = label.split()
        name = "gradient descent"
        if kind != "GD":
            name = f"stochastic gradient descent, M = {figure.options['n_probes']}"
        ax.set_title(
            f"{name}, λ = {penalty}, δ = {figure.options['delta']:g}\n{notes.get(label, '')}",
            fontsize=10,
        )
    drawn.suptitle(figure.title)
    return drawn


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
