"""Means of the tables with their standard errors, as summaries and as checks of the claims."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from .settings import Figure, Panel, read_settings
from .table import Row, read_rows

SAMPLING = ("uniform", "leverage scores", "k-DPP")


def claims_of(out: Path) -> Iterator[str]:
    """The lines of the page of claims, from the tables of figures 2, 3 and 4 in a folder."""
    for name in ("figure2", "figure3", "figure4"):
        path = out / f"{name}.csv"
        if not path.is_file():
            yield f"{name}: no table in {out}; run `landmarks reproduce {name}`"
            continue
        figure, rows = read_settings(name), read_rows(path)
        sizes = {(row.dataset, row.sigma): row.n for row in rows if row.n}
        yield from against(figure, means(rows, figure.value), sizes)


@dataclass(frozen=True)
class Cell:
    """One panel and k: the continuous method, greedy, the best sampling method and our default."""

    title: str
    k: int
    n: int
    continuous: Mean
    greedy: Mean
    sampling: Mean
    auto: Mean

    def __str__(self) -> str:
        timed = (self.continuous, self.greedy, self.auto)
        seconds = ", ".join(f"{mean.seconds:.2g}" for mean in timed)
        products = ", ".join(f"{mean.products:.0f}" for mean in timed)
        ratios = [
            quotient(self.continuous, self.greedy),
            quotient(self.continuous, self.sampling),
            quotient(self.auto, self.greedy),
        ]
        return table_row(self.title, self.k, f"{self.k / self.n:.3g}", *ratios, seconds, products)


def against(
    figure: Figure, found: dict[Key, Mean], sizes: dict[tuple[str, str], int]
) -> Iterator[str]:
    """A line for each panel and k with the ratios of errors and the costs, then a count of wins."""
    cells = [
        cell
        for panel in figure.panels
        for k in panel.k
        if (cell := compared(panel, k, sizes.get(panel_key(panel), 0), found))
    ]
    heads = ["data", "k", "k/n", "continuous / greedy", "continuous / best sampling"]
    heads += ["auto / greedy"]
    heads += [f"{cost}: continuous, greedy, auto" for cost in ("seconds", "products")]
    yield from ("", f"## {figure.title}", "", table_row(*heads), "|---" * 8 + "|")
    yield from map(str, cells)
    yield ""
    yield from counted(cells)


def compared(panel: Panel, k: int, n: int, found: dict[Key, Mean]) -> Cell | None:
    """The comparison of one panel and k, when all its methods have been run."""
    known = {
        label: mean
        for (dataset, sigma, label, size), mean in found.items()
        if (dataset, sigma, size) == (*panel_key(panel), k)
    }
    sampled = [known[label] for label in SAMPLING if label in known]
    if not sampled or not {"continuous", "greedy", "auto"} <= set(known):
        return None
    return Cell(
        panel.title,
        k,
        n,
        known["continuous"],
        known["greedy"],
        min(sampled, key=lambda mean: mean.value),
        known["auto"],
    )


def counted(cells: list[Cell]) -> Iterator[str]:
    """In how many cells the continuous method beats sampling and greedy, and auto beats greedy."""
    below = [c for c in cells if 2 * c.k < c.n]
    above = [c for c in cells if 2 * c.k >= c.n]
    pairs = {
        "continuous against the best sampling method": [(c.continuous, c.sampling) for c in cells],
        "continuous against greedy, k < n/2": [(c.continuous, c.greedy) for c in below],
        "continuous against greedy, k >= n/2": [(c.continuous, c.greedy) for c in above],
        "auto against greedy": [(c.auto, c.greedy) for c in cells],
    }
    for what, compared_means in pairs.items():
        ratios = [a.value / b.value for a, b in compared_means]
        if ratios:
            yield (
                f"- {what}: lower error in {sum(r < 1 for r in ratios)} of {len(ratios)} cells, "
                f"ratios from {min(ratios):.3f} to {max(ratios):.3f}"
            )


def quotient(a: Mean, b: Mean) -> str:
    """The ratio of two means with its standard error, by propagation; none for a single trial."""
    ratio = a.value / b.value
    parts = [(mean.error / mean.value) ** 2 for mean in (a, b) if mean.trials > 1]
    return f"{ratio:.3f} ± {ratio * sum(parts) ** 0.5:.3f}" if parts else f"{ratio:.3f}"


@dataclass(frozen=True)
class Mean:
    """The mean of some trials with its standard error (NaN for one trial), seconds and products."""

    value: float
    error: float
    trials: int
    seconds: float
    products: float

    def __str__(self) -> str:
        if self.trials == 1:
            return f"{self.value:.4g}"
        digits = max(0, 1 - math.floor(math.log10(self.error))) if self.error > 0 else 4
        return (
            f"{self.value:.{min(digits, 4)}f} ± {self.error:.{min(digits, 4)}f}"
            if self.value < 1e4
            else f"{self.value:.3e} ± {self.error:.1e}"
        )


Key = tuple[str, str, str, int]  # data set, sigma, label, k


def means(rows: Iterable[Row], column: str) -> dict[Key, Mean]:
    """The mean over seeds for each data set, kernel width, label and k that has a value."""
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        if getattr(row, column) is not None:
            groups[row.dataset, row.sigma, row.label, row.k].append(row)
    return {key: _mean(group, column) for key, group in groups.items()}


def _mean(rows: list[Row], column: str) -> Mean:
    values = [getattr(row, column) for row in rows]
    n = len(values)
    spread = stdev(values) / math.sqrt(n) if n > 1 else math.nan
    seconds = fmean(row.seconds or 0.0 for row in rows)
    return Mean(fmean(values), spread, n, seconds, fmean(row.products or 0 for row in rows))


def panel_key(panel: Panel) -> tuple[str, str]:
    """How the rows of a panel are known: its data set and kernel width."""
    return panel.dataset, "" if panel.sigma is None else f"{panel.sigma:g}"


def markdown(figure: Figure, rows: list[Row]) -> Iterator[str]:
    """The summary of a figure: per panel a table of k against methods, and what was skipped."""
    found = means(rows, figure.value)
    for panel in figure.panels:
        labels = [
            entry.label
            for entry in figure.entries
            if any((*panel_key(panel), entry.label, k) in found for k in panel.k)
        ]
        yield from ("", f"## {panel.title}", "")
        if labels:
            yield from _table(panel, labels, found)
        yield from _skips(panel, rows)


def _table(panel: Panel, labels: list[str], found: dict[Key, Mean]) -> Iterator[str]:
    yield table_row("k", *labels)
    yield "|---" * (len(labels) + 1) + "|"
    at = panel_key(panel)
    for k in panel.k:
        yield table_row(k, *(found.get((*at, label, k), "") for label in labels))
    known = {
        label: [found[key] for k in panel.k if (key := (*at, label, k)) in found]
        for label in labels
    }
    trials = [sorted({mean.trials for mean in known[label]}) for label in labels]
    yield table_row("trials", *(", ".join(map(str, numbers)) for numbers in trials))
    largest = [max(mean.seconds for mean in known[label]) for label in labels]
    yield table_row("seconds, largest mean over k", *(f"{seconds:.2g}" for seconds in largest))


def table_row(*cells: object) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def _skips(panel: Panel, rows: list[Row]) -> Iterator[str]:
    reasons = {
        (row.label, row.skip): None
        for row in rows
        if row.skip and (row.dataset, row.sigma) == panel_key(panel)
    }
    if reasons:
        yield ""
        yield from (f"- {label}: {reason}" for label, reason in reasons)


def rows_of(figure: Figure, out: Path) -> list[Row]:
    """The rows of a figure from its table in a folder."""
    path = out / f"{figure.stem}.csv"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; run `landmarks reproduce {figure.name}"
            f"{' --quick' if figure.quick else ''}` first"
        )
    return read_rows(path)


def write_summary(figure: Figure, out: Path) -> Path:
    """Write the summary of a figure next to its table, from the table alone."""
    path = out / f"{figure.stem}.md"
    path.write_text(
        "\n".join([f"# {figure.title}", *markdown(figure, rows_of(figure, out)), ""]),
        encoding="utf-8",
    )
    return path
