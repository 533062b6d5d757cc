"""Run what the table of a figure lacks; a run that was stopped is continued by the same call."""

from __future__ import annotations

import multiprocessing
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.objectives.objective import as_objective

from .data import standardised
from .settings import Entry, Figure, Panel
from .table import ResultsFile, Row

AT_MOST = 200  # steps in a table of weights, spread evenly


def run(
    figure: Figure,
    out: Path,
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Run the rows that the table of a figure does not have, and return the table.

    Parameters
    ----------
    out : the folder of the tables, which is created if necessary.
    data_dir : the folder of the data; LANDMARKS_DATA by default.
    device : "cpu", or "cuda" for the large kernels of figure 4.
    jobs : processes to run in parallel, with one thread each; a graphics card is used by one.
    progress : is told the number of runs that are done, and of all.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    check_device(device)
    device = device if figure.card else "cpu"
    out.mkdir(parents=True, exist_ok=True)
    table = ResultsFile(out / f"{figure.stem}.csv")
    orders: list[Descent] | list[Order]
    if figure.name == "figure1":
        orders = list(descents(figure, out, data_dir))
    else:
        orders = list(choices(figure, device, data_dir))
    missing = [order for order in orders if not order.is_in(table)]
    done = len(orders) - len(missing)
    progress(done, len(orders))
    for place, rows in enumerate(carried_out(missing, jobs if device == "cpu" else 1), done + 1):
        table.append(rows)
        progress(place, len(orders))
    return table.path


def carried_out(orders: list[Any], jobs: int) -> Iterator[list[Row]]:
    """The rows of each order as soon as they are known, in any order if there are several jobs."""
    if jobs == 1 or len(orders) < 2:
        yield from map(methodcaller("rows"), orders)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, threadpool_limits, (1,)) as pool:  # one thread each
        try:
            futures = [pool.submit(methodcaller("rows"), order) for order in orders]
            yield from (done.result() for done in as_completed(futures))
        finally:
            pool.shutdown(cancel_futures=True)


# Figure 1: how the weights t move under gradient descent, exact and stochastic.


def descents(figure: Figure, out: Path, data_dir: str | Path | None = None) -> Iterator[Descent]:
    """The descents of Figure 1: exact and stochastic gradients per penalty, in absolute units."""
    options = figure.options
    for penalty in options["penalties"]:
        for kind, probes in (("GD", None), ("SGD", options["n_probes"])):
            method = lm.Continuous(
                penalty=penalty, delta=options["delta"], n_probes=probes, units="absolute"
            )
            file = out / f"{figure.stem}-{kind.lower()}-{penalty:g}.csv"
            yield Descent(figure, f"{kind} {penalty:g}", method, file, data_dir)


@dataclass(frozen=True, eq=False)
class Descent:
    """One descent, the file of its weights, one line per step, and its row in the table."""

    figure: Figure
    label: str
    method: lm.Continuous
    file: Path
    data_dir: str | Path | None

    def blank(self) -> Row:
        """The row before the descent is made."""
        figure, method = self.figure, repr(self.method)
        dataset = figure.options["dataset"]
        return Row(figure.name, dataset, "", self.label, method, 0, 0, figure.criterion)

    def is_in(self, table: ResultsFile) -> bool:
        """Whether the descent has been made."""
        return self.blank() in table and self.file.is_file()

    def rows(self) -> list[Row]:
        """Make the descent, and write the weights of some random columns."""
        figure = self.figure
        X = standardised(figure.options["dataset"], self.data_dir)
        s = lm.select(X, method=self.method, criterion=figure.criterion)
        drawn = np.random.default_rng(0).permutation(s.n)[: figure.options["at_most"]]
        columns = np.sort(drawn)
        steps = np.unique(np.linspace(0, len(s.path) - 1, min(AT_MOST, len(s.path))).astype(int))
        weights = np.column_stack([steps, s.path.t[np.ix_(steps, columns)]])
        head = ",".join(["step", *map(str, columns)])
        written = ["%d"] + ["%.4g"] * len(columns)
        np.savetxt(self.file, weights, written, ",", header=head, comments="")
        row = replace(
            self.blank(),
            n=s.n,
            value=s.error(),
            seconds=s.ledger.seconds,
            products=s.ledger.products,
            note=f"{s.k} of {s.n} columns kept after {len(s.path)} steps",
        )
        return [made_on("cpu", row)]


# Figures 2 to 4: choices by several methods, for each panel, k and seed.


def choices(figure: Figure, device: str, data_dir: str | Path | None) -> Iterator[Order]:
    """All runs: a panel, a method, the sizes that it serves at once, and a seed."""
    for panel in figure.panels:
        for entry in figure.entries:
            wanted = panel.trials.get(entry.label, entry.trials or figure.trials)
            for sizes in [panel.k] if entry.sweep else [(k,) for k in panel.k]:
                for seed in range(min(wanted, figure.trials)):
                    yield Order(figure, panel, entry, sizes, seed, device, data_dir)


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

    def blanks(self) -> list[Row]:
        """The rows before the run is made."""
        figure, entry = self.figure, self.entry
        method = repr(entry.method()) + (" (one sweep for all k)" if entry.sweep else "")
        return [
            Row(figure.name, *self.panel.key, entry.label, method, k, self.seed, figure.criterion)
            for k in self.sizes
        ]

    def is_in(self, table: ResultsFile) -> bool:
        """Whether the table has a value in all rows of the run."""
        return all(row in table for row in self.blanks())

    def rows(self) -> list[Row]:
        """The rows with what the method found, or with the reason why it was not run."""
        figure = self.figure
        K = operator_of(self.panel, figure.dtype, self.device, self.data_dir)
        rows = [made_on(self.device, replace(row, n=K.n)) for row in self.blanks()]
        if reason := self.refusal(K.n):
            return [replace(row, skip=reason) for row in rows]
        if figure.value == "factor":  # before the method is timed
            asked = as_objective(figure.criterion)
            best = [asked.best_rank_error(K, k) for k in self.sizes]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found, seconds, products = self.chosen(K)
            except (UnsupportedError, MemoryError) as error:
                return [replace(row, skip=f"{type(error).__name__}: {error}") for row in rows]
        note = "; ".join(dict.fromkeys(str(warning.message) for warning in caught))
        units = 2.0 ** (K.exponent * (1 if figure.criterion == "trace" else 2))  # K is scaled
        done = []
        for place, row in enumerate(rows):
            value = units * as_objective(figure.criterion).error(K, found[row.k])
            row = replace(row, value=value, seconds=seconds, products=products, note=note)
            if figure.value == "factor" and (least := units * best[place]):
                row = replace(row, best=least, factor=value / least)
            done.append(row)
        return done

    def refusal(self, n: int) -> str:
        """Why the method is not run on the panel; empty if it is."""
        needs, entry = self.panel.needs, self.entry
        if needs and not self.device.startswith(needs):
            return f"n = {n} is run on a graphics card only: --device {needs}"
        if entry.at_most is not None and n > entry.at_most:
            return f"{entry.because}, not run above n = {entry.at_most}"
        if max(self.sizes) > n:
            return f"k is larger than n = {n}"
        return ""

    def chosen(self, operator: Any) -> tuple[dict[int, np.ndarray], float, int]:
        """The choice for each size, and the seconds and products used for all of them."""
        method, criterion = self.entry.method(), self.figure.criterion
        if not self.entry.sweep:
            (k,) = self.sizes
            s = lm.select(operator, k, method=method, criterion=criterion, seed=self.seed)
            return {k: s.indices}, s.ledger.seconds, s.ledger.products
        start = time.perf_counter()
        before = operator.ledger.snapshot()
        found = method.sweep(operator, list(self.sizes), criterion=criterion, seed=self.seed)
        return found, time.perf_counter() - start, operator.ledger.since(before)["products"]


@lru_cache(maxsize=1)  # one run after the other is on the same panel
def operator_of(panel: Panel, dtype: str, device: str, data_dir: str | Path | None) -> Any:
    """K on the rows of the panel, spread evenly over the data."""
    X = standardised(panel.dataset, data_dir).astype(dtype)
    if panel.rows is not None and panel.rows < len(X):
        X = X[np.linspace(0, len(X) - 1, panel.rows).astype(int)]
    if device != "cpu":
        import torch

        X = torch.as_tensor(X, device=device)
    return lm.data(X, scale=False) if panel.sigma is None else lm.kernel(X, lm.rbf(panel.sigma))


def made_on(device: str, row: Row) -> Row:
    """The row with its device in words, and the versions that it depends on."""
    libraries, name = ["numpy", "scipy", "scikit-learn"], f"cpu {platform.machine()}"
    if device != "cpu":
        import torch

        libraries, name = [*libraries, "torch"], torch.cuda.get_device_name(device)
    found = [f"landmarks {lm.__version__}", f"Python {platform.python_version()}"]
    found += [f"{library} {version(library)}" for library in libraries]
    return replace(row, device=name, versions="; ".join(found))


def check_device(device: str) -> None:
    """The device is the processor, or a graphics card that torch sees."""
    if device == "cpu":
        return
    sentence = f'device must be "cpu", or "cuda" where torch sees a graphics card, got {device!r}'
    if not device.startswith("cuda"):
        raise ValueError(sentence)
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"--device {device} needs torch: pip install torch triton") from error
    if not torch.cuda.is_available():
        raise ValueError(sentence)
