"""Growth on a cluster of this machine: seconds and products by workers, chunk size and n.

    python benchmarks/cluster.py [--quick]

Each line is the best of several runs. "CPU s" is what the worker processes used together, which
other work on the machine changes little; "seconds" is what passed, which it changes much. The
efficiency of two workers is seconds(1) / (2 seconds(2)); on a machine with two cores the client and
the scheduler need a part of them as well. The overhead of a product without work is printed twice:
as it passed, and as client and scheduler computed.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import landmarks as lm
from landmarks.operators.dask.client import compute, lazy, tree

COLUMNS = 200


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Worker processes with one thread each; everything listens on loopback."""
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as local,
        Client(local) as client,
    ):
        client.run(import_landmarks)
        yield client


def import_landmarks() -> None:
    """So that no measurement counts it."""
    import landmarks.operators.dask.kernel  # noqa: F401


def rows(block_info: Any = None, n: int = COLUMNS) -> np.ndarray:
    """Rows that depend on their place alone, whichever chunk they are in."""
    (start, stop), _ = block_info[None]["array-location"]
    return (
        np.random.Generator(np.random.Philox(key=7).advance(start * (n // 4))).random(
            (stop - start, n)
        )
        - 0.4
    )


def tall(m: int, chunk: int, n: int = COLUMNS) -> da.Array:
    """An m × n array whose chunks are made inside the tasks that use them."""
    sizes = tuple(min(chunk, m - a) for a in range(0, m, chunk))
    return da.map_blocks(rows, chunks=(sizes, (n,)), dtype=np.float64, meta=np.empty((0, 0)), n=n)


def points(n: int, d: int) -> np.ndarray:
    """Points that are the same in every run."""
    return np.random.default_rng(0).standard_normal((n, d))


def worker_seconds(client: Client) -> float:
    """CPU seconds that the workers have used so far."""
    return sum(client.run(time.process_time).values())


def best(client: Client, work: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Seconds and CPU seconds of the workers, each the least of the repeats."""
    seconds, cpu = [], []
    for _ in range(repeats):
        before, start = worker_seconds(client), time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
        cpu.append(worker_seconds(client) - before)
    return min(seconds), min(cpu)


def nothing(_: Any = None) -> int:
    """A task without work."""
    return 0


def overhead(repeats: int, clock: Callable[[], float] = time.process_time) -> tuple[float, float]:
    """The seconds of a product without any work in it, and of each further task.

    By default these are the CPU seconds of the client and the scheduler.
    """
    few, many = ([_idle(t, clock) for _ in range(repeats)] for t in (1, 100))
    return min(few), (min(many) - min(few)) / 99


def _idle(tasks: int, clock: Callable[[], float]) -> float:
    start = clock()
    compute(tree(nothing, [lazy(nothing) for _ in range(tasks)]))
    return clock() - start


def report(
    work: str,
    size: str,
    chunk: str,
    results: dict[int, tuple[float, float]],
    products: int | str = "-",
) -> None:
    """Two lines of the table, and the efficiency of two workers."""
    for workers, (seconds, cpu) in results.items():
        efficiency = f"{results[1][0] / (workers * seconds):>6.2f}" if workers > 1 else ""
        print(
            f"{work:<22} {size:>14} {chunk:>8} {workers:>7} {seconds:>9.3f} {cpu:>8.2f} "
            f"{products:>9} {efficiency:>10}",
            flush=True,
        )


def measure(workers: int, quick: bool) -> dict[Any, tuple[float, float, int | str]]:
    """All lines of one number of workers."""
    found: dict[Any, tuple[float, float, int | str]] = {}
    repeats, shrink = (2, 4) if quick else (3, 1)
    with cluster(workers) as client:
        for m, chunk in [
            (100_000, 20_000),
            (200_000, 20_000),
            (400_000, 20_000),
            (400_000, 50_000),
        ]:
            m = m // shrink
            found["Gram pass", f"{m} × {COLUMNS}", str(chunk)] = (
                *best(client, lambda m=m, c=chunk: lm.data(tall(m, c)), repeats),
                "-",
            )
        for n in (4000, 8000, 16_000):
            n = n // shrink
            operator = lm.kernel(da.from_array(points(n, 4), chunks=(n // 4, 4)), lm.rbf(sigma=1.0))
            for width in (1, 10):
                block = np.ones((n, width))
                found[f"kernel product, {width}", f"{n} points", "-"] = (
                    *best(client, lambda o=operator, b=block: o.matmul(b), repeats),
                    width,
                )
        products: list[int] = []
        work = lambda: products.append(lm.select(operator, 10, method="greedy").ledger.products)  # noqa: E731
        found["greedy, k = 10", f"{n} points", "-"] = (*best(client, work, 1), "")
        found["greedy, k = 10", f"{n} points", "-"] = (
            *found["greedy, k = 10", f"{n} points", "-"][:2],
            products[0],
        )
        found["passed"] = (*overhead(repeats, time.perf_counter), "-")
        found["computed"] = (*overhead(repeats), "-")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"{os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    print(
        f"{'work':<22} {'size':>14} {'chunk':>8} {'workers':>7} {'seconds':>9} {'CPU s':>8} "
        f"{'products':>9} {'efficiency':>10}"
    )
    found = {workers: measure(workers, quick) for workers in (1, 2)}
    for key in found[1]:
        if isinstance(key, tuple):
            report(*key, {w: found[w][key][:2] for w in found}, found[1][key][2])
    for workers, lines in found.items():
        for clock in ("passed", "computed"):
            product, task, _ = lines[clock]
            print(
                f"overhead with {workers} workers, {clock}: {1e3 * product:.1f} ms a "
                f"product, {1e3 * task:.2f} ms for each further task"
            )
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
