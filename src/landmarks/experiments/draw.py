"""Draw a figure from its tables; nothing is computed but means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..plots.axes import new_figure
from ..plots.curves import Axes, Line, draw_curves, save
from ..plots.path import plot_path
from .paths import path_file, read_path, runs
from .settings import Figure, Panel
from .summary import SAMPLING, Key, Mean, means, panel_key, rows_of
from .table import Row

LABELS = {"factor": "error / best rank-k error", "value": "squared Frobenius error"}


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
