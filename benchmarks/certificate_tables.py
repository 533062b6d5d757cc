"""Tables of certified gaps: their rows, the parts that are computed at once, and their merge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from certificate_problems import Named

import landmarks as lm

HEAD = "| problem | n | k | tail | lookahead | certificate | from | seconds |"
RULE = "|---|---|---|---|---|---|---|---|"


def stages(selection: lm.Selection, seconds: float) -> tuple[float, float, Any]:
    """The gaps of the tail and the lookahead, and the certificate."""
    from landmarks.proof.conditioned import conditioned  # --exact runs on versions without it
    from landmarks.proof.lookahead import allowed, tails_after
    from landmarks.proof.node import Node

    error = selection._figure("error", None)
    tail = 1 - selection._figure("rank_bound", None) / error
    more = {"include": selection.include, "exclude": selection.exclude}
    problem = lm.Problem(selection.operator, selection.k, **more)
    state = conditioned(problem)
    free = allowed(state, problem.free)
    tails = None if free is None else tails_after(Node(state, free, selection.k, 1))
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
    print(f"{HEAD}\n{RULE}", flush=True)
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
    print(f"{HEAD}\n{RULE}")
    print("\n".join(map(line, rows)))
    medians(rows)


def parallel(parts: int, arguments: list[str], folder: Path) -> None:
    """All parts at once, each a process of two threads, their rows saved in the folder."""
    threads = {name: "2" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    script = Path(__file__).with_name("certificates.py")
    own = [sys.executable, str(script), *arguments, "--save", str(folder)]
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


def save(rows: list[dict[str, Any]], folder: Path, part: str) -> None:
    """Save the rows of a part, I/M, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part.replace('/', '-of-')}.json").write_text(json.dumps(rows))
