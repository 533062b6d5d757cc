"""Seconds until the best choice is proved, by an earlier version and by this one; and what is
proved of default answers.

    export LANDMARKS_DATA=…
    python benchmarks/proof.py --old SRC [--limit 60] [--only "digits"] [--cores 1 2]
    python benchmarks/proof.py --old SRC --everyday

SRC is the `src` folder of a checkout of the earlier version, such as commit 90fbd05. Both versions
solve each problem in processes that stay alive. Seconds are those of the processor, all threads
together; with several cores, those of the clock. `--everyday` compares what the default proves of
60 problems of up to 120 columns and six picks, and the median ratio of the seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
EVERYDAY = ("breast_cancer", "digits", "wine", "diabetes", "residential", "arrhythmia", "secom")
EVERYDAY += ("mnist1k", "htru2", "protein", "arrhythmia, later", "secom, later")
WORKER = """
import json, sys, time, warnings
import numpy as np
import landmarks as lm
import sklearn.datasets
from paper.data import standardise, standardised

warnings.simplefilter("ignore")


def columns(task):
    name, _, later = task["data"].partition(", ")
    if name == "diabetes":
        X = standardise(sklearn.datasets.load_diabetes().data)
    else:
        X = standardised(name, sys.argv[1] or None)
    return X[:2000, 120 * bool(later) :][:, :120] if task["everyday"] else X


def asked(task, X):
    words = {}
    for word in task["with"]:
        if word == "target":
            y = getattr(sklearn.datasets, f"load_{task['data']}")().target
            words["target"] = standardise(np.equal.outer(y, np.unique(y)).astype(float))
        elif word == "noise":
            words["noise"] = float(len(X)) / 4
        elif word == "groups":
            words["groups"] = [j % 10 if X.shape[1] == 30 else j // 4 for j in range(X.shape[1])]
        elif word == "costs":
            words["costs"] = [1 + j % 3 for j in range(X.shape[1])]
            words["budget_cost"] = task["k"]
        elif word == "places":
            kept = np.ptp(sklearn.datasets.load_digits().data, axis=0) > 0
            grid = np.argwhere(np.ones((8, 8)))[kept]
            words["constraints"] = lm.MinDistance(grid, 2.0)
        else:
            words["criterion"] = word
    return words


def solve(task):
    X = columns(task)
    words = asked(task, X)
    if not task["everyday"]:
        words |= {"method": "exact", "budget": task["limit"]}
    k = None if "costs" in words else task["k"]
    A = lm.data(X)
    cpu, clock = time.process_time(), time.monotonic()
    try:
        s = lm.select(A, k, **words)
    except (lm.errors.UnsupportedError, ValueError) as error:
        return {"refused": str(error)}
    clocked, seconds = time.monotonic() - clock, time.process_time() - cpu
    proved = s.bound is not None and bool(s.proved)  # where reading it would search, it is unknown
    return {"error": s.error(), "proved": proved, "gap": s.gap(), "clock": clocked, "cpu": seconds}


for line in sys.stdin:
    print(json.dumps(solve(json.loads(line))), flush=True)
"""


class Version:
    """A version of the package in a process of its own, on so many cores."""

    def __init__(self, source: str | None, data_dir: str | None, cores: int = 1):
        paths = [source or str(ROOT / "src"), str(ROOT)]  # the data are read by `paper` alone
        environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=os.pathsep.join(paths))
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, data_dir or ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        if hasattr(os, "sched_setaffinity"):
            mine = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(self.process.pid, mine[:cores])
        self.cores = cores

    def solve(self, task: dict) -> dict:
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def case(data: str, k: int, *words: str) -> dict:
    return {"data": data, "k": k, "with": words, "everyday": False}


CASES = [case("breast_cancer", k) for k in (8, 10, 12)]
CASES += [case("digits", k) for k in range(5, 11)]
CASES += [case("residential", k) for k in range(3, 7)]
CASES += [case("wine", k) for k in range(3, 11)]
CASES += [case("arrhythmia", k) for k in (3, 4)]
CASES += [case(data, 5, "target") for data in ("breast_cancer", "wine", "digits")]
CASES += [case(data, 5, "noise") for data in ("breast_cancer", "wine", "digits")]
CASES += [case("breast_cancer", k, "frobenius") for k in (5, 8)]
CASES += [case("breast_cancer", 5, "groups"), case("digits", 5, "groups")]
CASES += [case("breast_cancer", 12, "costs"), case("digits", 6, "places")]
SIZES = {"breast_cancer": 30, "digits": 61, "residential": 109, "wine": 13, "arrhythmia": 262}


def shown(found: dict, cores: int = 1) -> str:
    if "refused" in found:
        return "refused"
    seconds = found["cpu"] if cores == 1 else found["clock"]
    return f"{seconds:.2f}" if found["proved"] else f"open, {found['gap']:.1%} ({seconds:.0f})"


def proofs(options: argparse.Namespace) -> None:
    old = options.old and Version(options.old, options.data_dir)
    versions = [Version(None, options.data_dir, cores) for cores in options.cores]
    heads = ["problem", "k", "choices", *(["before"] if old else [])]
    heads += ["one core" if cores == 1 else f"{cores} cores" for cores in options.cores]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for task in CASES:
        name = f"{task['data']} {' '.join(task['with'])}".strip()
        if options.only and options.only not in f"{name} {task['k']}":
            continue
        every = math.comb(SIZES[task["data"]], task["k"])
        number = "" if {"groups", "costs", "places"} & set(task["with"]) else f"{every:.2g}"
        task = task | {"limit": options.limit}
        cells = [shown(old.solve(task))] if old else []
        cells += [shown(version.solve(task), version.cores) for version in versions]
        print(f"| {name} | {task['k']} | {number} | {' | '.join(cells)} |", flush=True)


def everyday(options: argparse.Namespace) -> None:
    versions = [Version(options.old, options.data_dir), Version(None, options.data_dir)]
    tasks = [case(data, k) | {"everyday": True} for data in EVERYDAY for k in range(2, 7)]
    proved, ratios, better, worse, seconds = [0, 0], [], 0, 0, [0.0, 0.0]
    for task in tasks:
        for version in versions:
            version.solve(task)  # what is done once
        found = [[version.solve(task) for _ in range(3)] for version in versions]
        if any("refused" in runs[0] for runs in found):
            continue
        before, after = (min(runs, key=lambda run: run["cpu"]) for runs in found)
        proved = [proved[0] + before["proved"], proved[1] + after["proved"]]
        ratios.append(after["cpu"] / max(before["cpu"], 1e-4))
        seconds = [seconds[0] + before["cpu"], seconds[1] + after["cpu"]]
        better += after["error"] < before["error"] * (1 - 1e-9)
        worse += after["error"] > before["error"] * (1 + 1e-9)
    print(f"{len(ratios)} problems, {proved[0]} proved before, {proved[1]} after")
    print(f"{better} errors lower, {worse} higher")
    print(f"seconds {seconds[0]:.2f} before, {seconds[1]:.2f} after")
    print(f"median ratio {median(ratios):.2f}, largest {max(ratios):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--old", help="the src folder of the earlier version")
    parser.add_argument("--data-dir", default=os.environ.get("LANDMARKS_DATA"))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each problem")
    parser.add_argument("--only", help="problems whose name and k contain this")
    parser.add_argument("--cores", type=int, nargs="+", default=[1])
    parser.add_argument("--everyday", action="store_true", help="what the default proves")
    options = parser.parse_args()
    if options.everyday and not options.old:
        parser.error("--everyday needs --old")
    everyday(options) if options.everyday else proofs(options)


if __name__ == "__main__":
    main()
