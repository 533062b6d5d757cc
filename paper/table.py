"""The table of results: one row per choice, appended at once, so that a run can be continued.

Then the means of its rows with their standard errors, as the summary of a figure and as the numbers
behind the page of claims.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from .settings import Figure, Panel, read_settings

SAMPLING = ("uniform", "leverage scores", "k-DPP")


@dataclass(frozen=True)
class Row:
    """One choice of k columns and what it was worth.

    value : the error by the criterion; best : that of the best rank-k approximation; factor : their
        ratio. Empty when not computed.
    seconds, products : what the method used; each row of a sweep says what the sweep used.
    skip : why there is no value; note : the warnings of the run.
    """

    figure: str
    dataset: str
    sigma: str
    label: str
    method: str
    k: int
    seed: int
    criterion: str
    n: int | None = None
    value: float | None = None
    best: float | None = None
    factor: float | None = None
    seconds: float | None = None
    products: int | None = None
    device: str = ""
    versions: str = ""
    skip: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes the row the one that was asked for: all before its results."""
        return astuple(self)[: COLUMNS.index("n")]


COLUMNS = [column.name for column in fields(Row)]
NUMBERS = dict.fromkeys(("value", "best", "factor", "seconds"), float) | dict.fromkeys(
    ("n", "k", "seed", "products"), int
)


class ResultsFile:
    """The rows of a CSV file; a last line that a crash cut off is dropped before more are added."""

    def __init__(self, path: Path):
        self.path = path
        self.rows = {row.key: row for row in read_rows(path)} if path.is_file() else {}

    def __contains__(self, row: Row) -> bool:
        """Whether the row has a value; one that was skipped may have one on another device."""
        return row.key in self.rows and not self.rows[row.key].skip

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows in one write, which reaches the disk before anything else is computed.

        A row that was skipped before for the same reason is not added again.
        """
        before = {row.key: row.skip for row in self.rows.values()}
        new = [row for row in rows if not (row.skip and before.get(row.key) == row.skip)]
        if not new:
            return
        with open(self.path, "ab") as stream:
            end = _complete_length(self.path)
            stream.truncate(end)
            header = b"" if end else _line(COLUMNS)
            stream.write(header + b"".join(_line(map(_cell, astuple(row))) for row in new))
            stream.flush()
            os.fsync(stream.fileno())
        self.rows.update({row.key: row for row in new})


def read_rows(path: Path) -> list[Row]:
    """The rows of a table without a last line that was cut off; of equal keys the last counts."""
    text = path.read_bytes()[: _complete_length(path)].decode("utf-8")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if text and reader.fieldnames != COLUMNS:
        raise ValueError(
            f"{path} is not a table of this version: its columns are {reader.fieldnames}, expected "
            f"{COLUMNS}; move it away"
        )
    rows = [Row(**{name: _read(name, cell) for name, cell in line.items()}) for line in reader]
    return list({row.key: row for row in rows}.values())


def rows_of(figure: Figure, out: Path) -> list[Row]:
    """The rows of a figure from its table in a folder."""
    path = out / f"{figure.stem}.csv"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; run `python -m paper {figure.name}"
            f"{' --quick' if figure.quick else ''}` first"
        )
    return read_rows(path)


def _complete_length(path: Path) -> int:
    """The bytes of the file up to the end of its last complete line."""
    return path.read_bytes().rfind(b"\n") + 1


def _read(name: str, cell: str) -> Any:
    if name not in NUMBERS:
        return cell
    return None if cell == "" else NUMBERS[name](cell)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.8g}"
    return str(value).replace("\n", " ")


def _line(cells: Iterable[str]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue().encode("utf-8")


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


Means = dict[tuple[str, str, str, int], Mean]  # by data set, sigma, label and k


def means(rows: Iterable[Row], column: str) -> Means:
    """The mean over seeds for each data set, kernel width, label and k that has a value."""
    groups: dict[tuple[str, str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        if getattr(row, column) is not None:
            groups[row.dataset, row.sigma, row.label, row.k].append(row)
    found = {}
    for key, group in groups.items():
        values = [getattr(row, column) for row in group]
        found[key] = Mean(
            fmean(values),
            stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan,
            len(values),
            fmean(row.seconds or 0.0 for row in group),
            fmean(row.products or 0 for row in group),
        )
    return found


def write_summary(figure: Figure, out: Path) -> Path:
    """Write the summary of a figure next to its table, from the table alone."""
    rows = rows_of(figure, out)
    found = means(rows, figure.value)
    command = f"python -m paper {figure.name}{' --quick' if figure.quick else ''} --out OUT"
    made = (
        f"`{command}` computes `{figure.stem}.csv`, whose rows name the versions of the packages,"
    )
    lines = [f"# {figure.title}", "", f"{made} and makes this page from it."]
    for panel in figure.panels:
        lines += ["", f"## {panel.title}", "", *_of_panel(figure, panel, found)]
        skipped = {
            (row.label, row.skip): 1 for row in rows if (row.dataset, row.sigma) == panel.key
        }
        reasons = [f"- {label}: {reason}" for label, reason in skipped if reason]
        lines += ["", *reasons] if reasons else []
    path = out / f"{figure.stem}.md"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _of_panel(figure: Figure, panel: Panel, found: Means) -> Iterator[str]:
    """Means of the methods that have some, by k; then their trials and seconds."""
    of_label = {
        entry.label: {
            k: found[key] for k in panel.k if (key := (*panel.key, entry.label, k)) in found
        }
        for entry in figure.entries
    }
    known = {label: by_k for label, by_k in of_label.items() if by_k}
    if not known:
        return
    yield _table_row("k", *known)
    yield "|---" * (len(known) + 1) + "|"
    for k in panel.k:
        yield _table_row(k, *(by_k.get(k, "") for by_k in known.values()))
    trials = [sorted({mean.trials for mean in by_k.values()}) for by_k in known.values()]
    yield _table_row("trials", *(", ".join(map(str, numbers)) for numbers in trials))
    largest = [max(mean.seconds for mean in by_k.values()) for by_k in known.values()]
    yield _table_row("seconds, largest mean over k", *(f"{seconds:.2g}" for seconds in largest))


def _table_row(*cells: object) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def claims(out: Path) -> Iterator[str]:
    """The lines of the page of claims, from the tables of figures 2, 3 and 4 in a folder."""
    for name in ("figure2", "figure3", "figure4"):
        path = out / f"{name}.csv"
        if not path.is_file():
            yield f"{name}: no table in {out}; run `python -m paper {name}`"
            continue
        figure, rows = read_settings(name), read_rows(path)
        sizes = {(row.dataset, row.sigma): row.n for row in rows if row.n}
        found = means(rows, figure.value)
        cells = [
            cell
            for panel in figure.panels
            for k in panel.k
            if (cell := Cell.of(panel, k, sizes.get(panel.key, 0), found))
        ]
        heads = ["data", "k", "k/n", "continuous / greedy", "continuous / best sampling"]
        heads += ["auto / greedy"]
        heads += [f"{cost}: continuous, greedy, auto" for cost in ("seconds", "products")]
        yield from ("", f"## {figure.title}", "", _table_row(*heads), "|---" * 8 + "|")
        yield from map(str, cells)
        yield ""
        yield from counted(cells)


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

    @classmethod
    def of(cls, panel: Panel, k: int, n: int, found: Means) -> Cell | None:
        """The comparison of one panel and k, when all its methods have been run."""
        one, other, ours = (
            found.get((*panel.key, label, k)) for label in ("continuous", "greedy", "auto")
        )
        sampled = [found[key] for label in SAMPLING if (key := (*panel.key, label, k)) in found]
        if not (one and other and ours and sampled):
            return None
        best = min(sampled, key=lambda mean: mean.value)
        return cls(panel.title, k, n, one, other, best, ours)

    def __str__(self) -> str:
        timed = (self.continuous, self.greedy, self.auto)
        seconds = ", ".join(f"{mean.seconds:.2g}" for mean in timed)
        products = ", ".join(f"{mean.products:.0f}" for mean in timed)
        ratios = [
            quotient(self.continuous, self.greedy),
            quotient(self.continuous, self.sampling),
            quotient(self.auto, self.greedy),
        ]
        return _table_row(self.title, self.k, f"{self.k / self.n:.3g}", *ratios, seconds, products)


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
    for what, compared in pairs.items():
        ratios = [a.value / b.value for a, b in compared]
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
