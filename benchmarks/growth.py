"""How the cost of greedy, swap, the continuous method and a move of a search grows with n and k.

    python benchmarks/growth.py [--quick] [--part methods moves]

Products are counted with one vector each; for a kernel that is not stored a product takes time in
proportion to n². The documents promise: greedy k products, swap k products in one block and one per
swap, continuous a number of products that does not depend on n or k (a fixed number of gradients).

A move is a column that rounds of swaps add, with the drop before it and the look at all pairs after
it. On a stored K it should cost O(n k), once K² (and K³) are formed.
"""

import argparse
import time

import numpy as np

import landmarks as lm
from landmarks.linalg.solvers import BlockCG
from landmarks.residual.stored_powers import expecting

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


def move(n: int, k: int, criterion: str) -> float:
    """CPU microseconds of a move on a stored K, the powers of K not counted."""
    points = np.random.default_rng(0).standard_normal((n, 6))
    operator = lm.psd(lm.rbf(sigma=1.5)(points, points))
    operator.powers(3)
    start = lm.select(operator, k, method=lm.Swap(start="greedy"), criterion=criterion).indices
    costs = []
    with expecting(operator, 10**6):
        for rounds in (0, 400 // k + 8):
            search = lm.Iterated(start=start, rounds=rounds)
            began, before = time.process_time(), operator.ledger.columns
            lm.select(operator, k, method=search, criterion=criterion)
            costs.append((time.process_time() - began, operator.ledger.columns - before))
    (idle, none), (busy, many) = costs
    return (busy - idle) / (many - none) * 1e6


def moves(quick: bool) -> None:
    """The microseconds of a move, and how they grow with n and with k."""
    sizes = (500, 1000, 2000) if quick else (500, 1000, 2000, 4000)
    ks = (20, 40, 80) if quick else (25, 50, 100, 200)
    print(f"{'criterion':<11} {'n':>6} {'k':>5} {'µs a move':>10}")
    for criterion in ("trace", "frobenius"):
        for pairs, along in (
            ([(n, ks[2]) for n in sizes], 0),
            ([(sizes[2], k) for k in ks], 1),
        ):
            found = [move(n, k, criterion) for n, k in pairs]
            for (n, k), each in zip(pairs, found, strict=True):
                print(f"{criterion:<11} {n:>6} {k:>5} {each:>10.0f}", flush=True)
            slope = exponent([pair[along] for pair in pairs], found)
            print(f"{criterion:<11} a move grows with {'nk'[along]} as ~ {slope:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--part", nargs="+", choices=("methods", "moves"), default=["moves", "methods"]
    )
    arguments = parser.parse_args()
    if "moves" in arguments.part:
        moves(arguments.quick)
    if "methods" in arguments.part:
        methods(arguments.quick)


def methods(quick: bool) -> None:
    """Seconds and products of the methods."""
    sizes = (1000, 2000, 4000) if quick else (2000, 4000, 8000)
    print(f"{'method':<11} {'n':>6} {'k':>5} {'CPU s':>9} {'products':>9}")
    for method in METHODS:
        sweep(method, [(n, 40) for n in sizes], along=0)
        sweep(method, [(sizes[0], k) for k in (20, 40, 80)], along=1)


if __name__ == "__main__":
    main()
