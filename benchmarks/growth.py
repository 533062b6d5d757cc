"""How the cost of greedy, swap, the continuous method and a move of a search grows with n and k.

    python benchmarks/growth.py [--quick] [--part methods moves default]

Products are counted with one vector each; for a kernel that is not stored a product takes time in
proportion to n². The documents promise: greedy k products, swap k products in one block and one per
swap, continuous a number of products that does not depend on n or k (a fixed number of gradients).

A move is a column that rounds of swaps add, with the drop before it and the look at all pairs after
it. On a stored K it should cost O(n k), once K² (and K³) are formed.

`default` prints CPU seconds and the error of the default over those of greedy, and how much longer
each size takes than the one before, divided by the ratio of n². `searched` is the error over that
of a search of ten times greedy's time, at most a minute; 1.025 is 2.5 % above it.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import landmarks as lm
from landmarks.linalg.solvers import BlockCG
from landmarks.residual.stored_powers import expecting

METHODS = {
    "greedy": lm.Greedy(),
    "swap": lm.Swap(start="uniform"),
    "continuous": lm.Continuous(strategy="path", solver=BlockCG()),
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


def kernel_points(n: int) -> tuple[Any, int]:
    return lm.kernel(np.random.default_rng(0).standard_normal((n, 8)), lm.rbf(sigma=4.0)), 100


def wide(n: int) -> tuple[Any, int]:
    rng = np.random.default_rng(0)
    return lm.data(rng.standard_normal((200, 60)) @ rng.standard_normal((60, n)) + walk(200, n)), 40


def tall(n: int) -> tuple[Any, int]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2 * n, 80)) @ rng.standard_normal((80, n))
    return lm.data(X + 3 * rng.standard_normal(X.shape)), 60


def walk(m: int, n: int) -> np.ndarray:
    """Random walks down the rows."""
    return np.cumsum(np.random.default_rng(1).standard_normal((m, n)), axis=0)


SIZES = (1000, 2000, 2900, 3100, 5000, 8000, 12000, 20000)
FAMILIES = {"kernel in 8-D": (kernel_points, 20000), "wide": (wide, 20000), "tall": (tall, 5000)}
GREEDY = 12000  # points above which greedy, which K would not be stored for, takes minutes


def default(quick: bool) -> None:
    """Seconds and errors of the default at growing sizes, over those of greedy."""
    print("| problem | n | k | greedy s | default s | step over n² | error / greedy's | searched |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (make, largest) in FAMILIES.items():
        last = None
        for n in SIZES[:4] if quick else SIZES:
            if n > largest:
                continue
            base = "greedy" if n <= GREEDY or name == "wide" else "nuclear"
            first, unit = asked(make, n, method=base)
            second, seconds = asked(make, n)
            budget = min(60.0, max(1.0, 10 * unit))
            third = asked(make, n, budget=budget)[0] if base == "greedy" else second
            step = "" if last is None else f"{seconds / last[1] / (n / last[0]) ** 2:.2f}"
            print(
                f"| {name} | {n} | {make(8)[1]} | {unit:.2f} ({base}) | {seconds:.2f} | {step} "
                f"| {second / first:.4f} | {second / min(second, third):.4f} |",
                flush=True,
            )
            last = n, seconds


def asked(make: Callable[[int], tuple[Any, int]], n: int, **words: Any) -> tuple[float, float]:
    """The error and the CPU seconds of a call."""
    A, k = make(n)
    start = time.process_time()
    s = lm.select(A, k, **words)
    return s.error(), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--part", nargs="+", choices=("methods", "moves", "default"), default=["moves", "methods"]
    )
    arguments = parser.parse_args()
    if "moves" in arguments.part:
        moves(arguments.quick)
    if "methods" in arguments.part:
        methods(arguments.quick)
    if "default" in arguments.part:
        default(arguments.quick)


def methods(quick: bool) -> None:
    """Seconds and products of the methods."""
    sizes = (1000, 2000, 4000) if quick else (2000, 4000, 8000)
    print(f"{'method':<11} {'n':>6} {'k':>5} {'CPU s':>9} {'products':>9}")
    for method in METHODS:
        sweep(method, [(n, 40) for n in sizes], along=0)
        sweep(method, [(sizes[0], k) for k in (20, 40, 80)], along=1)


if __name__ == "__main__":
    main()
