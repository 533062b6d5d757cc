"""Means and standard errors of a table, and the ratios that the paper's claims are about."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .settings import Figure, Panel
from .table import Row, read_rows

SAMPLING = ("uniform", "leverage scores", "k-DPP")


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
    n, mean = len(values), sum(values) / len(values)
    spread = (
        math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n) if n > 1 else math.nan
    )
    return Mean(
        mean,
        spread,
        n,
        sum(row.seconds or 0.0 for row in rows) / n,
        sum(row.products or 0 for row in rows) / n,
    )


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
