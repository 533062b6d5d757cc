"""The compiled inner loop of a search against the same search in NumPy, in one process.

    OMP_NUM_THREADS=1 python benchmarks/compiled.py --data-dir DIR

Each problem is searched from greedy's choice with the same seed, twice: a descent by swaps, and an
iterated search of fifty rounds. CPU seconds, and the errors, which differ where two swaps gain the
same up to rounding.
"""

from __future__ import annotations

import argparse
import time
from unittest import mock

import landmarks as lm
from landmarks.residual.compiled import library
from paper.data import standardised

CELLS = [
    ("residential", None, 40, "trace"),
    ("arrhythmia", None, 100, "trace"),
    ("secom", None, 100, "trace"),
    ("mnist1k", None, 100, "trace"),
    ("residential", 5.0, 80, "frobenius"),
    ("mnist1k", 10.0, 200, "trace"),
    ("mnist1k", 20.0, 200, "frobenius"),
]


def timed(operator, k: int, criterion: str, method) -> tuple[float, float]:
    begin = time.process_time()
    found = lm.select(operator, k, criterion=criterion, method=method)
    return time.process_time() - begin, found.error()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", required=True)
    options = parser.parse_args()
    if library.library() is None:
        raise SystemExit("swaps.c was not compiled here")
    print("| problem | k | search | NumPy s | compiled s | ratio | compiled error / NumPy |")
    print("|---|---|---|---|---|---|---|")
    totals = [0.0, 0.0]
    for name, sigma, k, criterion in CELLS:
        X = standardised(name, options.data_dir)
        operator = lm.data(X) if sigma is None else lm.kernel(X, lm.rbf(sigma=sigma))
        label = name if sigma is None else f"{name} s={sigma} {criterion}"
        start = lm.select(operator, k, criterion=criterion, method="greedy").indices
        for method in (lm.Swap(start=start), lm.Iterated(start=start, rounds=50)):
            with mock.patch.object(library, "library", lambda: None):
                plain, error = timed(operator, k, criterion, method)
            seconds, found = timed(operator, k, criterion, method)
            totals[0] += plain
            totals[1] += seconds
            row = (label, k, type(method).__name__, plain, seconds, seconds / plain, found / error)
            print("| {} | {} | {} | {:.3f} | {:.3f} | {:.2f} | {:.4f} |".format(*row), flush=True)
    print(f"\n{totals[0]:.2f} s with NumPy, {totals[1]:.2f} s compiled")


if __name__ == "__main__":
    main()
