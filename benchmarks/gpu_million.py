"""A million points on a graphics card: nuclear scores with the n × k factor kept and not kept.

python benchmarks/gpu_million.py [--out FILE] [--quick] [--points 1000000] [--k 1000 4000]

Where the factor is not kept, the columns of K are evaluated again whenever it is used. The trace
error is exact; picks are made in blocks, and `--one-by-one` adds a run that makes single picks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from card import Page, clusters, device_line, kernel, options, timed

import landmarks as lm
from landmarks.methods.greedy import nuclear
from landmarks.residual import panel

SIGMA = 2.0


@contextmanager
def no_panels() -> Iterator[None]:
    """As if the memory for n × k numbers were missing."""
    before, panel.free_memory = panel.free_memory, lambda like, otherwise: 0
    yield
    panel.free_memory = before


@contextmanager
def single_picks() -> Iterator[None]:
    """Picks one by one at any n."""
    before, nuclear.LARGE = nuclear.LARGE, 10**18
    yield
    nuclear.LARGE = before


@contextmanager
def as_it_is() -> Iterator[None]:
    """Nothing changed."""
    yield


def line(operator: object, k: int, label: str, method: str, setting: object) -> str:
    """One run."""
    with setting():  # type: ignore[operator]  # a context manager
        found, seconds, memory = timed(lambda: lm.select(operator, k, method=method))
    error = found.error("trace")
    return f"| {k} | {label} | {error:.6g} | {seconds:.1f} | {memory:.0f} |"


def runs(one_by_one: bool) -> Iterator[tuple[str, str, object]]:
    """What is run for each k."""
    yield "uniform", "uniform", as_it_is
    yield "rpcholesky, kept", "rpcholesky", as_it_is
    yield "rpcholesky, not kept", "rpcholesky", no_panels
    yield "nuclear, kept", "nuclear", as_it_is
    yield "nuclear, not kept", "nuclear", no_panels
    if one_by_one:
        yield "nuclear, kept, one by one", "nuclear", single_picks


def head(device: str, n: int, one_by_one: bool) -> list[str]:
    """What stands above the lines."""
    single = ["*one by one*: without blocks of picks."] if one_by_one else []
    return [
        "# A million points on one graphics card",
        "",
        device_line(device),
        f"{n} points in 9 dimensions in 200 clusters, float32, rbf({SIGMA:g}). Printed by",
        "`python benchmarks/gpu_million.py --out FILE`.",
        "*not kept*: the n × k factor is made again from columns of K whenever it is used.",
        *single,
        "",
        "| k | method | trace error | seconds | peak MB |",
        "|---|---|---|---|---|",
    ]


def main() -> None:
    """Print the table, and write it where asked."""
    parser = options(__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--one-by-one", action="store_true")
    arguments = parser.parse_args()
    n = 25_000 if arguments.quick else arguments.points
    page = Page(arguments.out, head(arguments.device, n, arguments.one_by_one))
    lm.select(kernel(clusters(25_000), SIGMA, arguments.device), 5, method="nuclear")
    operator = kernel(clusters(n), SIGMA, arguments.device)
    for k in (40, 100) if arguments.quick else arguments.k:
        for label, method, setting in runs(arguments.one_by_one):
            page.add(line(operator, k, label, method, setting))


if __name__ == "__main__":
    main()
