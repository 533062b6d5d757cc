"""Points in float32 on a graphics card: each method's error against its float64 run and greedy's.

python benchmarks/gpu_grid.py --data-dir DIR [--out FILE] [--quick] [--seconds 400]

A cell is a data set, a width σ in units of √d, k and a criterion. Each method chooses from the
points in float32 and from the same in float64; both choices are judged in float64. Bars:
`auto` and `swap` within 0.1 % of their float64 run, no method more than 1 % above its own, and
`annealed` never above greedy. The last cells are left out when the seconds are used up.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from card import Page, device_line, kernel, options, real

import landmarks as lm
from landmarks.linalg.error import selection_error

METHODS = ("greedy", "swap", "annealed", "auto")
ROWS = {"powerplant": 9_568, "htru2": 17_898, "protein": 45_730, "covtype": 50_000}


class Cell(NamedTuple):
    """One problem."""

    name: str
    width: float
    k: int
    criterion: str


def cells(quick: bool) -> Iterator[Cell]:
    """The cheapest first."""
    for sets in (("powerplant", "htru2"), () if quick else ("protein", "covtype")):
        for k in (50,) if quick else (50, 200, 400):
            for width in (0.3, 1.0, 3.0):
                for name in sets:
                    for criterion in ("trace", "frobenius"):
                        yield Cell(name, width, k, criterion)


class Grid:
    """The lines and the worst ratios."""

    def __init__(self, page: Page, data_dir: str, device: str, rows: dict[str, int]):
        self.page, self.device = page, device
        self.points = {name: np.float32(real(data_dir, name, n)) for name, n in rows.items()}
        self.worst: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def add(self, cell: Cell) -> None:
        """One line: for each method the two ratios and the seconds on float32 points."""
        X = self.points[cell.name]
        sigma = cell.width * X.shape[1] ** 0.5
        judge = kernel(X, sigma, self.device, torch.float64)
        greedy, texts = 0.0, []
        for method in METHODS:
            single, seconds = self.error(cell, X, sigma, method, torch.float32, judge)
            double, _ = self.error(cell, X, sigma, method, torch.float64, judge)
            greedy = greedy or single
            texts.append(f"{single / double:.4f}, {single / greedy:.4f}, {seconds:.1f} s")
            ratios = self.worst[method]
            ratios[:] = max(ratios[0], single / double), max(ratios[1], single / greedy)
        n, d = X.shape
        what = f"{cell.name} {n} × {d} | {cell.width:g} | {cell.k} | {cell.criterion}"
        self.page.add(f"| {what} | " + " | ".join(texts) + " |")

    def error(
        self, cell: Cell, X: np.ndarray, sigma: float, method: str, dtype: Any, judge: Any
    ) -> tuple[float, float]:
        """The error of a method's choice and the seconds that it took."""
        operator = kernel(X, sigma, self.device, dtype)
        start = time.perf_counter()
        found = lm.select(operator, cell.k, method=method, criterion=cell.criterion)
        seconds = time.perf_counter() - start
        return selection_error(judge, found.indices, cell.criterion), seconds

    def summary(self) -> Iterator[str]:
        """The worst ratios."""
        for method, (double, greedy) in self.worst.items():
            yield f"* {method}: at most {double:.4f} of its float64 run, {greedy:.4f} of greedy"


def head(device: str) -> list[str]:
    """What stands above the lines."""
    return [
        "# Points in float32: errors against float64 and greedy",
        "",
        device_line(device),
        "Points in float32, standardised, RBF kernel, σ in units of √d. Each entry: the error over",
        "that of the same method on the same points in float64, the error over greedy's, and the",
        "seconds on float32 points. All errors are computed in float64. Printed by",
        "`python benchmarks/gpu_grid.py --data-dir DIR --out FILE`.",
        "",
        "| points | σ | k | criterion | " + " | ".join(METHODS) + " |",
        "|---|---|---|---|" + "---|" * len(METHODS),
    ]


def main() -> None:
    """Print the grid, and write it where asked."""
    parser = options(__doc__)
    parser.add_argument("--seconds", type=float, default=400.0)
    arguments = parser.parse_args()
    rows = {"powerplant": 1_500, "htru2": 1_200} if arguments.quick else ROWS
    page, end = Page(arguments.out, head(arguments.device)), time.monotonic() + arguments.seconds
    grid, todo = (
        Grid(page, arguments.data_dir, arguments.device, rows),
        list(cells(arguments.quick)),
    )
    done = 0
    for cell in todo:
        if time.monotonic() > end:
            break
        grid.add(cell)
        done += 1
    page.add("")
    page.add(f"{done} of {len(todo)} cells were run. The largest ratios:")
    page.add("")
    for line in grid.summary():
        page.add(line)


if __name__ == "__main__":
    main()
