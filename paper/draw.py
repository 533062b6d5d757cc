"""Draw a figure from its tables; nothing is computed but means, with their standard errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from landmarks.methods.trajectory import Trajectory
from landmarks.plots.axes import new_figure

from .run import descents
from .settings import Entry, Figure, Panel
from .table import SAMPLING, Mean, Means, Row, means, rows_of

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


def draw_means(figure: Figure, rows: list[Row]) -> Any:
    """The curves of all methods over k, one set of axes per data set."""
    return _drawn(figure, means(rows, figure.value), LABELS[figure.value])


def draw_ratios(figure: Figure, rows: list[Row]) -> Any:
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


def _drawn(figure: Figure, found: Means, ylabel: str) -> Any:
    """A logarithmic axis of errors for each panel with results, and one legend for all."""
    lines = [(panel, _lines(figure, panel, found)) for panel in figure.panels]
    panels = [(panel, known) for panel, known in lines if known]
    width, height = (2, 2) if len(panels) == 4 else (len(panels), 1)
    drawn = new_figure(4.4 * width, 3.5 * height + 1.0)
    axes = drawn.subplots(height, width, squeeze=False).ravel()
    for place, (ax, (panel, known)) in enumerate(zip(axes, panels, strict=True)):
        for entry, by_size in known:
            _draw_line(ax, figure, entry, by_size)
        ax.set(title=panel.title, yscale="log", xlabel="k")
        ax.set(ylabel=ylabel if place % width == 0 else "")
        ax.grid(True, which="both", color="0.92", linewidth=0.6)
        readable_ticks(ax)
    handles = {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    columns = min(len(handles) or 1, 5)
    place_below = {"loc": "outside lower center", "ncols": columns, "frameon": False}
    drawn.legend(handles.values(), handles.keys(), **place_below)
    drawn.suptitle(figure.title)
    return drawn


def _lines(figure: Figure, panel: Panel, found: Means) -> list[tuple[Entry, dict[int, Mean]]]:
    """The methods of a panel that have results, with their means by k."""
    lines = []
    for entry in figure.entries:
        keys = {k: (*panel.key, entry.label, k) for k in panel.k}
        if known := {k: found[key] for k, key in keys.items() if key in found}:
            lines.append((entry, known))
    return lines


def _draw_line(ax: Any, figure: Figure, entry: Entry, known: dict[int, Mean]) -> None:
    """One line with bars of one standard error; broader below, so that coinciding lines show."""
    ours = entry.group == "ours"
    group = sorted(other.label for other in figure.entries if other.group == entry.group)
    style = group.index(entry.label)
    colours, above = OURS if ours else OTHERS, style % 4
    ax.errorbar(
        list(known),
        [mean.value for mean in known.values()],
        yerr=[mean.error for mean in known.values()],
        label=entry.label,
        color=colours[style % len(colours)],
        marker=MARKERS[style % len(MARKERS)],
        linestyle="-" if ours else "--",
        linewidth=2.8 - 0.5 * above if ours else 1.1,
        markersize=8 - 1.2 * above if ours else 4,
        zorder=3 + above if ours else 2,
        capsize=2,
    )


def draw_paths(figure: Figure, out: Path, rows: list[Row]) -> object:
    """The trajectories of t: gradient descent on the left, the stochastic one on the right."""
    notes = {row.label: row.note for row in rows}
    planned = list(descents(figure, out))
    drawn = new_figure(10, 3.2 * len(planned) / 2 + 0.5)
    axes = drawn.subplots(len(planned) // 2, 2, squeeze=False).ravel()
    for ax, descent in zip(axes, planned, strict=True):
        numbers = np.loadtxt(descent.file, delimiter=",", skiprows=1, ndmin=2)
        steps, t = numbers[:, 0], numbers[:, 1:]
        nothing = np.zeros(len(t))  # of the rest of a trajectory nothing is drawn
        Trajectory(t, nothing, nothing, nothing).plot(ax, at_most=t.shape[1])
        for line in ax.get_lines():
            line.set_xdata(steps)
            line.set_rasterized(True)  # hundreds of lines would make an SVG of megabytes
        ax.relim()
        ax.autoscale_view(scaley=False)
        kind, penalty = descent.label.split()
        name = "gradient descent"
        if kind != "GD":
            name = f"stochastic gradient descent, M = {figure.options['n_probes']}"
        settings = f"{name}, λ = {penalty}, δ = {figure.options['delta']:g}"
        ax.set_title(f"{settings}\n{notes.get(descent.label, '')}", fontsize=10)
    drawn.suptitle(figure.title)
    return drawn


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
