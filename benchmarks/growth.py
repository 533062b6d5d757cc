"""How the cost of greedy, swap and the continuous method grows with n and k.

    python benchmarks/growth.py [--quick]

Products are counted with one vector each; for a kernel that is not stored a product takes time in
proportion to n². The documents promise: greedy k products, swap k products in one block and one per
swap, continuous a number of products that does not depend on n or k (a fixed number of gradients).
"""

import argparse
import time

import numpy as np

import landmarks as lm
from landmarks.linalg.solvers.block_cg import BlockCG

METHODS = {
    "greedy": lm.Greedy(),
    "swap": lm.Swap(start="uniform"),
    "continuous": lm.Continuous(strategy="frank_wolfe", solver=BlockCG()),
}


def measure(n: int, k: int, method: str) -> tuple[float, int]:
    """CPU seconds and products on random points in four dimensions, in float32, K not stored."""
    points = np.random.default_rng(0).standard_normal((n, 4)).astype(np.float32)
    operator = lm.kernel(points, lm.rbf(sigma=1.0), memory=2**20)
    start = time.process_time()
    selection = lm.select(operator, k, method=METHODS[method])
    return time.process_time() - start, selection.ledger.products


def exponent(sizes: list[int], costs: list[float]) -> float:
    """The slope of log cost against log size."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-9)), 1)[0])


def sweep(method: str, pairs: list[tuple[int, int]], along: int) -> None:
    seconds, products = zip(*(measure(n, k, method) for n, k in pairs), strict=True)
    for (n, k), second, product in zip(pairs, seconds, products, strict=True):
        print(f"{method:<11} {n:>6} {k:>5} {second:>9.2f} {product:>9}", flush=True)
    sizes = [pair[along] for pair in pairs]
    print(
        f"{method:<11} grows with {'nk'[along]} as: seconds ~ "
        f"{exponent(sizes, seconds):.2f}, products ~ {exponent(sizes, products):.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    sizes = (1000, 2000, 4000) if quick else (2000, 4000, 8000)
    print(f"{'method':<11} {'n':>6} {'k':>5} {'CPU s':>9} {'products':>9}")
    for method in METHODS:
        sweep(method, [(n, 40) for n in sizes], along=0)
        sweep(method, [(sizes[0], k) for k in (20, 40, 80)], along=1)


if __name__ == "__main__":
    main()
