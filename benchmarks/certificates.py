"""How far from the best a choice can be: tables of certified gaps, and the check by enumeration.

    export LANDMARKS_DATA=…
    python benchmarks/certificates.py --parallel 8            # the table, on 16 cores
    python benchmarks/certificates.py --parallel 8 --paper    # the trace cells of the paper's data
    python benchmarks/certificates.py --only "digits columns" --seconds 5
    python benchmarks/certificates.py --exact
    PYTHONPATH=src:tests python benchmarks/certificates.py --brute 1000 --first 0
    python benchmarks/certificates.py --device cuda --n 3000 --seconds 120

The first two start 8 processes of two threads each, and print one table with the medians of the
tail gap and of the certified gap. `--part i/m --save FOLDER` computes one part of m, and
`--merge FOLDER` prints the table of all parts. Seconds are those of the clock on the wall. With
--cpu and OMP_NUM_THREADS=1 they are seconds of the processor, so that other work on the machine
changes little.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import unittest.mock
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from certificate_problems import EXACT, KNOWN, PAPER, UNSEEN, Named, part_of, standard
from certificate_tables import merge, parallel, save, table

import landmarks as lm
from landmarks.errors import RankWarning, ScaleWarning


def points_of(options: argparse.Namespace) -> tuple[np.ndarray, float]:
    """The points for --device, and the width of the kernel on them."""
    if options.data is None:
        return np.random.default_rng(0).standard_normal((options.n, 6)), 1.5
    with np.load(Path(options.data_dir) / f"{options.data}.npz") as file:
        rows = file["X"][: options.n]
    return standard(rows), options.sigma


def on_device(options: argparse.Namespace) -> None:
    """One Gaussian kernel on n points of a torch device."""
    import torch

    points, sigma = points_of(options)
    operator = lm.kernel(torch.asarray(points, device=options.device), lm.rbf(sigma=sigma))
    begun = time.monotonic()
    s = lm.select(operator, options.k or max(2, options.n // 30), method="swap")
    chosen_after = time.monotonic() - begun
    tail = s.gap()
    print(
        f"chosen in {chosen_after:.1f} s, tail in {time.monotonic() - begun - chosen_after:.1f} s"
    )
    print("| device | n | k | tail | certificate | from | steps | seconds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    found = s.certificate(options.seconds or 120.0)
    gaps = f"{tail:.1%} | {found.gap:.2%} | {found.source}"
    ends = f"{found.iterations} | {found.seconds:.0f}"
    print(f"| {options.device} | {s.n} | {s.k} | {gaps} | {ends} |", flush=True)


def exact(seconds: float) -> None:
    """Thirty problems for the exact search."""
    solved = 0
    print("| problem | k | proved | gap | seconds |\n|---|---|---|---|---|", flush=True)
    for name, make, k in EXACT:
        begun = time.monotonic()
        s = lm.select(make(), k, method="exact", budget=seconds)
        took = time.monotonic() - begun
        solved += s.proved
        print(f"| {name} | {k} | {s.proved} | {s.gap():.2%} | {took:.2f} |", flush=True)
    print(f"{solved} of {len(EXACT)} proved within {seconds:g} s each")


def brute(count: int, first: int) -> None:
    """So many small problems against every choice in whole numbers."""
    from proof import brute as small

    wrong, proved, kinds = 0, 0, Counter()
    for number in range(first, first + count):
        case = small.draw(np.random.default_rng([2026, number]))
        known = small.errors(case)
        found = case.select("exact")
        faults = small.faults(case, found, known)
        bounds = {"dual": small.dual_bound(case, 0.05), "lookahead": small.divided_bound(case, 30)}
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


def options_of() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brute", type=int, metavar="N", help="check N small problems")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--only", help="problems whose name and k contain this")
    parser.add_argument("--paper", action="store_true", help="the cells of the paper's data")
    parser.add_argument("--exact", action="store_true", help="thirty problems for the exact search")
    parser.add_argument("--seconds", type=float, help="for each problem; 60, or 300 for long ones")
    parser.add_argument("--cpu", action="store_true", help="count seconds of the processor")
    parser.add_argument("--part", metavar="I/M", help="part I of M of the problems")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="where the rows are saved")
    parser.add_argument("--merge", type=Path, metavar="FOLDER", help="print the saved rows")
    parser.add_argument("--parallel", type=int, metavar="M", help="all parts of M at once")
    parser.add_argument("--device", help="a kernel on n points of this torch device")
    parser.add_argument("--n", type=int, default=300, help="points for --device")
    parser.add_argument("--k", type=int, help="choices for --device")
    parser.add_argument("--data", help="NAME.npz with the points for --device")
    parser.add_argument("--data-dir", default=os.environ.get("LANDMARKS_DATA", "."))
    parser.add_argument("--sigma", type=float, default=20.0, help="width of the kernel on --data")
    return parser.parse_args()


def chosen(options: argparse.Namespace) -> list[Named]:
    """The problems that the options name."""
    problems = PAPER if options.paper else KNOWN + UNSEEN
    problems = [p for p in problems if options.only is None or options.only in f"{p.name} {p.k}"]
    if options.part is None:
        return problems
    number, parts = map(int, options.part.split("/"))
    return part_of(problems, number, parts)


def all_parts(options: argparse.Namespace) -> None:
    """Compute all parts at once and print their table."""
    arguments = ["--paper"] if options.paper else []
    for name in ("only", "seconds"):
        value = getattr(options, name)
        arguments += [] if value is None else [f"--{name}", str(value)]
    with tempfile.TemporaryDirectory() as folder:
        place = options.save or Path(folder)
        parallel(options.parallel, arguments, place)
        merge(place, chosen(options))


def main() -> None:
    options = options_of()
    os.environ["LANDMARKS_DATA"] = options.data_dir
    warnings.simplefilter("ignore", RankWarning)
    warnings.simplefilter("ignore", ScaleWarning)
    clock = time.process_time if options.cpu else time.monotonic
    with unittest.mock.patch("time.monotonic", clock):
        run(options)


def run(options: argparse.Namespace) -> None:
    """What the options ask for."""
    if options.device:
        on_device(options)
    elif options.brute:
        brute(options.brute, options.first)
    elif options.exact:
        exact(options.seconds or 60.0)
    elif options.merge:
        merge(options.merge, chosen(options))
    elif options.parallel:
        all_parts(options)
    else:
        rows = table(chosen(options), options.seconds)
        if options.save is not None:
            save(rows, options.save, options.part or "all")


if __name__ == "__main__":
    main()
