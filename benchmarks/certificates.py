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
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest.mock
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from certificate_problems import EXACT, KNOWN, PAPER, UNSEEN, Named, part_of, standard

import landmarks as lm
from landmarks.errors import RankWarning

HEAD = "| problem | n | k | tail | lookahead | certificate | from | seconds |"


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


def measured(problem: Named, seconds: float | None) -> dict[str, Any]:
    """The row of a problem."""
    s = lm.select(problem.make(), problem.k)
    tail, ahead, found = stages(s, seconds or problem.seconds)
    row = {"name": problem.name, "n": s.n, "k": problem.k, "tail": tail, "lookahead": ahead}
    return {**row, "gap": found.gap, "source": found.source, "seconds": found.seconds}


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    gaps = f"{row['tail']:.1%} | {row['lookahead']:.1%} | {row['gap']:.2%}"
    ends = f"{row['source']} | {row['seconds']:.0f}"
    return f"| {row['name']} | {row['n']} | {row['k']} | {gaps} | {ends} |"


def table(problems: list[Named], seconds: float | None) -> list[dict[str, Any]]:
    """The rows of some problems, printed as they come."""
    print(HEAD + "\n|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for problem in problems:
        rows.append(measured(problem, seconds))
        print(line(rows[-1]), flush=True)
    medians(rows)
    return rows


def medians(rows: list[dict[str, Any]]) -> None:
    """Print the medians over a table."""
    tail, gap = (float(np.median([row[name] for row in rows])) for name in ("tail", "gap"))
    print(f"{len(rows)} problems, median gap: tail {tail:.1%}, certificate {gap:.2%}", flush=True)


def merge(folder: Path, problems: list[Named]) -> None:
    """Print the table of all parts in a folder, in the order of the problems."""
    rows = [row for path in folder.glob("*.json") for row in json.loads(path.read_text())]
    order = [(problem.name, problem.k) for problem in problems]
    rows = [row for row in rows if (row["name"], row["k"]) in order]
    rows.sort(key=lambda row: order.index((row["name"], row["k"])))
    print(HEAD + "\n|---|---|---|---|---|---|---|---|")
    print("\n".join(map(line, rows)))
    medians(rows)


def parallel(parts: int, arguments: list[str], folder: Path) -> None:
    """All parts at once, each a process of two threads, their rows saved in the folder."""
    threads = {name: "2" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    own = [sys.executable, __file__, *arguments, "--save", str(folder)]
    started = [
        subprocess.Popen(
            [*own, "--part", f"{number}/{parts}"],
            env={**os.environ, **threads},
            stdout=subprocess.DEVNULL,
        )
        for number in range(1, parts + 1)
    ]
    for process in started:
        process.wait()


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
    s = lm.select(operator, options.k or max(2, options.n // 30), method="swap")
    tail = s.gap()
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
        saved(table(chosen(options), options.seconds), options)


def saved(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Save the rows where --save asks for it."""
    if options.save is not None:
        options.save.mkdir(parents=True, exist_ok=True)
        name = (options.part or "all").replace("/", "-of-")
        (options.save / f"{name}.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
