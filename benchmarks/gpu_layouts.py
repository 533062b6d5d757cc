"""Fused products in float64 on real points, and the seconds of diag K³, on a graphics card.

python benchmarks/gpu_layouts.py --data-dir DIR [--out FILE] [--quick]

A few points far out make a product slow unless they are multiplied apart (`gpu/double.py`).
*apart*: how many there are; *ms*: milliseconds of a product with 1, 32 and 64 vectors, *together*:
those of one vector if they are not apart. *error*: of the product with one vector against the
columns of K, on 64 rows. *cubes*: seconds of diag K³ from pairs of blocks of columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from card import Page, device_line, kernel, options, real

from landmarks.operators.diagonals import cubed_diagonal
from landmarks.operators.gpu import fused

SETS = {"protein": 45_730, "covtype": 50_000, "htru2": 17_898}


def wait() -> None:
    """Until the card has done what was asked."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(run: Callable[[], Any], repeats: int = 4) -> float:
    """The least of several times."""
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return min(times)


def error(K: Any, v: Any) -> float:
    """The relative error of a product on some rows."""
    some = np.arange(0, K.n, max(1, K.n // 64))
    exact = K.columns(some).T @ v
    return float(torch.linalg.norm(K.matmul(v)[some] - exact) / torch.linalg.norm(exact))


def row(name: str, K: Any, width: float) -> str:
    """The line of one kernel matrix."""
    V = torch.randn(K.n, 64, dtype=torch.float64, device=K.points.device)
    each = [1e3 * seconds(lambda w=w: K.matmul(V[:, :w])) for w in (1, 32, 64)]
    again = fused.prepare(K.points, K.h).within(K.prepared.layout)
    together = 1e3 * seconds(lambda: fused.product(K.h, K.prepared, again, V[:, :1]))
    parts = K.prepared.parts
    apart = 0 if parts is None else len(parts.outer)
    cubes = seconds(lambda: cubed_diagonal(K), repeats=1)
    ms = ", ".join(f"{value:.2f}" for value in each)
    return (
        f"| {name} {K.n} × {K.points.shape[1]} | {width:g} | {apart} | {ms} | {together:.2f} | "
        f"{error(K, V[:, :1]):.1e} | {cubes:.2f} |"
    )


def rows(name: str, n: int, asked: Any) -> Iterator[str]:
    """One line for each width."""
    X = real(asked.data_dir, name, n)
    for width in (0.3, 1.0, 3.0):
        sigma = width * X.shape[1] ** 0.5
        yield row(name, kernel(X, sigma, asked.device, torch.float64), width)


def head(device: str) -> list[str]:
    """What stands above the lines."""
    return [
        "# Products on real points in float64",
        "",
        device_line(device),
        "Points in float64, standardised, RBF kernel. *apart*: how many points lie far out and are",
        "multiplied apart. *ms*: milliseconds of a product with 1, 32 and 64 vectors. *together*:",
        "with one vector, if none were multiplied apart. *error*: relative error of the product",
        "with one vector on 64 rows. *cubes*: seconds of diag K³ from pairs of blocks. Printed by",
        "`python benchmarks/gpu_layouts.py --data-dir DIR --out FILE`.",
        "",
        "| points | σ/√d | apart | ms | together | error | cubes |",
        "|---|---|---|---|---|---|---|",
    ]


def warm_up(asked: Any) -> None:
    """Load the library of large products: that is no part of the first time."""
    cubed_diagonal(kernel(real(asked.data_dir, "htru2", 4_000), 3.0, asked.device, torch.float64))


def main() -> None:
    """Print the table, and write it where asked."""
    asked = options(__doc__).parse_args()
    page = Page(asked.out, head(asked.device))
    warm_up(asked)
    for name, n in SETS.items():
        for line in rows(name, 8_000 if asked.quick else n, asked):
            page.add(line)


if __name__ == "__main__":
    main()
