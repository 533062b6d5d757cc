"""Kernels on products alone, K never stored: errors, products and peak memory of each method.

    python benchmarks/large.py --data-dir DIR [--data powerplant htru2] [--k 50 100 200]
        [--methods auto continuous …]

Gaussian kernel with σ = 0.5 on standardised points in float32, Frobenius criterion. Every line is
measured in a process of its own; the memory is the peak above what that process held before the
selection. A method with ":products" behind it is given nothing but a function that multiplies, and
the diagonal: each column then costs a product.
"""

import argparse
import multiprocessing

import numpy as np
from memory import PeakMemory

import landmarks as lm
from landmarks.objectives import Frobenius
from paper.data import standardised

AIMS = {
    ("powerplant", 50): 1.04e5,
    ("powerplant", 100): 5.93e4,
    ("powerplant", 200): 2.53e4,
    ("htru2", 50): 2.25e5,
    ("htru2", 100): 1.16e5,
}


DEFAULT = [
    "uniform",
    "leverage",
    "rpcholesky",
    "nuclear",
    "greedy",
    "auto",
]
COMPOSED = {
    "path": lm.Continuous(strategy="path"),
}


def measure(data: str, data_dir: str | None, method: str, k: int) -> str:
    """One line of the table."""
    points = standardised(data, data_dir).astype(np.float32)
    operator = kernel = lm.kernel(points, lm.rbf(sigma=0.5))
    name, _, known_by = method.partition(":")
    if known_by == "products":
        operator = lm.function(
            kernel.matmul,
            n=kernel.n,
            dtype=points.dtype,
            diagonal=np.ones(kernel.n, dtype=points.dtype),
        )
    with PeakMemory() as memory:
        selection = lm.select(operator, k, method=COMPOSED.get(name, name), criterion="frobenius")
    error, cost = Frobenius().error(kernel, selection.indices), selection.ledger
    aim = AIMS.get((data, k)) if method == "auto" else None
    note = "" if aim is None else f"aim {aim:.3g} " + ("reached" if error <= aim else "MISSED")
    return (
        f"{data:<11} {k:>4} {method:<22} {error:>14.5g} {cost.products:>9} "
        f"{cost.seconds:>8.1f} {memory.extra / 2**20:>14.0f}  {note}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--data", nargs="+", default=["powerplant"])
    parser.add_argument("--k", type=int, nargs="+", default=[50])
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[
            "uniform",
            "leverage",
            "rpcholesky",
            "nuclear",
            "greedy",
            "auto",
        ],
    )
    arguments = parser.parse_args()
    print(
        f"{'data':<11} {'k':>4} {'method':<22} {'|K - Khat|_F^2':>14} {'products':>9} "
        f"{'seconds':>8} {'peak extra MB':>14}"
    )
    context = multiprocessing.get_context("spawn")
    for data in arguments.data:
        for k in arguments.k:
            for method in arguments.methods:
                with context.Pool(1) as pool:
                    print(pool.apply(measure, (data, arguments.data_dir, method, k)), flush=True)


if __name__ == "__main__":
    main()
