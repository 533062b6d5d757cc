"""Products with a kernel matrix in float64 on a GPU: fused, KeOps and chunked torch, one process.

python benchmarks/gpu_product_double.py [--out FILE] [--quick]

The file keeps what stands above its section "In float64"; the section is written again.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
from collections.abc import Callable
from pathlib import Path

import torch
import triton
from gpu_product import chunked, relative_error

import landmarks as lm
from landmarks.operators.gpu import fused, keops
from landmarks.operators.gpu.double_product import pair

TITLE = "## In float64"
SLOW = 400.0  # milliseconds above which one time is enough
WIDTHS = {2: 1.0, 4: 2.0, 9: 3.0, 30: 8.0, 90: 14.0, 784: 40.0}


def points(n: int, d: int, offset: float = 0.0) -> torch.Tensor:
    """Standard normal points in float64, moved from the origin."""
    generator = torch.Generator(device="cuda").manual_seed(n + d)
    drawn = torch.randn(n, d, device="cuda", generator=generator, dtype=torch.float64)
    return drawn + offset


def once(run: Callable[[], torch.Tensor]) -> float:
    """Milliseconds of one run."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def milliseconds(run: Callable[[], torch.Tensor], repeats: int) -> float:
    """The median time after one run to warm up; a slow one is timed once."""
    run()
    first = once(run)
    if first > SLOW:
        return first
    return sorted([first, *(once(run) for _ in range(repeats - 1))])[repeats // 2]


def kernels_for(d: int) -> list:
    """Every kernel that has a fused product, with a width that suits the points."""
    s = WIDTHS[d]
    materns = [lm.matern(nu, s) for nu in (0.5, 1.5, 2.5)]
    return [lm.rbf(s), lm.laplacian(s * d**0.5), *materns, lm.polynomial(3, 1 / d, 1.0)]


def name(h: object) -> str:
    """The kernel in a few letters."""
    if isinstance(h, lm.matern):
        return f"matern({h.nu:g}, {h.sigma:g})"
    if isinstance(h, lm.polynomial):
        return f"polynomial({h.degree})"
    return f"{type(h).__name__}({h.sigma:.3g})"


class Table:
    """The lines, and the smallest ratio to each rival."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.least = {"KeOps": float("inf"), "chunked": float("inf")}
        self.worst_error = 0.0

    def row(self, h, x, y, width: int, *, note: str = "", rivals: bool = True) -> None:
        """One line: the fused product, its error, and the rivals' times over ours."""
        V = torch.randn(y.shape[0], width, device="cuda", dtype=torch.float64)
        left, right = pair(h, x, y)
        result = fused.product(h, left, right, V)
        error = relative_error(result, h, x, y, V)
        ours = milliseconds(lambda: fused.product(h, left, right, V), 5)
        cells = [f"{ours:.2f}", f"{error:.1e}"]
        cells += self._rivals(h, x, y, V, ours) if rivals else ["–"] * 4
        size = f"{x.shape[0]} × {y.shape[0]}"
        self.lines.append(
            f"| {name(h)}{note} | {size} | {x.shape[1]} | {width} | " + " | ".join(cells) + " |"
        )
        self.worst_error = max(self.worst_error, error)
        print(self.lines[-1], flush=True)

    def _rivals(self, h, x, y, V, ours: float) -> list[str]:
        runs = {"chunked": lambda: chunked(h, x, y, V)}
        if importlib.util.find_spec("pykeops"):
            runs = {"KeOps": lambda: keops.product(h, x, y, V), **runs}
        cells = []
        for rival, run in runs.items():
            time = milliseconds(run, 3)
            self.least[rival] = min(self.least[rival], time / ours)
            cells += [f"{time:.1f}", f"{time / ours:.1f}"]
        return ["–"] * (4 - len(cells)) + cells


def fill(table: Table, quick: bool) -> None:
    """All lines."""
    sizes = (20_000,) if quick else (20_000, 50_000, 200_000)
    for n in sizes:
        x = points(n, 9)
        for width in (1, 10, 32):
            table.row(lm.rbf(3.0), x, x, width)
    table.row(lm.rbf(3.0), x, x, 64, rivals=False)
    for d in (2, 4, 9, 30, 90, 784):
        x = points(5_000 if quick else 20_000 if d == 784 else 50_000, d)
        for h in kernels_for(d):
            table.row(h, x, x, 10)
    if not quick:
        x = points(50_000, 784)
        table.row(lm.rbf(40.0), x, x, 10)
    for rows, cols in ((777, 200_000), (200_000, 100), (5_000, 50_000)):
        for h in kernels_for(9):
            table.row(h, points(rows, 9), points(cols, 9), 10)
    x = points(5_000 if quick else 50_000, 9)
    for sigma in (0.01, 0.1, 0.3, 1.0, 10.0, 100.0):
        table.row(lm.rbf(sigma), x, x, 10)
    table.row(lm.rbf(3.0), x + 1e3, x + 1e3, 10, note=", far from 0", rivals=False)


def squares(n: int) -> str:
    """The diagonal of K² in one pass."""
    x = fused.prepare(points(n, 9), lm.rbf(3.0))
    time = milliseconds(lambda: fused.squared_row_sums(x.h, x, x), 3)
    return f"The diagonal of K² for {n} points, rbf(3), d = 9, in one pass: {time:.1f} ms."


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    head = [
        TITLE,
        "",
        f"Device: {torch.cuda.get_device_name()}; torch {torch.__version__}, "
        f"triton {triton.__version__}, Python {platform.python_version()}; float64 in and out,",
        "milliseconds, median; errors in the Frobenius norm, on 128 rows, against float64 with",
        "distances by differences; ratios are the rival's time over ours.",
        "",
        "| kernel | size | d | vectors | fused | error | KeOps | ratio | chunked | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(head), flush=True)
    table = Table()
    fill(table, arguments.quick)
    least = ", ".join(f"{rival} {ratio:.2f}" for rival, ratio in table.least.items())
    tail = [
        "",
        f"Smallest ratio: {least}. Largest error: {table.worst_error:.1e}.",
        squares(20_000 if arguments.quick else 200_000),
        "",
    ]
    print("\n".join(tail), flush=True)
    if arguments.out:
        before = ""
        if arguments.out.exists():
            before = arguments.out.read_text().split(TITLE)[0].rstrip() + "\n\n"
        arguments.out.write_text(before + "\n".join([*head, *table.lines, *tail]))
        print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
