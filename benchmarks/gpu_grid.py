"""Points in float32 on a graphics card: each method's error against its float64 run and greedy's.

python benchmarks/gpu_grid.py --data-dir DIR [--rows FILE] [--out FILE] [--quick] [--seconds 400]

A cell is a data set, a width σ in units of √d, k and a criterion. Each method chooses from the
points in float32 and from the same in float64; both choices are judged in float64. Bars:
`auto` and `swap` within 0.1 % of their float64 run, no method more than 1 % above its own, and
`auto` never above `swap`.

Several processes share the card. Each result is a line of the file `--rows`; a run that finds the
file goes on where it ended. The page is made from that file.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import time
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from card import device_line, kernel, options, real

import landmarks as lm
from landmarks.objectives.objective import as_objective

METHODS = ("greedy", "swap", "auto")
DTYPES = ("float32", "float64")
PAIRS = tuple(itertools.product(DTYPES, METHODS))
CRITERIA = ("trace", "frobenius")
SETS = ("protein", "covtype", "htru2", "powerplant")
WIDTHS = (1.0, 3.0, 0.3)
ROWS = {200: 10_000, 400: 4_000, 50: 4_000}  # of each set in the grid, by k
ALL = {"powerplant": 9_568, "htru2": 17_898, "protein": 45_730, "covtype": 50_000}


class Cell(NamedTuple):
    """A problem."""

    name: str
    rows: int
    width: float
    k: int
    criterion: str


class Run(NamedTuple):
    """A method on a problem, with the points in one dtype."""

    cell: Cell
    dtype: str
    method: str


def cells(quick: bool) -> Iterator[Cell]:
    """The grid, the most telling cells first; then cells with all rows, the cheapest first."""
    for k, width, name in itertools.product((20,) if quick else ROWS, WIDTHS, SETS):
        for criterion in CRITERIA:
            yield Cell(name, 800 if quick else ROWS[k], width, k, criterion)
    if not quick:
        yield from sorted(with_all_rows(), key=cost)


def with_all_rows() -> Iterator[Cell]:
    """Every cell with all rows of a set that is not in the grid."""
    for (name, rows), width, k in itertools.product(ALL.items(), WIDTHS, ROWS):
        if rows > ROWS[k]:
            yield from (Cell(name, rows, width, k, criterion) for criterion in CRITERIA)


def cost(cell: Cell) -> float:
    """The cheapest cells come first: products and, for the Frobenius criterion, the cubes."""
    cubes = cell.rows / 200 if cell.criterion == "frobenius" else 0
    each = 2 if cell.name == "covtype" else 1
    return each * (cell.k + cubes) * float(cell.rows) ** 2


@cache
def points(data_dir: str, name: str, rows: int) -> np.ndarray:
    """The points in float32."""
    return np.float32(real(data_dir, name, rows))


def measure(job: tuple[list[Run], argparse.Namespace]) -> None:
    """Run methods on one operator, and write the error and the precision of each choice."""
    (cell, dtype, _), *_ = runs = job[0]
    data_dir, device, rows = job[1].data_dir, job[1].device, job[1].rows
    torch.set_num_threads(1)
    X = points(data_dir, cell.name, cell.rows)
    sigma = cell.width * X.shape[1] ** 0.5
    judge = kernel(X, sigma, device, torch.float64)
    operator = kernel(X, sigma, device, getattr(torch, dtype))
    for run in runs:
        found = cell._asdict() | {"dtype": dtype, "method": run.method}
        found |= {"n": X.shape[0], "d": X.shape[1]}
        try:
            found |= outcome(operator, judge, run)
        except Exception:
            found["failed"] = traceback.format_exc()[-900:]
        with rows.open("a") as file:
            print(json.dumps(found), file=file, flush=True)


def outcome(operator: Any, judge: Any, run: Run) -> dict[str, Any]:
    """The error, seconds and precision of one choice."""
    start = time.perf_counter()
    s = lm.select(operator, run.cell.k, method=run.method, criterion=run.cell.criterion)
    seconds = time.perf_counter() - start
    error = as_objective(run.cell.criterion).error(judge, s.indices)
    return {"error": error, "seconds": seconds, "precision": s.ledger.precision}


def measure_all(missing: list[Run], asked: argparse.Namespace) -> None:
    """Let several processes work until the seconds are used up; those of a cell share K."""
    end = time.monotonic() + asked.seconds
    grouped = itertools.groupby(missing, key=lambda run: run[:2])
    jobs = [(list(runs), asked) for _, runs in grouped]
    with multiprocessing.get_context("spawn").Pool(asked.workers) as pool:
        results = pool.imap_unordered(measure, jobs)
        for _ in jobs:
            try:
                results.next(timeout=max(0.1, end - time.monotonic()))
            except multiprocessing.TimeoutError:
                return


def stored(path: Path) -> dict[Run, dict[str, Any]]:
    """The results so far, of this run and of earlier ones; what failed is run again."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {key(row): row for row in found if "failed" not in row}


def key(row: dict[str, Any]) -> Run:
    """The run of a result."""
    cell = Cell(*(row[name] for name in Cell._fields))
    return Run(cell, row["dtype"], row["method"])


def table(found: dict[Run, dict[str, Any]], todo: list[Cell]) -> Iterator[str]:
    """A line for each cell that is complete, and the largest ratios."""
    worst = {method: [0.0, 0.0] for method in METHODS}
    done, above = 0, 0.0
    for cell in todo:
        if not all(Run(cell, *rest) in found for rest in PAIRS):
            continue
        error = {rest: found[Run(cell, *rest)]["error"] for rest in PAIRS}
        greedy = error["float32", "greedy"]
        texts = []
        for method in METHODS:
            single, double = error["float32", method], error["float64", method]
            ratios = single / double, single / greedy
            worst[method] = [max(pair) for pair in zip(worst[method], ratios, strict=True)]
            texts.append("{:.4f}, {:.4f}".format(*ratios))
        done += 1
        above = max(above, *(error[dtype, "auto"] / error[dtype, "swap"] for dtype in DTYPES))
        row = found[Run(cell, "float32", "greedy")]
        what = f"{cell.name} {row['n']} × {row['d']} | {cell.width:g} | {cell.k}"
        yield f"| {what} | {cell.criterion} | " + " | ".join(texts) + " |"
    yield from ("", f"{done} of {len(todo)} cells were run. The largest ratios:", "")
    for method, (double, greedy) in worst.items():
        yield f"* {method}: {double:.4f} of its float64 run, {greedy:.4f} of greedy"
    yield f"* auto: {above:.4f} of swap"
    reasons = sorted({row["precision"] for run, row in found.items() if run.dtype == "float32"})
    yield from ("", "What `ledger.precision` said for float32 points: " + "; ".join(reasons) + ".")


def head(device: str) -> list[str]:
    """What stands above the lines."""
    return [
        "# Points in float32: errors against float64 and greedy",
        "",
        device_line(device),
        "Points in float32, standardised, RBF kernel, σ in units of √d; 4 000 rows of each set,",
        "10 000 for k = 200, then all rows, at most 50 000. Each entry: the error over that of the",
        "same method on the same points in float64, and the error over greedy's. All errors are",
        "computed in float64. Seconds are in [gpu_seconds.md](gpu_seconds.md). Printed by",
        "`python benchmarks/gpu_grid.py --data-dir DIR --out FILE`.",
        "",
        "| points | σ | k | criterion | " + " | ".join(METHODS) + " |",
        "|---|---|---|---|" + "---|" * len(METHODS),
    ]


def main() -> None:
    """Run what is missing, and write the page where asked."""
    parser = options(__doc__)
    parser.add_argument("--seconds", type=float, default=400.0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--rows", type=Path, default=Path("gpu_grid.jsonl"))
    asked = parser.parse_args()
    todo, found = list(cells(asked.quick)), stored(asked.rows)
    runs = [Run(cell, *rest) for cell in todo for rest in PAIRS]
    measure_all([run for run in runs if run not in found], asked)
    lines = [*head(asked.device), *table(stored(asked.rows), todo)]
    print(*lines[-8:], sep="\n")
    if asked.out is not None:
        asked.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
