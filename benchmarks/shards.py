"""Kernels in parts on a cluster of this machine: memory here and on the workers, and efficiency.

    python benchmarks/shards.py [--nuclear] [--table ROWS COLUMNS]

With --table, columns of a table whose XᵀX is too large for one place are chosen instead, on two
workers, and a part of the table is compared with memory. The points and the table are made inside
the tasks that use them. "here" is how much the peak of this process grew
over what it used before the run; the scheduler is a thread of this process, so its memory counts.
"a worker" is the largest growth of a worker's peak, and "share" that growth over the worker's share
of points and factor, (n/workers)(d + k) · 8 bytes. "efficiency" is CPU seconds of one worker over
those of all: what the parts cost beyond the work itself. Elapsed seconds mean little on a machine
that has other work.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from cluster import cluster, worker_seconds

import landmarks as lm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from clusters import forget_peak, peak_memory  # after the path

D, K = 6, 300


def made(block_info: Any = None) -> np.ndarray:
    """Points that depend on their place alone: eight steps of the counter for each."""
    (start, stop), _ = block_info[None]["array-location"]
    numbers = np.random.Generator(np.random.Philox(key=7).advance(start * 2))
    uniform = numbers.random((stop - start, 8))[:, :D]
    return uniform + np.floor(4 * uniform[:, :1])


def points(n: int, chunk: int) -> da.Array:
    sizes = tuple(min(chunk, n - a) for a in range(0, n, chunk))
    return da.map_blocks(made, chunks=(sizes, (D,)), dtype=np.float64, meta=np.empty((0, 0)))


def rows(block_info: Any = None, n: int = 0) -> np.ndarray:
    """Rows of a table with 40 factors and noise, in float32; they depend on their place alone."""
    (start, stop), _ = block_info[None]["array-location"]
    numbers = np.random.Generator(np.random.Philox(key=7).advance(start * (n // 4 + 10)))
    uniform = numbers.random((stop - start, n + 40)) - 0.5
    loadings = (
        np.random.default_rng(0).standard_normal((40, n)) * np.linspace(0.1, 1.0, 40)[:, None]
    )
    return (uniform[:, :n] + uniform[:, n:] @ loadings).astype(np.float32)


def table(m: int, n: int) -> da.Array:
    sizes = tuple(min(4096, m - a) for a in range(0, m, 4096))
    return da.map_blocks(rows, chunks=(sizes, (n,)), dtype=np.float32, meta=np.empty((0, 0)), n=n)


def measured(client: Any, data: Any, k: int, method: Any) -> tuple[float, float, float, Any]:
    """Growth here and of a worker in bytes, CPU seconds of the workers, and the picks.

    data : makes what is selected from.
    """
    before = client.run(forget_peak)
    here, seconds = forget_peak(), worker_seconds(client)
    s = lm.select(data(), k, method=method)
    seconds = worker_seconds(client) - seconds
    growth = max(peak - before[worker] for worker, peak in client.run(peak_memory).items())
    return peak_memory() - here, growth, seconds, s.indices


def cloud(n: int) -> Any:
    """What makes the kernel on n points."""
    return lambda: lm.kernel(points(n, 7000), lm.rbf(sigma=1.0))


def of_table(m: int, n: int) -> None:
    """Print what a choice among the columns of a table takes, and compare a part of it."""
    few = table(m, n)[:, : min(n, 6000)][: min(m, 7000)]
    with cluster(2) as client:
        begun = time.perf_counter()
        here, worker, seconds, picks = measured(client, lambda: table(m, n), 50, "nuclear")
        print(f"{m} × {n}, k = 50: here {here / 1e6:.0f} MB, a worker {worker / 1e6:.0f} MB,")
        print(f"XᵀX {8e-6 * n * n:.0f} MB, X {4e-6 * m * n:.0f} MB, CPU {seconds:.0f} s,", end=" ")
        print(f"{time.perf_counter() - begun:.0f} s; picks {picks[:5].tolist()} …", flush=True)
        spread = lm.select(few, 50, method="nuclear").indices
        memory = lm.select(few.compute(), 50, method="nuclear").indices
    print(f"a part of {few.shape[0]} × {few.shape[1]}: the picks in memory: ", end="")
    print(np.array_equal(spread, memory))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nuclear", action="store_true", help="nuclear scores instead of draws")
    parser.add_argument("--table", type=int, nargs=2, metavar=("ROWS", "COLUMNS"))
    asked = parser.parse_args()
    if asked.table:
        of_table(*asked.table)
        return
    nuclear = asked.nuclear
    method = lm.NuclearScores(20) if nuclear else "rpcholesky"
    sizes = (15_000, 30_000, 60_000) if nuclear else (15_000, 30_000, 60_000, 120_000)
    print(f"{method}, k = {K}, {D} dimensions")
    print(
        f"{'points':>8} {'workers':>8} {'here':>9} {'n × k':>9} {'a worker':>9} {'share':>6} CPU s"
    )
    alone, picks = 0.0, {}
    for workers in (1, 2):
        for n in sizes if workers == 2 else sizes[-1:]:
            with cluster(workers) as client:
                measured(client, cloud(5000), 50, method)  # imports, buffers
                here, worker, seconds, picks[workers, n] = measured(client, cloud(n), K, method)
            share = worker / (n / workers * (D + K) * 8)
            print(
                f"{n:>8} {workers:>8} {here / 1e6:>6.0f} MB {8e-6 * n * K:>6.0f} MB "
                f"{worker / 1e6:>6.0f} MB {share:>6.2f} {seconds:.1f}",
                flush=True,
            )
            alone = seconds if workers == 1 else alone
    print(f"efficiency of two workers by CPU seconds: {alone / seconds:.2f}")
    print(f"the same picks: {np.array_equal(picks[1, sizes[-1]], picks[2, sizes[-1]])}")


if __name__ == "__main__":
    main()
