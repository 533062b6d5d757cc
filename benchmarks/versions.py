"""Errors and CPU time of the default and of an earlier version, on the same problems.

    python benchmarks/versions.py --old SRC --data-dir DIR [--part small large budget tiny]

SRC is the `src` folder of a checkout of the earlier version, such as commit 0345ec1 (version 0.1).
Each problem is solved by both versions, one after the other, in two processes that stay alive.

small   columns and kernels of the paper's small data, no budget
large   3 000 points, sigma = median distance, both criteria
budget  `budget=10` on the cells of quality.py
tiny    bootstrap samples of 10 of 30 columns, and the time of one call
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
WORKER = """
import json, sys, time, warnings
import numpy as np
import landmarks as lm
from paper.data import standardised
from sklearn.datasets import load_breast_cancer

warnings.simplefilter("ignore")


def problem(name, sigma, rows):
    X = standardised(name, sys.argv[1] or None)
    if rows:
        X = X[np.random.default_rng(0).permutation(len(X))[:rows]]
    if sigma == "median":
        d = np.linalg.norm(X[:500, None] - X[None, :500], axis=2)
        sigma = float(np.median(d[d > 0]))
    return lm.data(X) if sigma is None else lm.kernel(X, lm.rbf(sigma=sigma))


def cell(task):
    A = problem(task["data"], task["sigma"], task["rows"])
    start = time.process_time()
    s = lm.select(A, task["k"], criterion=task["criterion"], budget=task["budget"])
    seconds = time.process_time() - start
    return {"error": s.error(), "seconds": seconds}


def tiny(task):
    X = load_breast_cancer().data
    X = (X - X.mean(0)) / X.std(0)
    rng = np.random.default_rng(0)
    lm.select(X, task["k"])
    start = time.process_time()
    for _ in range(task["calls"]):
        s = lm.select(X[rng.integers(0, len(X), len(X))], task["k"])
    return {"error": s.error(), "seconds": time.process_time() - start}


for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps(tiny(task) if "calls" in task else cell(task)), flush=True)
"""


class Version:
    """A version of the package in a process of its own."""

    def __init__(self, source: str | None, data_dir: str | None):
        paths = [source or str(ROOT / "src"), str(ROOT)]  # the data are read by `paper` alone
        environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=os.pathsep.join(paths))
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, data_dir or ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def solve(self, task: dict) -> dict:
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def cell(data, k, sigma=None, criterion="trace", rows=None, budget=None) -> dict:
    names = ("data", "k", "sigma", "criterion", "rows", "budget")
    return dict(zip(names, (data, k, sigma, criterion, rows, budget), strict=True))


def small() -> list[dict]:
    from quality import BUDGET, GRID, SWAP_OF_PYCSS

    cells = dict.fromkeys(astuple(c)[:4] for c in SWAP_OF_PYCSS + GRID + BUDGET)
    return [cell(*values) for values in cells]


def large() -> list[dict]:
    return [
        cell("protein", k, "median", criterion, rows=3000)
        for criterion in ("trace", "frobenius")
        for k in (30, 100, 250)
    ]


def budget() -> list[dict]:
    from quality import BUDGET

    return [cell(*astuple(c)[:4], budget=10.0) for c in BUDGET]


def tiny() -> list[dict]:
    calls = [{"calls": 1000, "k": 10}, {"calls": 100, "k": 5}]
    return [cell("breast_cancer", c["k"]) | c for c in calls]


PARTS = {"small": small, "large": large, "budget": budget, "tiny": tiny}


def compare(part: str, old: Version, new: Version) -> None:
    ratios, times = [], []
    print(f"\n{part}\n| problem | k | old s | new s | new error / old |\n|---|---|---|---|---|")
    for task in PARTS[part]():
        before, after = old.solve(task), new.solve(task)
        ratios.append(after["error"] / before["error"])
        times.append((before["seconds"], after["seconds"]))
        name = task["data"]
        if task["sigma"] is not None:
            name += f" s={task['sigma']} {task['criterion']}"
        print(
            f"| {name} | {task['k']} | {before['seconds']:.2f} | {after['seconds']:.2f} "
            f"| {ratios[-1]:.5f} |",
            flush=True,
        )
    percent = 100 * (np.array(ratios) - 1)
    total = np.sum(times, axis=0)
    print(
        f"\n{len(ratios)} problems: error {percent.mean():+.3f} % on average, worst "
        f"{percent.max():+.3f} %, more than 0.05 % above in {np.sum(percent > 0.05)}, more than "
        f"0.3 % in {np.sum(percent > 0.3)}; CPU {total[0]:.1f} s before, {total[1]:.1f} s now, "
        f"{total[1] / total[0]:.2f} of it"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--old", required=True, help="the src folder of the earlier version")
    parser.add_argument("--data-dir")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=["small", "large", "tiny"])
    arguments = parser.parse_args()
    old = Version(arguments.old, arguments.data_dir)
    new = Version(None, arguments.data_dir)
    for part in arguments.part:
        compare(part, old, new)


if __name__ == "__main__":
    main()
