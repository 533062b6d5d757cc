"""Figure 1: how the weights t move under (stochastic) gradient descent, as tables of t."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._select import select
from ..datasets import load_dataset
from ..methods.relaxation.continuous import Continuous
from ..methods.trajectory import Trajectory
from ..runs.archive import written
from ..runs.runner import report
from ..selection import Selection
from .settings import Figure, device_name, versions
from .table import ResultsFile, Row

AT_MOST = 200  # steps in a table, spread evenly


def runs(figure: Figure) -> Iterator[tuple[str, Continuous]]:
    """The descents of the figure: exact and stochastic gradients per penalty, in absolute units."""
    options = figure.options
    for penalty in options["penalties"]:
        for kind, probes in (("GD", None), ("SGD", options["n_probes"])):
            method = Continuous(
                penalty=penalty, delta=options["delta"], n_probes=probes, units="absolute"
            )
            yield f"{kind} {penalty:g}", method


def trace_paths(figure: Figure, table: ResultsFile, out: Path, data_dir: str | Path | None) -> None:
    """Run the descents whose tables are not there yet."""
    planned = list(runs(figure))
    for place, (label, method) in enumerate(planned):
        row = Row(
            figure.name, figure.options["dataset"], "", label, repr(method), 0, 0, figure.criterion
        )
        file = path_file(figure, out, label)
        if row in table and file.is_file():
            continue
        report(figure.name, place, len(planned))
        X = load_dataset(figure.options["dataset"], data_dir).standardised()
        selection = select(X, method=method, criterion=figure.criterion)
        write_path(file, selection.path, figure.options["at_most"])
        table.append([described(row, selection)])
    report(figure.name, len(planned), len(planned))


def described(row: Row, selection: Selection) -> Row:
    """The row of a descent: its cost, and in the note how many columns are left."""
    return replace(
        row,
        n=selection.n,
        value=selection.error(),
        seconds=selection.ledger.seconds,
        products=selection.ledger.products,
        device=device_name("cpu"),
        versions=versions("cpu"),
        note=f"{selection.k} of {selection.n} columns kept after {len(selection.path)} steps",
    )


def path_file(figure: Figure, out: Path, label: str) -> Path:
    """The table of t of one descent."""
    return out / f"{figure.stem}-{label.replace(' ', '-').lower()}.csv"


def write_path(file: Path, path: Any, at_most: int, seed: int = 0) -> None:
    """Write the weights of some random columns, one line per step, completely or not at all."""
    columns = np.sort(np.random.default_rng(seed).permutation(path.t.shape[1])[:at_most])
    steps = np.unique(np.linspace(0, len(path) - 1, min(AT_MOST, len(path))).astype(int))
    with written(file, overwrite=True) as raw:
        head = ",".join(["step", *map(str, columns)])
        table = np.column_stack([steps, path.t[np.ix_(steps, columns)]])
        np.savetxt(raw, table, ["%d"] + ["%.4g"] * len(columns), ",", header=head, comments="")


def read_path(file: Path) -> tuple[np.ndarray, Trajectory]:
    """The steps and the weights of one table."""
    numbers = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    t = numbers[:, 1:]
    active = np.sum(t > 0, axis=1)
    return numbers[:, 0], Trajectory(t, np.zeros(len(t)), active, np.zeros(len(t)))
