"""Seconds of greedy and auto on a graphics card, for smooth and rough kernels.

python benchmarks/gpu_seconds.py --data-dir DIR [--out FILE] [--quick] [--only 20000 45730 200000]
    [--k 200] [--slow-double]

Points are in float32, k = 200. Bar: `auto` takes at most 12 times as long as greedy. `--methods`
adds others. Errors are divided by those of greedy, all in float64 on the same points; above 50 000
points the Frobenius error is estimated.
`--slow-double` searches as on a card that computes in float64 at a fraction of its rate in float32:
*in* counts the products that are left in float64.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from card import Page, clusters, device_line, kernel, options, real, timed

import landmarks as lm
from landmarks.operators import kernel as kernel_matrices

ESTIMATED = 50_000  # points above which the Frobenius error is estimated
WARM = 7_000  # points of a run before the timed ones: more than a stored matrix has


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


def error_of(found: lm.Selection, criterion: str) -> float:
    """The error, estimated where the exact one takes longer than the choice."""
    if criterion == "trace" or found.n <= ESTIMATED:
        return found.error(criterion)
    return found.estimated_error(criterion).value


def rows(case: Case, criterion: str, k: int, asked: argparse.Namespace) -> Iterator[str]:
    """One line for each method."""
    n, d = case.X.shape
    greedy, device = {}, asked.device
    for method in asked.methods:
        operator = kernel(case.X, case.sigma, device)
        found, seconds, memory = timed(
            lambda o=operator, m=method: lm.select(o, k, method=m, criterion=criterion)
        )
        error = error_of(found, criterion)
        greedy = greedy or {"seconds": seconds, "error": error}
        what = f"{case.name} | {n} | {d} | {case.sigma:.2f} | {criterion} | {method}"
        yield (
            f"| {what} | {seconds:.2f} | {seconds / greedy['seconds']:.1f} | "
            f"{error / greedy['error']:.4f} | {memory:.0f} | {found.ledger.precision} |"
        )


def warm_up(case: Case, device: str) -> None:
    """Compile and load what a case needs: that is no part of the times."""
    operator = kernel(case.X[:WARM], case.sigma, device)
    for method in ("greedy", "auto"):
        lm.select(operator, min(72, len(case.X) // 8), method=method, criterion="frobenius")


def head(device: str, k: int) -> list[str]:
    """What stands above the lines."""
    return [
        "# Seconds on one graphics card",
        "",
        device_line(device),
        f"Points in float32, RBF kernel, k = {k}. Seconds are those of `select`; the two columns",
        "after them are divided by greedy's; above 50 000 points the Frobenius error is estimated.",
        "*in*: the precision of the search, and why. Printed by",
        "`python benchmarks/gpu_seconds.py --data-dir DIR --out FILE`.",
        "",
        "| points | n | d | σ | criterion | method | seconds | × greedy | error | peak MB | in |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]


def main() -> None:
    """Print the table, and write it where asked."""
    parser = options(__doc__)
    parser.add_argument("--only", type=int, nargs="+", help="sizes")
    parser.add_argument("--criteria", nargs="+", default=["trace", "frobenius"])
    parser.add_argument("--methods", nargs="+", default=["greedy", "auto"])
    parser.add_argument("--k", type=int, default=200)
    parser.add_argument("--slow-double", action="store_true")
    arguments = parser.parse_args()
    if arguments.slow_double:
        kernel_matrices.fast_in_double = lambda points: False
    k = 20 if arguments.quick else arguments.k
    page = Page(arguments.out, head(arguments.device, k))
    todo = list(cases(arguments.data_dir, arguments.quick, arguments.only))
    for case in todo:
        warm_up(case, arguments.device)
    for criterion in arguments.criteria:  # the longest last
        for case in todo:
            for line in rows(case, criterion, k, arguments):
                page.add(line)


if __name__ == "__main__":
    main()
