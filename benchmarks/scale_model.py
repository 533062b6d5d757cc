"""The cost of runs beyond this machine: a fitted model, checked on a larger run.

    python benchmarks/scale_model.py

CPU seconds of the workers are fitted rather than elapsed seconds, because other work on the machine
changes them little; they are divided by the number of cores, and the overhead of the scheduler and
the movement of bytes are added. The last columns say which limit is the first to be exceeded, and
what share of it is used: a day, 100 GB on a worker, 64 GB on the client, or a million tasks.

    Gram pass of m × n          CPU = a·m·n² + b·m·n + t·tasks
    rpcholesky, k of n points   CPU = (c + e·d + f·k)·n·k + t·tasks + r
    product with M signs        CPU = (c + e·d + f·M)·n² + t·tasks

nuclear is such a product with M = 100 and then as much as rpcholesky, and takes the signs out of
each block: 4·n·k·M more multiplications. The model assumes that the network moves 1 GB per second
and worker, and that a worker has one core; neither is measured here.
"""

import os

import dask.array as da
import numpy as np
from cluster import best, cluster, overhead, points, tall
from scipy.optimize import nnls

import landmarks as lm
from landmarks.methods.greedy.nuclear import FOLLOWED, WIDTH
from landmarks.operators.parts import height

CHUNK = 128 * 2**20
BANDWIDTH = 1e9
PROBES = 100
# seconds of a value and ten vectors on an H200 in double precision (docs/gpu.md), and of a
# multiplication of the factor there: an assumption, 2·10¹³ a second
GPU_VALUE, GPU_FACTOR = 1.9e-12, 5e-14
LIMITS = {"seconds": 86_400.0, "worker memory": 100e9, "client memory": 64e9, "tasks": 1e6}

GRAMS = [(40_000, 100), (40_000, 200), (80_000, 200), (40_000, 400), (80_000, 400)]
HELD_OUT_GRAM = (200_000, 300)
DRAWS = [
    (10_000, 4, 50),
    (20_000, 4, 50),
    (20_000, 16, 50),
    (20_000, 4, 200),
    (40_000, 8, 100),
    (40_000, 4, 200),
    (30_000, 6, 300),
]
HELD_OUT_DRAW = (60_000, 6, 300)
PRODUCTS = [(5000, 4, 20), (5000, 16, 20), (5000, 4, 100), (8000, 8, 50), (10_000, 4, 20)]
HELD_OUT_PRODUCT = (16_000, 6, 100)
HELD_OUT_NUCLEAR = (16_000, 6, 300)


def gram_terms(m: float, n: float, chunk: float) -> list[float]:
    """m n², m n and the number of tasks."""
    return [m * n * n, m * n, gram_tasks(m, chunk)]


def gram_tasks(m: float, chunk: float) -> float:
    """A task to read and one to multiply for each chunk, and a tree by eights."""
    return np.ceil(m / chunk) * (2 + 1 / 7) + 1


def shards(n: float) -> int:
    """The parts of n points."""
    return -(-int(n) // height(int(n)))


def groups(n: float, d: float) -> int:
    """The groups in which points pass by the parts."""
    count = shards(n)
    return int(np.ceil(count / max(1, min(-(-count // 8), CHUNK // (8 * d * height(int(n)))))))


def draw_terms(n: float, d: float, k: float) -> list[float]:
    """Values, times dimensions, multiplications of the factor, the number of tasks, and a run."""
    return [n * k, n * k * d, n * k * k, draw_tasks(n), 1.0]


def draw_tasks(n: float) -> float:
    """About a dozen blocks; each makes the parts again, their sums, and looks into most of them."""
    return 12 * 3 * shards(n)


def product_terms(n: float, d: float, M: float) -> list[float]:
    """Values, times dimensions, times vectors, and the number of tasks."""
    return [n * n, n * n * d, n * n * M, product_tasks(n, d)]


def product_tasks(n: float, d: float) -> float:
    """For each part and group a product and sums."""
    return groups(n, d) * (2 * shards(n) + 1)


def fitted(terms: list[list[float]], seconds: list[float]) -> np.ndarray:
    """Constants of at least 0 with the least relative errors."""
    A = np.array(terms) / np.array(seconds)[:, None]
    scale = A.max(axis=0)
    return nnls(A / scale, np.ones(len(A)))[0] / scale


def gram_seconds(client, m: int, n: int) -> float:
    return best(client, lambda: lm.data(tall(m, 20_000, n)), 2)[1]


def operator(n: int, d: int):
    """Points that dask holds."""
    return lm.kernel(da.from_array(points(n, d), chunks=(n // 4, d)), lm.rbf(sigma=d**0.5))


def draw_seconds(client, n: int, d: int, k: int) -> float:
    K = operator(n, d)
    return best(client, lambda: lm.select(K, k, method="rpcholesky"), 4)[1]


def product_seconds(client, n: int, d: int, M: int) -> float:
    K = operator(n, d)
    return best(client, lambda: K.residual(1).probe(0, M), 2)[1]


def check_bytes(client, constants: dict) -> None:
    """Print what the workers send in a run, and what the model says."""
    n, d, k = HELD_OUT_NUCLEAR
    before = sum(client.run(sent).values())
    lm.select(operator(n, d), k, method=lm.NuclearScores(PROBES))
    found = sum(client.run(sent).values()) - before
    costs = kernel_costs(n, d, k, 2, constants, 0.0, 0.0, True, False)
    print(
        f"bytes: held out nuclear {HELD_OUT_NUCLEAR}: predicted {amount(costs['bytes'], 'B')}, "
        f"sent by the workers {amount(found, 'B')}",
        flush=True,
    )


def sent(dask_worker=None) -> float:
    """The bytes that a worker has sent so far."""
    return float(dask_worker.transfer_outgoing_bytes_total)


def check(
    name: str,
    constants: np.ndarray,
    terms: list[list[float]],
    seconds: list[float],
    held_out: tuple,
    found: float,
    last: list[float],
) -> None:
    """Print the constants, the errors of the fit and the error at the held-out size."""
    errors = np.array(terms) @ constants / np.array(seconds) - 1
    predicted = float(np.dot(last, constants))
    print(
        f"{name}: constants {', '.join(f'{c:.3g}' for c in constants)}; errors of the fit "
        f"{', '.join(f'{e:+.0%}' for e in errors)}"
    )
    print(
        f"{name}: held out {held_out}: predicted {predicted:.2f} CPU s, measured "
        f"{found:.2f}, error {predicted / found - 1:+.0%}",
        flush=True,
    )


def amount(value: float, unit: str) -> str:
    """A number of bytes or seconds in words."""
    steps = (
        [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        if unit == "B"
        else [(86_400, " d"), (3600, " h"), (60, " min")]
    )
    for size, letter in steps:
        if value >= size:
            return f"{value / size:.3g} {letter}B" if unit == "B" else f"{value / size:.3g}{letter}"
    return f"{value:.3g} {unit}"


def line(label: str, workers: int, costs: dict[str, float]) -> None:
    """One prediction, and the limit that it is nearest to or exceeds most."""
    first = max(LIMITS, key=lambda name: costs[name] / LIMITS[name])
    share = costs[first] / LIMITS[first]
    print(
        f"{label:<38} {workers:>7} {amount(costs['seconds'], 's'):>9} "
        f"{amount(costs['bytes'], 'B'):>9} {amount(costs['worker memory'], 'B'):>9} "
        f"{amount(costs['client memory'], 'B'):>9} {costs['tasks']:>9.3g} {first:>15} {share:>5.0%}"
    )


def nuclear_blocks(k: float) -> float:
    """The blocks in which nuclear picks: 22 were counted for k = 300, 28 for 600."""
    growing = min(k, 12 * WIDTH)
    return float(np.ceil(9 * np.log(growing) - 29 + (k - growing) / WIDTH))


def gram_costs(
    m: float, n: float, w: int, constants: np.ndarray, fixed: float, task: float
) -> dict[str, float]:
    chunk = CHUNK / (8 * n)
    tasks, piece = gram_tasks(m, chunk), 8 * (2 * n * n + 2 * 2048 * n)
    moved = piece * np.ceil(m / chunk) if w > 1 else 0.0
    seconds = (
        fixed
        + task * tasks
        + float(np.dot(gram_terms(m, n, chunk), constants)) / w
        + moved / w / BANDWIDTH
    )
    return {
        "seconds": seconds,
        "bytes": moved,
        "worker memory": 3 * CHUNK + 10 * piece,
        "client memory": 4 * 8 * n * n,
        "tasks": tasks,
    }


def kernel_costs(
    n: float,
    d: float,
    k: int,
    w: int,
    constants: dict,
    fixed: float,
    task: float,
    nuclear: bool,
    gpu: bool,
) -> dict[str, float]:
    """Points, factor and signs are spread over the workers; here are the picks."""
    s, M = shards(n), PROBES if nuclear else 0
    blocks = nuclear_blocks(k) if nuclear else 12
    tasks = draw_tasks(n) * blocks / 12 + (product_tasks(n, d) if nuclear else 0)
    if gpu:
        work = n * k * k * GPU_FACTOR + 4 * n * k * M * GPU_FACTOR + n * n * GPU_VALUE * M / 10
    else:
        draw, product = constants["draw"], constants["product"]
        work = float(np.dot(draw_terms(n, d, k)[:3], draw[:3])) + 2 * n * k * M * draw[2]
        work += float(np.dot(product_terms(n, d, M)[:3], product[:3])) * (M > 0)
    picks = 8 * (k * d + k * k / 2)
    candidates = 8 * (FOLLOWED if nuclear else k / 8) * (k / 2 + M + d)  # of half of the picks
    moved = picks * (w + 1) + blocks * candidates
    moved += 8 * n * d * w + 8 * s * k * M if nuclear else 0
    return {
        "seconds": fixed * 3 * blocks + task * tasks + work / w + moved / w / BANDWIDTH,
        "bytes": moved,
        "worker memory": 8 * n / w * (k + M + d + 3) + 2 * CHUNK + 3 * 8 * height(int(n)) * WIDTH,
        "client memory": 2 * picks + 3 * candidates + 4 * 8 * FOLLOWED**2 * nuclear + 1e4 * s,
        "tasks": tasks,
    }


def main() -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    constants = {}
    with cluster(2) as client:
        for name, seconds, terms, sizes, last in [
            (
                "Gram pass",
                gram_seconds,
                lambda m, n: gram_terms(m, n, 20_000),
                GRAMS,
                HELD_OUT_GRAM,
            ),
            ("draw", draw_seconds, draw_terms, DRAWS, HELD_OUT_DRAW),
            ("product", product_seconds, product_terms, PRODUCTS, HELD_OUT_PRODUCT),
        ]:
            found = [seconds(client, *size) for size in sizes]
            rows = [terms(*size) for size in sizes]
            constants[name] = fitted(rows, found)
            held = seconds(client, *last)
            check(name, constants[name], rows, found, last, held, terms(*last))
        check_bytes(client, constants)
        fixed, task = overhead(3)
    print(f"client and scheduler: {1e3 * fixed:.1f} ms a round trip, {1e3 * task:.2f} ms a task")
    print(
        f"{'predicted':<38} {'workers':>7} {'time':>9} {'moved':>9} {'a worker':>9} "
        f"{'client':>9} {'tasks':>9} {'breaks first':>15} {'at':>5}"
    )
    for m, n, w in [
        (1e7, 200, 2),
        (1e8, 200, 16),
        (1e9, 200, 16),
        (1e9, 200, 128),
        (1e9, 1000, 128),
        (1e9, 5000, 1024),
    ]:
        line(
            f"Gram pass, {m:.0e} × {n}", w, gram_costs(m, n, w, constants["Gram pass"], fixed, task)
        )
    for nuclear, gpu, n, k, w in [
        (False, False, 1e6, 300, 16),
        (False, False, 1e7, 1000, 64),
        (False, False, 1e8, 1000, 64),
        (False, False, 1e9, 1000, 512),
        (True, False, 1e6, 300, 16),
        (True, False, 1e7, 1000, 1024),
        (False, True, 1e8, 1000, 64),
        (True, True, 1e7, 1000, 1),
        (True, True, 1e8, 1000, 64),
        (True, True, 1e9, 1000, 1024),
    ]:
        name = "nuclear" if nuclear else "rpcholesky"
        costs = kernel_costs(n, 6, k, w, constants, fixed, task, nuclear, gpu)
        line(f"{name}, {n:.0e} points, k = {k}{', GPU' if gpu else ''}", w, costs)


if __name__ == "__main__":
    main()
