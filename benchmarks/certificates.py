"""How far from the best a choice can be: tables of certified gaps, and the check by enumeration.

    PYTHONPATH=src:tests python benchmarks/certificates.py --brute 10000
    LANDMARKS_DATA=… python benchmarks/certificates.py [--only NAME] [--paper] [--exact]
    python benchmarks/certificates.py --device cuda --n 3000 --seconds 120

Without options it prints tail gap, lookahead and certificate for a fixed list of problems. --paper
prints the median gap over the trace cells of the paper's data with n ≤ 400, before and after.
--exact times the exact search on thirty problems. All seconds are CPU seconds of one thread
(OMP_NUM_THREADS=1), so that what else the machine does changes nothing.
"""

from __future__ import annotations

import argparse
import time
import unittest.mock
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import landmarks as lm
from landmarks.datasets import load_dataset
from landmarks.errors import RankWarning

LONG = 372  # columns above which five minutes are given instead of one


def standard(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1, without the constant ones."""
    X = np.asarray(X, dtype=np.float64)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def columns(name: str) -> Callable[[], Any]:
    """The columns of a data set."""
    return lambda: lm.data(load_dataset(name).standardised())


def rows(name: str, sigma: float, n: int | None = None) -> Callable[[], Any]:
    """A Gaussian kernel on the first n rows of a data set."""
    return lambda: lm.kernel(load_dataset(name).standardised()[:n], lm.rbf(sigma=sigma))


def embedded(load: Callable[[], Any]) -> Callable[[], Any]:
    """The columns of a data set of scikit-learn."""
    return lambda: lm.data(standard(load().data))


def points(load: Callable[[], Any], sigma: float, n: int) -> Callable[[], Any]:
    """A Gaussian kernel on the first n rows of a data set of scikit-learn."""
    return lambda: lm.kernel(standard(load().data)[:n], lm.rbf(sigma=sigma))


KNOWN = [
    ("residential rows σ=1", rows("residential", 1.0), 20),
    ("residential rows σ=1", rows("residential", 1.0), 80),
    ("residential rows σ=5", rows("residential", 5.0), 20),
    ("residential rows σ=5", rows("residential", 5.0), 80),
    ("digits columns", embedded(load_digits), 5),
    ("digits columns", embedded(load_digits), 10),
    ("digits columns", embedded(load_digits), 20),
    ("wine columns", embedded(load_wine), 10),
    ("cancer columns", embedded(load_breast_cancer), 5),
    ("cancer columns", embedded(load_breast_cancer), 10),
    ("mnist1k rows σ=20", rows("mnist1k", 20.0), 50),
]
UNSEEN = [
    ("arrhythmia columns", columns("arrhythmia"), 50),
    ("residential columns", columns("residential"), 10),
    ("secom rows σ=20, 300", rows("secom", 20.0, 300), 30),
    ("arrhythmia rows σ=10, 300", rows("arrhythmia", 10.0, 300), 40),
    ("powerplant rows σ=0.5, 300", rows("powerplant", 0.5, 300), 30),
    ("htru2 rows σ=1, 250", rows("htru2", 1.0, 250), 25),
    ("protein rows σ=1, 300", rows("protein", 1.0, 300), 50),
    ("protein rows σ=2, 200", rows("protein", 2.0, 200), 20),
    ("wine rows σ=2", points(load_wine, 2.0, 178), 30),
    ("iris rows σ=0.5", points(load_iris, 0.5, 100), 15),
    ("diabetes rows σ=2, 150", points(load_diabetes, 2.0, 150), 30),
    ("cancer rows σ=3, 120", points(load_breast_cancer, 3.0, 120), 20),
    ("digits rows σ=6, 200", points(load_digits, 6.0, 200), 40),
    ("wine columns", embedded(load_wine), 5),
]


def stages(selection: lm.Selection, seconds: float) -> tuple[float, float, Any]:
    """The gaps of the tail and the lookahead, and the certificate."""
    from landmarks.proof.conditioned import conditioned  # --exact runs on versions without it
    from landmarks.proof.lookahead import allowed, looked_ahead

    error = selection._figure("error", None)
    tail = 1 - selection._figure("rank_bound", None) / error
    more = {"include": selection.include, "exclude": selection.exclude}
    problem = lm.Problem(selection.operator, selection.k, **more)
    state = conditioned(selection.operator, selection.k)
    free = allowed(state, problem.free)
    tails = None if free is None else looked_ahead(state, free, selection.k, False)
    ahead = tail if tails is None else 1 - float(np.sort(tails)[selection.k - 1]) / error
    return tail, min(tail, ahead), selection.certificate(seconds)


def table(only: str | None, scale: float) -> None:
    """One line for each problem."""
    print("| problem | n | k | tail | lookahead | certificate | from | seconds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name, make, k in KNOWN + UNSEEN:
        if only is not None and only not in f"{name} {k}":
            continue
        s = lm.select(make(), k)
        tail, ahead, found = stages(s, scale * (60 if s.n <= LONG else 300))
        gaps = f"{tail:.1%} | {ahead:.1%} | {found.gap:.2%}"
        print(
            f"| {name} | {s.n} | {k} | {gaps} | {found.source} | {found.seconds:.0f} |", flush=True
        )


def paper(seconds: float) -> None:
    """The median certified gap over the trace cells of the paper's data with n ≤ 400."""
    cells = [(f"{name} columns", columns(name)) for name in ("residential", "arrhythmia")]
    cells += [("digits columns", embedded(load_digits))]
    cells += [(f"residential rows σ={sigma:g}", rows("residential", sigma)) for sigma in (1, 5, 10)]
    before, after = [], []
    print("| cell | k | before | after | from |\n|---|---|---|---|---|", flush=True)
    for name, make in cells:
        for k in (5, 20, 60):
            s = lm.select(make(), k)
            if s.n > 400 or k >= s.n:
                continue
            before.append(s.gap())
            found = s.certificate(seconds)
            after.append(found.gap)
            line = f"| {name} | {k} | {before[-1]:.1%} | {found.gap:.2%} | {found.source} |"
            print(line, flush=True)
    print(f"median before {np.median(before):.1%}, after {np.median(after):.2%}")


def on_device(device: str, n: int, seconds: float) -> None:
    """One Gaussian kernel on n points of a torch device, by the clock on the wall."""
    import torch

    points = np.random.default_rng(0).standard_normal((n, 6))
    operator = lm.kernel(torch.asarray(points, device=device), lm.rbf(sigma=1.5))
    s = lm.select(operator, max(2, n // 30), method="swap")
    tail = s.gap()
    print("| device | n | k | tail | certificate | from | steps | seconds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    found = s.certificate(seconds)
    line = f"| {device} | {n} | {s.k} | {tail:.1%} | {found.gap:.2%} | {found.source} "
    print(f"{line}| {found.iterations} | {found.seconds:.0f} |", flush=True)


def exact(seconds: float) -> None:
    """Thirty problems for the exact search."""
    cells = [("wine", load_wine, k) for k in (2, 3, 4, 5, 6, 7, 8, 9, 10)]
    cells += [("cancer", load_breast_cancer, k) for k in (2, 3, 4, 5, 6, 7, 8, 9, 10)]
    cells += [("diabetes", load_diabetes, k) for k in (3, 5, 7)]
    cells += [("digits", load_digits, k) for k in (2, 3, 4, 5)]
    found = [(name, embedded(load), k) for name, load, k in cells]
    found += [("residential", columns("residential"), k) for k in (2, 3, 4)]
    found += [("arrhythmia", columns("arrhythmia"), k) for k in (2, 3)]
    solved = 0
    print("| problem | k | proved | gap | seconds |\n|---|---|---|---|---|", flush=True)
    for name, make, k in found:
        begun = time.process_time()
        s = lm.select(make(), k, method="exact", budget=seconds)
        took = time.process_time() - begun
        solved += s.proved
        print(f"| {name} | {k} | {s.proved} | {s.gap():.2%} | {took:.2f} |", flush=True)
    print(f"{solved} of {len(found)} proved within {seconds:g} s each")


def brute(count: int, first: int) -> None:
    """So many small problems against every choice in whole numbers."""
    from proof import brute as small

    wrong, proved, kinds = 0, 0, Counter()
    for number in range(first, first + count):
        case = small.draw(np.random.default_rng([2026, number]))
        known = small.errors(case)
        found = case.select("exact")
        faults = small.faults(case, found, known)
        bounds = {"dual": small.dual_bound(case, 0.05), "lookahead": small.chained_bound(case, 30)}
        for source, bound in bounds.items():
            if bound > min(known.values()):
                faults.append(f"{source} {bound!r} above {float(min(known.values()))!r}")
        kinds[case.kind] += 1
        proved += found.proved
        wrong += len(faults)
        if faults:
            print(number, case.kind, case.k, case.criterion, faults, flush=True)
        if (number + 1 - first) % 1000 == 0:
            print(f"{number + 1 - first} problems, {proved} proved, {wrong} wrong", flush=True)
    print(
        f"{count} problems of {len(kinds)} kinds, {proved} proved, {wrong} wrong proofs or bounds"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brute", type=int, metavar="N", help="check N small problems")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--only", help="problems whose name and k contain this")
    parser.add_argument("--paper", action="store_true", help="the cells of the paper's data")
    parser.add_argument("--exact", action="store_true", help="thirty problems for the exact search")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each cell")
    parser.add_argument("--device", help="a kernel on n points of this torch device")
    parser.add_argument("--n", type=int, default=300, help="points for --device")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RankWarning)
    if options.device:
        on_device(options.device, options.n, options.seconds)
        return
    with unittest.mock.patch("time.monotonic", time.process_time):
        run(options)


def run(options: argparse.Namespace) -> None:
    """What the options ask for."""
    if options.brute:
        brute(options.brute, options.first)
    elif options.paper:
        paper(options.seconds)
    elif options.exact:
        exact(options.seconds)
    else:
        table(options.only, options.seconds / 60)


if __name__ == "__main__":
    main()
