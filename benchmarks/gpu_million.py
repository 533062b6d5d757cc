"""Millions of points on a graphics card: seconds, peak memory and error for k landmarks.

    python benchmarks/gpu_million.py [--points 1000000] [--dimensions 9] [--k 1000]
        [--methods uniform rpcholesky nuclear] [--not-kept] [--one-by-one] [--quick] [--out FILE]

The trace error is exact. The n × k factor is kept if half of the free memory holds it; otherwise,
and in the lines "not kept", columns of K are evaluated again whenever it is used. `--one-by-one`
adds nuclear scores that make single picks instead of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

from card import Page, clusters, device_line, kernel, options, timed

import landmarks as lm
from landmarks.methods.greedy import nuclear
from landmarks.residual import residual

PROBLEMS = {6: (50, 1.5), 9: (200, 2.0)}  # clusters and width, by dimensions
WARM = 120_000  # points from which products are in single precision: their kernels are compiled too


def runs(
    methods: list[str], not_kept: bool, one_by_one: bool
) -> Iterator[tuple[str, str, AbstractContextManager]]:
    """Label, method and setting of each line."""
    for method in methods:
        yield method, method, nullcontext()
        if not_kept and method != "uniform":
            full = patch.object(residual, "free_memory", lambda like, otherwise: 0)
            yield f"{method}, not kept", method, full
    if one_by_one:
        yield "nuclear, one by one", "nuclear", patch.object(nuclear, "LARGE", 10**18)


def main() -> None:
    """Print the table, and write it where asked."""
    parser = options(__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, choices=PROBLEMS, default=9)
    parser.add_argument("--k", type=int, default=1000)
    methods = ["uniform", "rpcholesky", "nuclear"]
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods)
    parser.add_argument("--not-kept", action="store_true")
    parser.add_argument("--one-by-one", action="store_true")
    asked = parser.parse_args()
    n, k, d = (25_000, 100, asked.dimensions) if asked.quick else (
        asked.points, asked.k, asked.dimensions
    )  # fmt: skip
    count, sigma = PROBLEMS[d]
    page = Page(
        asked.out,
        [
            f"## {n} points in {d} dimensions, k = {k}",
            "",
            device_line(asked.device),
            f"{count} clusters, float32 points, rbf({sigma:g}).",
            "",
            "| method | trace error | relative | seconds | peak GB | with its error: seconds, GB |",
            "|---|---|---|---|---|---|",
        ],
    )
    X = clusters(n, d, count)
    few = X[: 5000 if asked.quick else WARM]
    lm.select(kernel(few, sigma, asked.device), 5, method="nuclear")
    operator = kernel(X, sigma, asked.device)
    for label, method, setting in runs(asked.methods, asked.not_kept, asked.one_by_one):
        with setting:
            found, seconds, memory = timed(lambda m=method: lm.select(operator, k, method=m))
        error, more, most = timed(found.error)
        page.add(
            f"| {label} | {error:.6g} | {found.relative_error():.4f} | {seconds:.1f} | "
            f"{memory / 1e3:.1f} | {more:.1f}, {most / 1e3:.1f} |"
        )


if __name__ == "__main__":
    main()
