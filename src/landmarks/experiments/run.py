"""Run what a figure still lacks, row by row, then draw it from its table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..approximate import selection_error
from ..errors import UnsupportedError
from ..methods import select
from ..progress import report
from . import paths
from .problems import Task, check_device, device_name, versions
from .settings import Entry, Figure, Panel, read_settings
from .table import Row, Table

Job = tuple[Panel, Entry, tuple[int, ...], int]


def reproduce(
    name: str, out: str | Path, *, quick: bool = False, data_dir: str | Path | None = None, device: str = "cpu", only: Sequence[str] = ()
) -> Path:
    """Run a figure of the paper and return its table; rows that are there already are not run again.

    Parameters
    ----------
    name : "figure1" to "figure4".
    out : the folder of the tables; made when it is not there.
    quick : fewer trials, sizes and rows.
    data_dir : the folder of the data; LANDMARKS_DATA unless given.
    device : "cpu", or "cuda" for kernels on a graphics card.
    only : the data sets to run; all of the figure unless given.
    """
    figure = restricted(read_settings(name, quick=quick), only)
    Path(out).mkdir(parents=True, exist_ok=True)
    check_device(device)
    return complete(figure, Path(out), device, data_dir)


def restricted(figure: Figure, only: Sequence[str]) -> Figure:
    """The figure with the panels of some data sets."""
    known = [panel.dataset for panel in figure.panels]
    if unknown := [name for name in only if name not in known]:
        raise ValueError(f"{figure.name} has no data set {', '.join(unknown)}; it has {', '.join(dict.fromkeys(known))}")
    return replace(figure, panels=tuple(panel for panel in figure.panels if not only or panel.dataset in only))


def complete(figure: Figure, out: Path, device: str, data_dir: str | Path | None) -> Path:
    """Run what the table of a figure lacks; returns the path of the table."""
    table = Table(out / f"{figure.stem}.csv")
    if figure.name == "figure1":
        paths.trace_paths(figure, table, out, data_dir)
        return table.path
    jobs = list(figure.jobs())
    for panel in figure.panels:
        run_panel(figure, panel, table, device, data_dir, jobs)
    report(figure.name, len(jobs), len(jobs))
    return table.path


def run_panel(figure: Figure, panel: Panel, table: Table, device: str, data_dir: str | Path | None, jobs: list[Job]) -> None:
    """Run the jobs of one panel that the table lacks; the data are loaded when there are any."""
    task = None
    for place, (_, entry, sizes, seed) in [(place, job) for place, job in enumerate(jobs) if job[0] is panel]:
        empty = [blank(figure, panel, entry, k, seed) for k in sizes]
        if all(row in table for row in empty):
            continue
        report(figure.name, place, len(jobs))
        task = task or Task(figure, panel, device, data_dir)
        table.append(table.news(fill(task, entry, empty, seed)))


def blank(figure: Figure, panel: Panel, entry: Entry, k: int, seed: int) -> Row:
    """The row of one choice before it is made."""
    sigma = "" if panel.sigma is None else f"{panel.sigma:g}"
    method = repr(entry.method()) + (" (one sweep for all k)" if entry.sweep else "")
    return Row(figure.name, panel.dataset, sigma, entry.label, method, k, seed, figure.criterion)


def fill(task: Task, entry: Entry, rows: list[Row], seed: int) -> list[Row]:
    """The rows with what the method found, or with the reason why it was not run."""
    rows = [replace(row, n=task.n, device=device_name(task.device), versions=versions(task.device)) for row in rows]
    if reason := refusal(task, entry, rows):
        return [replace(row, skip=reason) for row in rows]
    rows = [replace(row, best=task.best(row.k)) for row in rows]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, seconds, products = choose(task, entry, [row.k for row in rows], seed)
        except (UnsupportedError, MemoryError) as error:
            return [replace(row, skip=f"{type(error).__name__}: {error}") for row in rows]
    note = "; ".join(dict.fromkeys(str(warning.message) for warning in caught))
    return [valued(task, replace(row, seconds=seconds, products=products, note=note), found[row.k]) for row in rows]


def valued(task: Task, row: Row, indices: np.ndarray) -> Row:
    """The row with the error of its choice, in the units of the data, and the factor unless the best rank-k error is nothing."""
    value = float(np.ldexp(selection_error(task.operator, indices, task.figure.criterion), task.operator.exponent * task.power))
    return replace(row, value=value, factor=value / row.best if row.best else None)


def refusal(task: Task, entry: Entry, rows: list[Row]) -> str:
    """Why a method is not run on a panel; nothing when it is."""
    if task.panel.needs and not task.device.startswith(task.panel.needs):
        return f"n = {task.n} is run on a graphics card only: --device {task.panel.needs}"
    if entry.at_most is not None and task.n > entry.at_most:
        return f"{entry.because}, not run above n = {entry.at_most}"
    if max(row.k for row in rows) > task.n:
        return f"k is larger than n = {task.n}"
    return ""


def choose(task: Task, entry: Entry, sizes: list[int], seed: int) -> tuple[dict[int, np.ndarray], float, int]:
    """The choice for each size, the seconds and the products that were taken for all of them."""
    method = entry.method()
    if not entry.sweep:
        selection = select(task.operator, sizes[0], method=method, criterion=task.figure.criterion, seed=seed)
        return {sizes[0]: selection.indices}, selection.ledger.seconds, selection.ledger.products
    start, before = time.perf_counter(), task.operator.ledger.snapshot()
    found = method.sweep(task.operator, sizes, criterion=task.figure.criterion, seed=seed)
    return found, time.perf_counter() - start, task.operator.ledger.since(before)["products"]
