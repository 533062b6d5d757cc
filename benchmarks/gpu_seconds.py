"""Seconds of greedy, swap, annealed and auto on a graphics card, for smooth and rough kernels.

python benchmarks/gpu_seconds.py --data-dir DIR [--out FILE] [--quick] [--only 20000 45730 200000]

Points are in float32, k = 200. Bars: `auto` takes at most 12 times as long as greedy; `annealed` at
most 10 times at n = 20 000. Errors are divided by greedy's, all in float64 on the same points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from card import Page, clusters, device_line, kernel, options, real, timed

import landmarks as lm

ANNEALED = 50_000  # points up to which `annealed` is run


@dataclass(frozen=True)
class Case:
    """Points and the width of the kernel."""

    name: str
    X: np.ndarray
    sigma: float


def cases(data_dir: str, quick: bool, only: list[int] | None) -> Iterator[Case]:
    """Three sizes, each with a smooth and a rough kernel."""
    sizes = (2_000, 3_000, 4_000) if quick else (20_000, 45_730, 200_000)
    for n, make in zip(
        sizes,
        (
            lambda rows: real(data_dir, "covtype", rows),
            lambda rows: real(data_dir, "protein", rows),
            clusters,
        ),
        strict=True,
    ):
        if only and n not in only:
            continue
        X = make(n)
        root = X.shape[1] ** 0.5
        name = {0: "covtype", 1: "protein", 2: "clusters"}[sizes.index(n)]
        yield Case(f"{name}, smooth", X, root)
        yield Case(f"{name}, rough", X, 0.3 * root)


def rows(case: Case, criterion: str, k: int, device: str) -> Iterator[str]:
    """One line for each method."""
    n, d = case.X.shape
    methods = ["greedy", "swap", "auto"] + (["annealed"] if n <= ANNEALED else [])
    greedy = {}
    for method in methods:
        operator = kernel(case.X, case.sigma, device)
        found, seconds, memory = timed(
            lambda o=operator, m=method: lm.select(o, k, method=m, criterion=criterion)
        )
        error = found.error(criterion)
        greedy = greedy or {"seconds": seconds, "error": error}
        what = f"{case.name} | {n} | {d} | {case.sigma:.2f} | {criterion} | {method}"
        yield (
            f"| {what} | {seconds:.2f} | {seconds / greedy['seconds']:.1f} | "
            f"{error / greedy['error']:.4f} | {memory:.0f} |"
        )


def head(device: str, k: int) -> list[str]:
    """What stands above the lines."""
    return [
        "# Seconds on one graphics card",
        "",
        device_line(device),
        f"Points in float32, RBF kernel, k = {k}. Seconds are those of `select`; the two columns",
        "after them are divided by greedy's. Printed by",
        "`python benchmarks/gpu_seconds.py --data-dir DIR --out FILE`.",
        "",
        "| points | n | d | σ | criterion | method | seconds | × greedy | error | peak MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]


def main() -> None:
    """Print the table, and write it where asked."""
    parser = options(__doc__)
    parser.add_argument("--only", type=int, nargs="+", help="sizes")
    parser.add_argument("--criteria", nargs="+", default=["trace", "frobenius"])
    arguments = parser.parse_args()
    k = 20 if arguments.quick else 200
    page = Page(arguments.out, head(arguments.device, k))
    warm = kernel(clusters(3_000), 3.0, arguments.device)
    for method in ("greedy", "auto"):  # what is compiled and loaded is no part of the times
        lm.select(warm, 10, method=method, criterion="frobenius")
    for case in cases(arguments.data_dir, arguments.quick, arguments.only):
        for criterion in arguments.criteria:
            for line in rows(case, criterion, k, arguments.device):
                page.add(line)


if __name__ == "__main__":
    main()
