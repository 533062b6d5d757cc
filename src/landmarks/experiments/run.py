"""Run the missing rows of a figure, then draw it from its table."""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .._select import select
from ..errors import UnsupportedError
from ..linalg.error import selection_error
from ..runs.runner import report
from .paths import trace_paths
from .settings import Entry, Figure, Panel, Task, check_device, device_name, read_settings, versions
from .table import ResultsFile, Row


def reproduce(
    name: str,
    out: str | Path,
    *,
    quick: bool = False,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    only: Sequence[str] = (),
    jobs: int = 1,
) -> Path:
    """Run a figure of the paper and return its table; rows that exist already are not run again.

    Parameters
    ----------
    name : "figure1" to "figure4".
    out : the folder of the tables, which is created if necessary.
    quick : fewer trials, sizes and rows.
    data_dir : the folder of the data; LANDMARKS_DATA by default.
    device : "cpu", or "cuda" for the large kernels of figure 4.
    only : the data sets to run; by default all of the figure.
    jobs : processes to run in parallel, with one thread each; a graphics card is used by one.

    Returns
    -------
    Path
        The CSV file of the results.
    """
    figure = restricted(read_settings(name, quick=quick), only)
    check_device(device)
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    Path(out).mkdir(parents=True, exist_ok=True)
    return complete(figure, Path(out), device if figure.card else "cpu", data_dir, jobs)


def restricted(figure: Figure, only: Sequence[str]) -> Figure:
    """The figure with the panels of some data sets."""
    known = [panel.dataset for panel in figure.panels]
    if unknown := [name for name in only if name not in known]:
        raise ValueError(
            f"{figure.name} has no data set {', '.join(unknown)}; it has "
            f"{', '.join(dict.fromkeys(known))}"
        )
    if not only:
        return figure
    return replace(figure, panels=tuple(p for p in figure.panels if p.dataset in only))


def complete(
    figure: Figure, out: Path, device: str, data_dir: str | Path | None, jobs: int = 1
) -> Path:
    """Run what the table of a figure lacks; returns the path of the table."""
    table = ResultsFile(out / f"{figure.stem}.csv")
    if figure.name == "figure1":
        trace_paths(figure, table, out, data_dir)
        return table.path
    orders = [
        Order(figure, panel, entry, sizes, seed, device, data_dir)
        for panel, entry, sizes, seed in figure.jobs()
    ]
    missing = [order for order in orders if not all(row in table for row in order.blanks)]
    done = len(orders) - len(missing)
    report(figure.name, done, len(orders))
    jobs = 1 if device != "cpu" else jobs
    for place, rows in enumerate(carried_out(missing, jobs), done + 1):
        table.append(table.news(rows))
        report(figure.name, place, len(orders))
    return table.path


def carried_out(orders: list[Order], jobs: int) -> Iterator[list[Row]]:
    """The rows of each order as soon as they are known, in any order if there are several jobs."""
    if jobs == 1 or len(orders) < 2:
        yield from map(carry_out, orders)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=one_thread) as pool:
        try:
            futures = [pool.submit(carry_out, order) for order in orders]
            yield from (done.result() for done in as_completed(futures))
        finally:
            pool.shutdown(cancel_futures=True)


def one_thread() -> None:
    """Limit the linear algebra of this process to one thread."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@dataclass(frozen=True, eq=False)
class Order:
    """One run: a method on a panel with a seed, for the sizes that it serves at once."""

    figure: Figure
    panel: Panel
    entry: Entry
    sizes: tuple[int, ...]
    seed: int
    device: str
    data_dir: str | Path | None

    @property
    def blanks(self) -> list[Row]:
        """The rows of the run before it is made."""
        return [blank(self.figure, self.panel, self.entry, k, self.seed) for k in self.sizes]


#: the panel of this process, reused from one run to the next
_tasks: dict[tuple[object, ...], Task] = {}


def carry_out(order: Order) -> list[Row]:
    """The rows of one run."""
    key = (order.figure.stem, repr(order.panel), order.device, order.data_dir)
    if key not in _tasks:
        _tasks.clear()
        _tasks[key] = Task(order.figure, order.panel, order.device, order.data_dir)
    return fill(_tasks[key], order.entry, order.blanks, order.seed)


def blank(figure: Figure, panel: Panel, entry: Entry, k: int, seed: int) -> Row:
    """The row of one choice before it is made."""
    sigma = "" if panel.sigma is None else f"{panel.sigma:g}"
    method = repr(entry.method()) + (" (one sweep for all k)" if entry.sweep else "")
    return Row(figure.name, panel.dataset, sigma, entry.label, method, k, seed, figure.criterion)


def fill(task: Task, entry: Entry, rows: list[Row], seed: int) -> list[Row]:
    """The rows with what the method found, or with the reason why it was not run."""
    rows = [
        replace(row, n=task.n, device=device_name(task.device), versions=versions(task.device))
        for row in rows
    ]
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
    return [
        valued(task, replace(row, seconds=seconds, products=products, note=note), found[row.k])
        for row in rows
    ]


def valued(task: Task, row: Row, indices: np.ndarray) -> Row:
    """The row with the error of its choice in the units of the data, and the factor if defined."""
    error = selection_error(task.operator, indices, task.figure.criterion)
    value = float(np.ldexp(error, task.operator.exponent * task.power))
    return replace(row, value=value, factor=value / row.best if row.best else None)


def refusal(task: Task, entry: Entry, rows: list[Row]) -> str:
    """Why a method is not run on a panel; empty if it is."""
    if task.panel.needs and not task.device.startswith(task.panel.needs):
        return f"n = {task.n} is run on a graphics card only: --device {task.panel.needs}"
    if entry.at_most is not None and task.n > entry.at_most:
        return f"{entry.because}, not run above n = {entry.at_most}"
    if max(row.k for row in rows) > task.n:
        return f"k is larger than n = {task.n}"
    return ""


def choose(
    task: Task, entry: Entry, sizes: list[int], seed: int
) -> tuple[dict[int, np.ndarray], float, int]:
    """The choice for each size, and the seconds and products used for all of them."""
    method = entry.method()
    if not entry.sweep:
        selection = select(
            task.operator, sizes[0], method=method, criterion=task.figure.criterion, seed=seed
        )
        return {sizes[0]: selection.indices}, selection.ledger.seconds, selection.ledger.products
    start = time.perf_counter()
    before = task.operator.ledger.snapshot()
    found = method.sweep(task.operator, sizes, criterion=task.figure.criterion, seed=seed)
    return found, time.perf_counter() - start, task.operator.ledger.since(before)["products"]
