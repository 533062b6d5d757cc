"""The paper's claims checked by the tables: errors against greedy and sampling, and cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .settings import Figure, Panel, read_settings
from .summary import SAMPLING, Key, Mean, means, panel_key, table_row
from .table import read_rows


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
    heads = [
        "data",
        "k",
        "k/n",
        "continuous / greedy",
        "continuous / best sampling",
        "auto / greedy",
    ]
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
