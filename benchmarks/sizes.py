"""What each method costs for a Gaussian kernel on few and on many points.

    OMP_NUM_THREADS=1 python benchmarks/sizes.py [--points 2000 20000] [--methods …]

Prints the table "By size" of docs/methods.md: CPU seconds, and the error divided by the trace of K.
"""

import argparse
import time

import numpy as np

import landmarks as lm

METHODS = ("rpcholesky", "nuclear", "greedy", "swap", "auto")


def main() -> None:
    """Print a row for each number of points and each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--k", type=int, default=200)
    arguments = parser.parse_args()
    print("| points | method | CPU seconds | error |")
    print("|---|---|---|---|")
    for n in arguments.points:
        points = np.random.default_rng(0).standard_normal((n, 8))
        for method in arguments.methods or METHODS:
            start = time.process_time()
            s = lm.select(lm.kernel(points, lm.rbf(sigma=4.0)), arguments.k, method=method)
            spent = time.process_time() - start
            print(f"| {n} | `{method}` | {spent:.1f} | {s.relative_error():.4f} |", flush=True)


if __name__ == "__main__":
    main()
