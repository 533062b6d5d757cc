"""How far from the best known each method is, against the CPU time it takes in units of greedy's.

    python benchmarks/anytime.py --data-dir DIR [--quick] [--out docs/images/anytime.svg]

The best known error of a problem is the lowest that any of the runs here found. Times are CPU
seconds of one thread, from an operator that holds nothing yet.
"""

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from quality import Cell, columns, nystrom, operator

import landmarks as lm

CELLS = (
    columns("digits", dict.fromkeys((10, 20, 40)))
    + columns("residential", dict.fromkeys((10, 20, 40, 60)))
    + columns("arrhythmia", dict.fromkeys((20, 50, 100)))
    + columns("secom", dict.fromkeys((50, 100)))
    + columns("mnist1k", dict.fromkeys((50, 100)))
    + nystrom("residential", 1.0, "trace", dict.fromkeys((20, 80)))
    + nystrom("residential", 5.0, "trace", dict.fromkeys((20, 80)))
    + nystrom("residential", 5.0, "frobenius", dict.fromkeys((20, 80)))
    + nystrom("mnist1k", 20.0, "trace", dict.fromkeys((50, 100)))
    + nystrom("mnist1k", 20.0, "frobenius", dict.fromkeys((50,)))
)
LARGE = nystrom("powerplant", 1.0, "trace", dict.fromkeys((50, 100)))
START = lm.Swap(start="greedy")
METHODS = {
    "greedy": lm.Greedy(),
    "pivoted_qr": lm.PivotedQR(),
    "rpcholesky": lm.RPCholesky(),
    "swap": START,
    "annealed > swap": lm.Swap(start="annealed"),
    "iterated 10": lm.Iterated(start=START, rounds=10),
    "iterated 30": lm.Iterated(start=START, rounds=30),
    "iterated 100": lm.Iterated(start=START, rounds=100),
    "auto": lm.Auto(),
    "auto, 2 s": lm.Auto(),
    "auto, 10 s": lm.Auto(),
}
BUDGETS = {"auto, 2 s": 2.0, "auto, 10 s": 10.0}  # seconds; the others have none


def measure(cell: Cell, name: str, data_dir: str | None) -> tuple[float, float]:
    """The error of a selection by a method and its CPU seconds."""
    operator.cache_clear()
    A = operator(cell.data, cell.sigma, data_dir)
    start = time.process_time()
    method, budget = METHODS[name], BUDGETS.get(name)
    s = lm.select(A, cell.k, criterion=cell.criterion, method=method, budget=budget)
    seconds = time.process_time() - start
    return s.error(), seconds


def points(cells: list[Cell], names: list[str], data_dir: str | None) -> dict[str, list]:
    """For each method the time and the gap in each cell, relative to greedy and the best."""
    found = defaultdict(list)
    for cell in cells:
        runs = {name: measure(cell, name, data_dir) for name in names}
        best = min(error for error, _ in runs.values())
        unit = runs["greedy"][1]
        for name, (error, seconds) in runs.items():
            found[name].append((seconds / unit, 100 * (error / best - 1)))
    return found


def table(title: str, found: dict[str, list]) -> None:
    print(f"\n{title}\n\n| method | time / greedy's | mean gap % | worst gap % | best in |")
    print("|---|---|---|---|---|")
    for name, pairs in found.items():
        times, gaps = np.array(pairs).T
        typical = np.exp(np.mean(np.log(times)))
        best = f"{np.sum(gaps < 1e-6)} of {len(gaps)}"
        print(f"| {name} | {typical:.1f} | {gaps.mean():.2f} | {gaps.max():.2f} | {best} |")


def draw(found: dict[str, list], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, pairs in found.items():
        times, gaps = np.array(pairs).T
        x, y = np.exp(np.mean(np.log(times))), gaps.mean()
        marker = "*" if name.startswith("auto") else "o"
        axes.plot(x, y + 0.01, marker, markersize=12 if marker == "*" else 7)
        axes.annotate(name, (x, y + 0.01), xytext=(6, 4), textcoords="offset points")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="CPU time, in units of greedy's",
        ylabel="mean gap to the best known, % + 0.01",
    )
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--quick", action="store_true", help="every third problem, none large")
    parser.add_argument("--out", help="where to draw the picture")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = CELLS[::3] if arguments.quick else CELLS
    found = points(cells, list(METHODS), arguments.data_dir)
    table(f"{len(cells)} problems with n from 61 to 1000", found)
    if arguments.out:
        draw(found, arguments.out)
    if not arguments.quick:
        large = points(LARGE, ["greedy", "rpcholesky", "swap", "auto"], arguments.data_dir)
        table(f"{len(LARGE)} kernels on 9 568 points", large)


if __name__ == "__main__":
    main()
