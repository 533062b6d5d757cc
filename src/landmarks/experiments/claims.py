"""The paper's claims against the tables: quality against greedy by k/n, against sampling, and cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .settings import Figure, Panel, read_settings
from .summary import Key, Mean, means, panel_key
from .table import read_rows

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


def against(figure: Figure, found: dict[Key, Mean], sizes: dict[tuple[str, str], int]) -> Iterator[str]:
    """For each panel and k: the continuous method against greedy and the best sampling method, with errors of the ratios, and cost."""
    yield from ("", f"## {figure.title}", "")
    heads = ["data", "k", "k/n", "continuous / greedy", "continuous / best sampling", "auto / greedy"]
    heads += [f"{cost}: continuous, greedy, auto" for cost in ("seconds", "products")]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * 8 + "|"
    for panel in figure.panels:
        for k in panel.k:
            if (n := sizes.get(panel_key(panel))) and (line := _line(panel, k, n, found)):
                yield line


def _line(panel: Panel, k: int, n: int, found: dict[Key, Mean]) -> str:
    known = {label: mean for (dataset, sigma, label, size), mean in found.items() if (dataset, sigma, size) == (*panel_key(panel), k)}
    if not {"continuous", "greedy", "auto"} <= set(known):
        return ""
    ours, greedy, auto = known["continuous"], known["greedy"], known["auto"]
    sampled = min((known[label] for label in SAMPLING if label in known), key=lambda mean: mean.value)
    seconds = ", ".join(f"{mean.seconds:.2g}" for mean in (ours, greedy, auto))
    products = ", ".join(f"{mean.products:.0f}" for mean in (ours, greedy, auto))
    cells = [panel.title, str(k), f"{k / n:.3g}", quotient(ours, greedy), quotient(ours, sampled), quotient(auto, greedy), seconds, products]
    return "| " + " | ".join(cells) + " |"


def quotient(a: Mean, b: Mean) -> str:
    """The ratio of two means with its standard error, by propagation; what has one trial has none."""
    ratio = a.value / b.value
    parts = [(mean.error / mean.value) ** 2 for mean in (a, b) if mean.trials > 1]
    return f"{ratio:.3f} ± {ratio * sum(parts) ** 0.5:.3f}" if parts else f"{ratio:.3f}"
