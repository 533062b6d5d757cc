"""What a call costs beyond its arithmetic: methods that read k columns, and the smallest choices.

    python benchmarks/fixed_cost.py

CPU time of one thread, the least of several runs, checks of the matrix included. The bare loop is
pivoted Cholesky in six lines of NumPy.
"""

import time
import warnings

import numpy as np

import landmarks as lm


def bare(K: np.ndarray, k: int) -> list[int]:
    """The picks of pivoted Cholesky."""
    left, F, picks = K.diagonal().copy(), np.zeros((k, len(K))), list[int]()
    for i in range(k):
        j = int(np.argmax(left))
        F[i] = (K[j] - F[:i, j] @ F[:i]) / np.sqrt(left[j])
        left -= F[i] ** 2
        picks.append(j)
    return picks


def milliseconds(work, repetitions: int = 7) -> float:
    """The least CPU time."""
    work()
    found = []
    for _ in range(repetitions):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return 1e3 * min(found)


def main() -> None:
    warnings.simplefilter("ignore")
    print("| n | k | method | ms | bare loop, ms | ratio |\n|---|---|---|---|---|---|")
    for n, k in ((576, 64), (3000, 100)):
        points = np.random.default_rng(0).standard_normal((n, 6))
        K = lm.rbf(sigma=1.5)(points, points)
        least = milliseconds(lambda K=K, k=k: bare(K, k))
        for method in ("pivoted_qr", "rpcholesky", "greedy", "swap"):
            each = milliseconds(lambda K=K, k=k, m=method: lm.select(lm.psd(K), k, method=m), 3)
            print(f"| {n} | {k} | {method} | {each:.1f} | {least:.2f} | {each / least:.1f} |")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 30)) @ rng.standard_normal((30, 30))
    print(f"\n5 of 30 columns: {milliseconds(lambda: lm.select(X, 5), 30):.1f} ms")


if __name__ == "__main__":
    main()
