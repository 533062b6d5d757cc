"""Products with a kernel matrix on a GPU: fused, KeOps and chunked torch in one process.

python benchmarks/gpu_product_double.py [--out FILE] [--quick] [--seconds 280] [--missing]

Each product is timed in float64 and in float32. The file keeps what stands above its section "In
float64"; the section is written again. Kernels are compiled beforehand by parallel processes. The
last products are left out when the seconds are used up; --missing keeps the products that the file
has and times the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import keops_product
import torch
import triton
from gpu_product import chunked, relative_error
from gpu_product_cases import NAMES, Case, cases, draw

import landmarks as lm
from landmarks.operators.gpu import fused

TITLE = "## In float64"
SLOW = 400.0  # milliseconds above which one run is enough
COMPILERS = 15  # processes that compile beforehand
PATIENCE = 120  # seconds for them


def once(run: Callable[[], torch.Tensor]) -> float:
    """Milliseconds of one run."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def milliseconds(run: Callable[[], torch.Tensor], repeats: int) -> float:
    """The median time after one run to warm up; what is slow is run once. All is compiled."""
    first = once(run)
    if first > SLOW:
        return first
    return sorted(once(run) for _ in range(repeats))[repeats // 2]


def row(case: Case) -> str:
    """A line: the fused product, its error, and the rivals' times over ours."""
    h, (x, y), V = case.h, case.points(), case.vectors()
    left, right = case.packed(x, y)
    error = relative_error(fused.product(h, left, right, V), h, x, y, V)
    ours = milliseconds(lambda: fused.product(h, left, right, V), 5)
    theirs = rivals(case, (x, y, V)) if case.rivals else [None, None]
    cells = [f"{ours:.2f}", f"{error:.1e}"]
    for time_taken in theirs:
        missing = time_taken is None
        cells += ["–", "–"] if missing else [f"{time_taken:.1f}", f"{time_taken / ours:.1f}"]
    return case.label + " | ".join(cells) + " |"


def rivals(case: Case, arrays: tuple[Any, ...]) -> list[float | None]:
    """The milliseconds of KeOps, where it is installed, and of chunked torch."""
    times: list[float | None] = [None]
    if importlib.util.find_spec("pykeops"):
        compile_keops(case)
        times = [milliseconds(partial(keops_product.product, case.h, *arrays), 3)]
    return [*times, milliseconds(partial(chunked, case.h, *arrays), 3)]


def summary(lines: list[str]) -> Iterator[str]:
    """The smallest ratios and the largest error in each precision."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    for name in NAMES.values():
        rows = [row for row in cells if row[4] == name]
        error = max(float(row[6]) for row in rows)
        least = [min(float(row[i]) for row in rows if row[i] != "–") for i in (8, 10)]
        ratios = "KeOps {:.1f}, chunked {:.1f}".format(*least)
        yield f"* {name}: smallest ratios {ratios}; largest error {error:.1e}"


def compile_fused(case: Case) -> None:
    """Put the fused kernel of a case in Triton's cache."""
    fused.product(case.h, *case.packed(*case.points()), case.vectors())
    torch.cuda.synchronize()


def compile_keops(case: Case) -> None:
    """Put the formula of a case in KeOps' cache."""
    small = replace(case, rows=100, cols=100)
    if case.rivals and importlib.util.find_spec("pykeops"):
        keops_product.product(case.h, *small.points(), small.vectors())


def compile_all(todo: list[Case]) -> None:
    """Compile in parallel processes; what is late is compiled when it is needed."""
    pool = multiprocessing.get_context("fork").Pool(COMPILERS)
    start = time.monotonic()
    try:
        engine = pool.apply_async(compile_keops, (todo[0],))
        ours = pool.map_async(compile_fused, todo, chunksize=1)
        engine.get(PATIENCE)  # the formulas need what it builds
        formulas = {
            (type(c.h), getattr(c.h, "nu", 0), c.d, c.width, c.dtype): c for c in todo if c.rivals
        }
        late = sorted(formulas.values(), key=lambda case: -case.d)
        theirs = pool.map_async(compile_keops, late, chunksize=1)
        for made in (ours, theirs):
            made.get(max(0.0, start + PATIENCE - time.monotonic()))
    except Exception as error:
        print(f"not all was compiled beforehand: {error!r}", flush=True)
    pool.terminate()
    pool.join()
    print(f"compiled in {time.monotonic() - start:.0f} s", flush=True)


def squares(n: int) -> str:
    """The diagonal of K² in one pass."""
    x = fused.prepare(draw(n, 9, torch.float64), lm.rbf(3.0))
    taken = milliseconds(lambda: fused.squared_row_sums(x.h, x, x), 3)
    return f"The diagonal of K² for {n} points, rbf(3), d = 9, float64, one pass: {taken:.1f} ms."


def head() -> list[str]:
    """What stands above the lines."""
    return [
        f"{TITLE} and float32",
        "",
        f"Device: {torch.cuda.get_device_name()}; torch {torch.__version__}, "
        f"triton {triton.__version__}, Python {platform.python_version()}; in and out as said;",
        "milliseconds, median; errors in the Frobenius norm, on 128 rows, against float64 with",
        "distances by differences; ratios are the rival's time over ours, in the same process.",
        "Printed by `python benchmarks/gpu_product_double.py --out FILE`.",
        "",
        "| kernel | size | d | vectors | in | fused | error | KeOps | ratio | chunked | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]


def save(path: Path | None, lines: list[str]) -> None:
    """Write the section after each line: a run that is stopped leaves what it has."""
    if path is None:
        return
    before = path.read_text().split(TITLE)[0].rstrip() if path.exists() else ""
    path.write_text((before + "\n\n").lstrip() + "\n".join(lines) + "\n")


def kept(path: Path | None) -> list[str]:
    """The lines of the products that the file has."""
    text = path.read_text() if path is not None and path.exists() else ""
    section = text.partition(TITLE)[2]
    return [line for line in section.splitlines() if " × " in line]


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=280.0)
    parser.add_argument("--missing", action="store_true", help="time what the file does not have")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    lines = kept(arguments.out) if arguments.missing else []
    every = list(cases(arguments.quick))
    todo = [case for case in every if not any(line.startswith(case.label) for line in lines)]
    compile_all(todo)
    top = head()
    print("\n".join(top), flush=True)
    for case in todo:
        if time.monotonic() < end:
            lines.append(row(case))
            print(lines[-1], flush=True)
            save(arguments.out, [*top, *lines])
    tail = [f"{len(lines)} of {len(every)} products were timed.", "", *summary(lines), ""]
    tail.append(squares(20_000 if arguments.quick else 200_000))
    print("\n".join(["", *tail]), flush=True)
    save(arguments.out, [*top, *lines, "", *tail])


if __name__ == "__main__":
    main()
