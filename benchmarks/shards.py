"""Kernels in parts on a cluster of this machine: memory here and on the workers, and efficiency.

    python benchmarks/shards.py [--nuclear]

The points are made inside the tasks that use them. "here" is how much the peak of this process grew
over what it used before the run; the scheduler is a thread of this process, so its memory counts.
"a worker" is the largest growth of a worker's peak, and "share" that growth over the worker's share
of points and factor, (n/workers)(d + k) · 8 bytes. "efficiency" is CPU seconds of one worker over
those of all: what the parts cost beyond the work itself. Elapsed seconds mean little on a machine
that has other work.
"""

import argparse
import sys
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


def measured(client: Any, n: int, k: int, method: Any) -> tuple[float, float, float, Any]:
    """Growth here and of a worker in bytes, CPU seconds of the workers, and the picks."""
    before = client.run(forget_peak)
    here, seconds = forget_peak(), worker_seconds(client)
    s = lm.select(lm.kernel(points(n, 7000), lm.rbf(sigma=1.0)), k, method=method)
    seconds = worker_seconds(client) - seconds
    growth = max(peak - before[worker] for worker, peak in client.run(peak_memory).items())
    return peak_memory() - here, growth, seconds, s.indices


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nuclear", action="store_true", help="nuclear scores instead of draws")
    nuclear = parser.parse_args().nuclear
    method = lm.NuclearScores(20) if nuclear else "rpcholesky"
    sizes = (7500, 15_000, 30_000) if nuclear else (15_000, 30_000, 60_000, 120_000)
    print(f"{method}, k = {K}, {D} dimensions")
    print(
        f"{'points':>8} {'workers':>8} {'here':>9} {'n × k':>9} {'a worker':>9} {'share':>6} CPU s"
    )
    alone, picks = 0.0, {}
    for workers in (1, 2):
        for n in sizes if workers == 2 else sizes[-1:]:
            with cluster(workers) as client:
                measured(client, 5000, 50, method)  # imports, buffers
                here, worker, seconds, picks[workers, n] = measured(client, n, K, method)
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
