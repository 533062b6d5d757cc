"""Many selections in one process, and what they leave behind: memory, open files and threads.

    python benchmarks/soak.py --selections 10000   small ones in a row
    python benchmarks/soak.py --minutes 30         mixed work: methods, operators, files, threads

A line is printed at every twentieth of the way. The first tenth is warming up: growth is counted
from there.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse

import landmarks as lm

METHODS = [
    "auto",
    "greedy",
    "swap",
    "iterated",
    "annealed",
    "nuclear",
    "rpcholesky",
    "kdpp",
    "leverage",
    "pivoted_qr",
    "uniform",
]


def small(i: int) -> None:
    """One selection from a small matrix."""
    X = np.random.default_rng(i).standard_normal((20, 10))
    lm.select(X, 3, method=METHODS[1:][i % (len(METHODS) - 1)], seed=i).error()


def from_data(rng: np.random.Generator) -> None:
    X = rng.standard_normal((rng.integers(5, 200), rng.integers(5, 80)))
    lm.select(
        X, 4, method=rng.choice(METHODS), criterion=rng.choice(["trace", "frobenius"])
    ).factor()


def from_kernel(rng: np.random.Generator) -> None:
    points = rng.standard_normal((rng.integers(20, 300), 3))
    lm.select(
        lm.kernel(points, lm.rbf(sigma=2.0)), 6, method=rng.choice(METHODS)
    ).nystrom().features(points[:5])


def from_sparse(rng: np.random.Generator) -> None:
    X = scipy.sparse.random_array((200, 60), density=0.1, rng=rng)
    lm.select(X, 5, method=rng.choice(["greedy", "swap", "rpcholesky"])).relative_error()


def through_a_file(rng: np.random.Generator) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        lm.select(rng.standard_normal((30, 12)), 3, method="greedy").save(path)
        lm.load(path).error()


def refused(rng: np.random.Generator) -> None:
    for wrong in (np.full((3, 3), np.nan), np.zeros((0, 4)), [["a"]]):
        try:
            lm.select(wrong, 1)
        except ValueError:
            continue
        raise AssertionError("a bad matrix was accepted")


def estimators(rng: np.random.Generator) -> None:
    X = rng.standard_normal((60, 15))
    lm.ColumnSelector(4, random_state=0, center=True).fit(X).transform(X)
    lm.Nystroem(n_components=8, gamma=0.1, random_state=0).fit_transform(X)


def in_threads(rng: np.random.Generator) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(small, rng.integers(0, 1000, 16).tolist()))


WORK: list[Callable[[np.random.Generator], None]] = [
    from_data,
    from_kernel,
    from_sparse,
    through_a_file,
    refused,
    estimators,
    in_threads,
]


def left_behind() -> tuple[float, int, int]:
    """Megabytes of memory that no file backs, open files, and threads."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return (
        int(status["RssAnon"].split()[0]) / 1024,
        len(os.listdir("/proc/self/fd")),
        int(status["Threads"]),
    )


def in_a_row(count: int) -> Iterator[float]:
    """Small selections; yields what part of them is done."""
    for i in range(count):
        small(i)
        yield (i + 1) / count


def mixed(minutes: float) -> Iterator[float]:
    """Mixed work; yields what part of the time is over."""
    start, rng = time.monotonic(), np.random.default_rng(0)
    while (part := (time.monotonic() - start) / (60 * minutes)) < 1:
        WORK[rng.integers(len(WORK))](rng)
        yield part
    yield 1.0


def soak(progress: Iterator[float]) -> None:
    """Run to the end, printing what is left behind on the way."""
    start, marks, at_tenth = time.monotonic(), 0, left_behind()
    print(f"{'done':>6}{'pieces':>9}{'seconds':>9}{'MB':>9}{'files':>7}{'threads':>9}")
    for pieces, part in enumerate(progress, 1):
        if part * 20 < marks + 1:
            continue
        marks, now = int(part * 20), left_behind()
        at_tenth = now if marks <= 2 else at_tenth
        print(
            f"{part:6.0%}{pieces:9}{time.monotonic() - start:9.0f}"
            f"{now[0]:9.1f}{now[1]:7}{now[2]:9}",
            flush=True,
        )
    growth = [after - before for after, before in zip(left_behind(), at_tenth, strict=True)]
    print(
        f"{pieces} pieces of work in {time.monotonic() - start:.0f} s; since the first "
        f"tenth: memory {growth[0]:+.1f} MB, files {growth[1]:+d}, "
        f"threads {growth[2]:+d}; Python threads now {threading.active_count()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--selections", type=int, default=10_000)
    parser.add_argument("--minutes", type=float)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    soak(in_a_row(options.selections) if options.minutes is None else mixed(options.minutes))


if __name__ == "__main__":
    main()
