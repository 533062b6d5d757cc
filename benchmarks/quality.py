"""How good the selections are and what they cost: the tables behind the claims of the documents.

    python benchmarks/quality.py --data-dir DIR [--quick]
        [--part auto budget annealed continuous seconds exact]

auto        every cell, without a budget, with greedy and another program's swap search (quoted)
budget      `auto` with ten seconds
annealed    the annealed relaxation without polish, next to greedy
continuous  the paper's method without polish, next to greedy and the sampling methods
seconds     `auto` with a tenth or a quarter of a second, as the first call of a process
exact       proved optima

Factors are errors over the best rank-k error. CPU seconds are of this process; threads are those of
the environment.
"""

import argparse
import multiprocessing
import time
from dataclasses import dataclass
from functools import cache

import numpy as np

import landmarks as lm
from paper.data import standardised


@dataclass(frozen=True)
class Cell:
    """A data set, a subset size, and a kernel width and criterion when it is a kernel problem."""

    data: str
    k: int
    sigma: float | None = None
    criterion: str = "trace"
    target: float | None = None

    @property
    def label(self) -> str:
        return (
            self.data
            if self.sigma is None
            else f"{self.data} s={self.sigma:g} {self.criterion[:4]}"
        )


@cache
def operator(data: str, sigma: float | None, data_dir: str | None):
    X = standardised(data, data_dir)
    return lm.data(X) if sigma is None else lm.kernel(X, lm.rbf(sigma=sigma))


def columns(data: str, targets: dict[int, float | None]) -> list[Cell]:
    return [Cell(data, k, target=target) for k, target in targets.items()]


def nystrom(
    data: str, sigma: float, criterion: str, targets: dict[int, float | None]
) -> list[Cell]:
    return [Cell(data, k, sigma, criterion, target) for k, target in targets.items()]


SWAP_OF_PYCSS = (
    columns("digits", {20: 1.618, 40: 1.861})
    + columns("residential", {20: 1.528, 40: 1.916})
    + columns("arrhythmia", {50: 1.393, 100: 1.859})
    + columns("secom", {50: 1.181, 100: 1.273})
    + columns("mnist1k", {50: 1.403, 100: 1.593})
)
GRID = (
    columns("residential", dict.fromkeys((5, 10, 15, 30, 50, 60, 65)))
    + columns("arrhythmia", dict.fromkeys((5, 20, 75, 130, 157)))
    + columns("secom", dict.fromkeys((5, 25, 150, 284)))
    + columns("mnist1k", dict.fromkeys((5, 25, 200, 359)))
    + nystrom("residential", 1.0, "trace", dict.fromkeys((20, 80, 220)))
    + nystrom("residential", 5.0, "trace", dict.fromkeys((20, 80, 220)))
    + nystrom("residential", 1.0, "frobenius", dict.fromkeys((20, 80, 220)))
    + nystrom("residential", 5.0, "frobenius", dict.fromkeys((20, 80, 220)))
    + nystrom("mnist1k", 10.0, "trace", dict.fromkeys((50, 200)))
    + nystrom("mnist1k", 20.0, "trace", dict.fromkeys((50, 200)))
    + nystrom("mnist1k", 10.0, "frobenius", dict.fromkeys((50, 200)))
    + nystrom("mnist1k", 20.0, "frobenius", dict.fromkeys((50, 200)))
)
BUDGET = (
    columns("digits", {20: 1.569, 40: 1.791})
    + columns("residential", {10: 1.268, 20: 1.5201, 40: 1.890, 60: 2.135})
    + columns("arrhythmia", {50: 1.390, 100: 1.842, 200: 2.520})
    + columns("secom", {100: 1.269})
    + columns("mnist1k", {50: 1.402, 100: 1.576, 200: 1.845})
    + nystrom("residential", 5.0, "frobenius", {10: 1.502, 40: 1.537, 80: 1.635, 150: 2.330})
    + nystrom("mnist1k", 20.0, "frobenius", {25: 1.728, 100: 1.615})
)
ANNEALED = (
    columns("residential", {10: None, 20: None, 40: 1.98, 60: 2.32})
    + columns("arrhythmia", dict.fromkeys((20, 60, 100, 150)))
    + columns("secom", dict.fromkeys((50, 200)))
    + columns("mnist1k", dict.fromkeys((50, 100, 200)))
    + nystrom("residential", 5.0, "frobenius", dict.fromkeys((10, 40, 80, 150)))
    + nystrom("mnist1k", 20.0, "frobenius", dict.fromkeys((25, 100)))
)
CONTINUOUS = (
    columns("residential", {60: 2.65})
    + columns("mnist1k", {300: 2.26})
    + columns("arrhythmia", {150: 2.36})
    + nystrom("residential", 5.0, "frobenius", {80: 1.77})
)
SECONDS = [
    (0.1, *columns("arrhythmia", {100: 1.842})),
    (0.25, *columns("mnist1k", {100: 1.570})),
]
EXACT = (
    columns("digits", {3: 1.13414, 4: 1.16820, 5: 1.19589})
    + columns("residential", {3: 1.07139, 4: 1.10231})
    + columns("arrhythmia", {2: 1.02956, 3: 1.03957})
    + columns("breast_cancer", {2: 1.12719, 3: 1.24937, 4: 1.33577, 5: 1.42663, 6: None})
    + columns("wine", {6: 1.53156})
)


def measure(cell: Cell, data_dir: str | None, **arguments: object) -> tuple[lm.Selection, float]:
    """A selection and its CPU seconds, from an operator that holds nothing yet."""
    operator.cache_clear()
    A = operator(cell.data, cell.sigma, data_dir)
    start = time.process_time()
    selection = lm.select(A, cell.k, criterion=cell.criterion, **arguments)
    return selection, time.process_time() - start


def verdict(factor: float, target: float | None) -> str:
    if target is None:
        return ""
    return f"aim {target:<7g}" + ("reached" if factor <= target else "MISSED")


def row(cell: Cell, name: str, selection: lm.Selection, seconds: float, note: str = "") -> None:
    factor = selection.factor()
    print(
        f"{cell.label:<22} {cell.k:>4} {name:<14} {factor:>9.4f} {seconds:>7.2f} "
        f"{selection.ledger.products:>8}  {note}",
        flush=True,
    )


def part_auto(data_dir: str | None, quick: bool) -> None:
    worse = 0
    for cell in SWAP_OF_PYCSS + ([] if quick else GRID):
        greedy, spent = measure(cell, data_dir, method="greedy")
        row(cell, "greedy", greedy, spent)
        auto, spent = measure(cell, data_dir)
        worse += auto.error() > greedy.error() * (1 + 1e-9)
        row(
            cell,
            "auto",
            auto,
            spent,
            f"{100 * (auto.error() / greedy.error() - 1):+.2f} % to greedy  "
            f"{verdict(auto.factor(), cell.target)}",
        )
    print(f"auto is worse than greedy in {worse} cells")


def part_budget(data_dir: str | None, quick: bool) -> None:
    for cell in BUDGET[:4] if quick else BUDGET:
        selection, spent = measure(cell, data_dir, budget=10.0)
        row(cell, "auto, 10 s", selection, spent, verdict(selection.factor(), cell.target))


def part_seconds(data_dir: str | None, quick: bool) -> None:
    """Each in a process of its own, whose first call imports what it needs."""
    spawn = multiprocessing.get_context("spawn")
    for budget, cell in SECONDS:
        with spawn.Pool(1) as process:
            process.apply(first_call, (cell, data_dir, budget))


def first_call(cell: Cell, data_dir: str | None, budget: float) -> None:
    selection, spent = measure(cell, data_dir, budget=budget)
    note = verdict(selection.factor(), cell.target)
    row(cell, f"auto, {budget:g} s", selection, spent, note)


def part_annealed(data_dir: str | None, quick: bool) -> None:
    ratios = []
    for cell in ANNEALED[:8] if quick else ANNEALED:
        greedy, spent = measure(cell, data_dir, method="greedy")
        row(cell, "greedy", greedy, spent)
        annealed, spent = measure(cell, data_dir, method="annealed")
        ratios.append(annealed.error() / greedy.error())
        row(
            cell,
            "annealed",
            annealed,
            spent,
            f"{100 * (ratios[-1] - 1):+.2f} % to greedy  {verdict(annealed.factor(), cell.target)}",
        )
    better = sum(ratio < 1 - 1e-6 for ratio in ratios)
    print(
        f"annealed is better than greedy in {better} of {len(ratios)} cells, "
        f"{100 * (np.mean(ratios) - 1):+.2f} % on average"
    )


def part_continuous(data_dir: str | None, quick: bool) -> None:
    for cell in CONTINUOUS[:1] if quick else CONTINUOUS:
        for method in ("uniform", "leverage", "kdpp", "rpcholesky", "greedy"):
            row(cell, method, *measure(cell, data_dir, method=method))
        for strategy in ("path", "bisection"):
            selection, spent = measure(cell, data_dir, method=lm.Continuous(strategy=strategy))
            row(
                cell,
                strategy,
                selection,
                spent,
                verdict(selection.factor(), cell.target) if strategy == "bisection" else "",
            )


def part_exact(data_dir: str | None, quick: bool) -> None:
    for cell in EXACT:
        selection, spent = measure(cell, data_dir, method="exact")
        known = "" if cell.target is None else f"known optimum {cell.target}"
        row(
            cell,
            "exact",
            selection,
            spent,
            f"{'proved' if selection.proved else 'NOT PROVED'}  {known}",
        )


PARTS = {
    "auto": part_auto,
    "budget": part_budget,
    "annealed": part_annealed,
    "continuous": part_continuous,
    "seconds": part_seconds,
    "exact": part_exact,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    print(f"{'data':<22} {'k':>4} {'method':<14} {'factor':>9} {'CPU s':>7} {'products':>8}")
    for part in arguments.part:
        PARTS[part](arguments.data_dir, arguments.quick)


if __name__ == "__main__":
    main()
