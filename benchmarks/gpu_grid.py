"""Points in float32 on a graphics card: each method's error against its float64 run and greedy's.

python benchmarks/gpu_grid.py --data-dir DIR [--rows FILE] [--out FILE] [--quick] [--seconds 400]

A cell is a data set, a width σ in units of √d, k and a criterion. Each method chooses from the
points in float32 and from the same in float64; both choices are judged in float64. Bars:
`auto` and `swap` within 0.1 % of their float64 run, no method more than 1 % above its own, and
`annealed` never above greedy.

Several processes share the card. Each result is a line of the file `--rows`; a run that finds the
file goes on where it ended. The page is made from that file.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from card import device_line, kernel, options, real

import landmarks as lm
from landmarks.linalg.error import selection_error

METHODS = ("greedy", "swap", "annealed", "auto")
CRITERIA = ("trace", "frobenius")
SETS = ("protein", "covtype", "htru2", "powerplant")
WIDTHS = (1.0, 3.0, 0.3)
ROWS = {200: 10_000, 400: 4_000, 50: 4_000}  # of each set in the grid, by k
ALL = {"powerplant": 9_568, "htru2": 17_898, "protein": 45_730, "covtype": 50_000}


class Task(NamedTuple):
    """A method on one problem."""

    name: str
    rows: int
    width: float
    k: int
    criterion: str
    method: str


def tasks(quick: bool) -> Iterator[Task]:
    """The grid, the most telling cells first; then cells with all rows."""
    for k in (20,) if quick else (200, 400, 50):
        for width in WIDTHS:
            for name in SETS:
                yield from cell(name, 800 if quick else ROWS[k], width, k)
    if not quick:
        yield from sorted(with_all_rows(), key=cost)


def with_all_rows() -> Iterator[Task]:
    """Every cell with all rows of a set that is not in the grid."""
    for (name, rows), width, k in itertools.product(ALL.items(), WIDTHS, ROWS):
        if rows > ROWS[k]:
            yield from cell(name, rows, width, k)


def cost(task: Task) -> tuple[bool, float]:
    """The cheapest cells come first, those with k = 400 last."""
    products = 4 if task.criterion == "frobenius" else 1
    return task.k == 400, products * task.k * float(task.rows) ** 2


def cell(name: str, rows: int, width: float, k: int) -> Iterator[Task]:
    """All methods, for both criteria."""
    for criterion, method in itertools.product(CRITERIA, METHODS):
        yield Task(name, rows, width, k, criterion, method)


@cache
def points(data_dir: str, name: str, rows: int) -> np.ndarray:
    """The points in float32."""
    return np.float32(real(data_dir, name, rows))


def measured(job: tuple[Task, str, str]) -> dict[str, Any]:
    """The task, and the error and the precision of the choice from points of either dtype."""
    task, data_dir, device = job
    torch.set_num_threads(1)
    X = points(data_dir, task.name, task.rows)
    sigma = task.width * X.shape[1] ** 0.5
    judge = kernel(X, sigma, device, torch.float64)
    found: dict[str, Any] = task._asdict() | {"n": X.shape[0], "d": X.shape[1]}
    for name, dtype in (("single", torch.float32), ("double", torch.float64)):
        operator = kernel(X, sigma, device, dtype)
        start = time.perf_counter()
        try:
            s = lm.select(operator, task.k, method=task.method, criterion=task.criterion)
        except Exception as error:
            return found | {"failed": repr(error)}
        found[f"seconds_{name}"] = time.perf_counter() - start
        found[f"precision_{name}"] = s.ledger.precision
        found[name] = selection_error(judge, s.indices, task.criterion)
    return found


def run_all(todo: list[Task], arguments: Any) -> Iterator[dict[str, Any]]:
    """Results as they come, until the seconds are used up."""
    end = time.monotonic() + arguments.seconds
    jobs = [(task, arguments.data_dir, arguments.device) for task in todo]
    with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
        results = pool.imap_unordered(measured, jobs)
        for _ in jobs:
            try:
                yield results.next(timeout=max(0.1, end - time.monotonic()))
            except multiprocessing.TimeoutError:
                return


def stored(path: Path) -> dict[Task, dict[str, Any]]:
    """The results of earlier runs; what failed is run again."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {key(row): row for row in found if "failed" not in row}


def key(row: dict[str, Any]) -> Task:
    """The task of a result."""
    return Task(*(row[name] for name in Task._fields))


def table(found: dict[Task, dict[str, Any]], todo: list[Task]) -> Iterator[str]:
    """A line for each cell that is complete, and the largest ratios."""
    worst = {method: [0.0, 0.0] for method in METHODS}
    done = 0
    for task in todo[:: len(METHODS)]:
        rows = [found.get(task._replace(method=method)) for method in METHODS]
        if None in rows:
            continue
        texts = []
        for method, row in zip(METHODS, rows, strict=True):
            ratios = row["single"] / row["double"], row["single"] / rows[0]["single"]
            worst[method] = [max(pair) for pair in zip(worst[method], ratios, strict=True)]
            texts.append("{:.4f}, {:.4f}".format(*ratios))
        done += 1
        what = f"{task.name} {rows[0]['n']} × {rows[0]['d']} | {task.width:g} | {task.k}"
        yield f"| {what} | {task.criterion} | " + " | ".join(texts) + " |"
    cells = len(todo) // len(METHODS)
    yield from ("", f"{done} of {cells} cells were run. The largest ratios:", "")
    for method, (double, greedy) in worst.items():
        yield f"* {method}: {double:.4f} of its float64 run, {greedy:.4f} of greedy"
    reasons = sorted({row["precision_single"] for row in found.values()})
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
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--rows", type=Path, default=Path("gpu_grid.jsonl"))
    arguments = parser.parse_args()
    todo, found = list(tasks(arguments.quick)), stored(arguments.rows)
    missing, top = [task for task in todo if task not in found], head(arguments.device)
    with arguments.rows.open("a") as file:
        for row in run_all(missing, arguments):
            print(json.dumps(row), file=file, flush=True)
            print(*row.values(), flush=True)
            if "failed" not in row:
                found[key(row)] = row
                save(arguments.out, [*top, *table(found, todo)])
    save(arguments.out, [*top, *table(found, todo)])


def save(path: Path | None, lines: list[str]) -> None:
    """Write the page after each result: a run that is stopped leaves what it has."""
    if path is not None:
        path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
