"""The cost of runs beyond this machine: a fitted model, checked on a larger run.

    python benchmarks/scale_model.py

CPU seconds of the workers are fitted rather than elapsed seconds, because other work on the machine
changes them little; they are divided by the number of cores, and the overhead of the scheduler and
the movement of bytes are added. The last column says what breaks first.

    Gram pass of m × n      CPU = a·m·n² + b·m·n + t·tasks
    kernel product, b wide  CPU = (c + e·d + f·b + g·[b > 1])·values + t·tasks,
                            values = n(n + strip)/2

BLAS multiplies a matrix by one vector and by several in different ways, hence the step g.

The model assumes that the network moves 1 GB per second and worker, and that a worker has one core;
neither is measured here.
"""

import os

import dask.array as da
import numpy as np
from cluster import best, cluster, overhead, points, tall
from scipy.optimize import nnls

import landmarks as lm
from landmarks.operators.dask.kernel import DEVICE_STRIP
from landmarks.operators.dask.strips import TILE, cuts, height

CHUNK = 128 * 2**20
BANDWIDTH = 1e9
GPU_VALUE = (
    4.2e-13  # seconds a value with ten vectors on an H200: docs/gpu.md, 16.9 ms for 4e10 values
)
LIMITS = {"seconds": 86_400.0, "worker memory": 16e9, "client memory": 64e9, "tasks": 1e6}

GRAMS = [(40_000, 100), (40_000, 200), (80_000, 200), (40_000, 400), (80_000, 400)]
HELD_OUT_GRAM = (200_000, 300)
PRODUCTS = [
    (2000, 4, 1),
    (4000, 4, 1),
    (4000, 4, 10),
    (4000, 16, 1),
    (6000, 16, 10),
    (8000, 4, 1),
    (6000, 8, 3),
]
HELD_OUT_PRODUCT = (14_000, 8, 5)


def gram_terms(m: float, n: float, chunk: float) -> list[float]:
    """m n², m n and the number of tasks."""
    return [m * n * n, m * n, gram_tasks(m, chunk)]


def gram_tasks(m: float, chunk: float) -> float:
    """A task to read and one to multiply for each chunk, and a tree by eights."""
    return np.ceil(m / chunk) * (2 + 1 / 7) + 1


def product_terms(n: float, d: float, b: float) -> list[float]:
    """Values, times dimensions, times vectors, values if several vectors, and number of tasks."""
    values = n * (n + height(int(n))) / 2
    return [values, values * d, values * b, values * (b > 1), product_tasks(n)]


def product_tasks(n: float, least: int = TILE) -> float:
    """A task for each strip and a tree by eights."""
    return len(cuts(int(n), height(int(n), least))) * (1 + 1 / 7) + 1


def fitted(terms: list[list[float]], seconds: list[float]) -> np.ndarray:
    """Constants of at least 0 with the least relative errors."""
    A = np.array(terms) / np.array(seconds)[:, None]
    scale = A.max(axis=0)
    return nnls(A / scale, np.ones(len(A)))[0] / scale


def gram_seconds(client, m: int, n: int) -> float:
    return best(client, lambda: lm.data(tall(m, 20_000, n)), 2)[1]


def product_seconds(client, n: int, d: int, b: int) -> float:
    operator = lm.kernel(da.from_array(points(n, d), chunks=(n // 4, d)), lm.rbf(sigma=1.0))
    return best(client, lambda: operator.matmul(np.ones((n, b))), 3)[1]


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


def line(label: str, workers: int, costs: dict[str, float], products: int) -> None:
    """One prediction, and the limit that it exceeds most."""
    worst = max(LIMITS, key=lambda name: costs[name] / LIMITS[name])
    breaks = worst if costs[worst] > LIMITS[worst] else "-"
    print(
        f"{label:<34} {workers:>7} {amount(costs['seconds'], 's'):>9} "
        f"{amount(costs['bytes'], 'B'):>9} {amount(costs['worker memory'], 'B'):>9} "
        f"{amount(costs['client memory'], 'B'):>9} {costs['tasks']:>9.3g} {products:>8} "
        f"{breaks:>14}"
    )


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


def greedy_costs(
    n: float, d: float, k: int, w: int, constants: np.ndarray, fixed: float, task: float, gpu: bool
) -> dict[str, float]:
    """k products, k columns, one pass for diag K²; the client keeps the n × k factor."""
    size = 4 if gpu else 8  # bytes a number: fused products are in float32
    tasks, vector = product_tasks(n, DEVICE_STRIP if gpu else TILE), size * n
    work = n * n * GPU_VALUE if gpu else float(np.dot(product_terms(n, d, 1), constants))
    moved = vector * (w + (w if gpu else 2 * tasks))
    product = fixed + task * tasks + work / w + moved / w / BANDWIDTH + 2 * vector / BANDWIDTH
    column = fixed + task * tasks + vector / BANDWIDTH
    return {
        "seconds": (k + 1) * product + k * column + vector * d / BANDWIDTH,
        "bytes": (k + 1) * moved + k * vector + vector * d * w,
        "worker memory": 2 * vector * d + 10 * vector,
        "client memory": vector * (k + 10),
        "tasks": (2 * k + 1) * tasks,
    }


def main() -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with cluster(2) as client:
        grams, held_gram = (
            [gram_seconds(client, *size) for size in GRAMS],
            gram_seconds(client, *HELD_OUT_GRAM),
        )
        products, held_product = (
            [product_seconds(client, *size) for size in PRODUCTS],
            product_seconds(client, *HELD_OUT_PRODUCT),
        )
        fixed, task = overhead(3)
    gram_rows, product_rows = (
        [gram_terms(*size, 20_000) for size in GRAMS],
        [product_terms(*size) for size in PRODUCTS],
    )
    a, c = fitted(gram_rows, grams), fitted(product_rows, products)
    check(
        "Gram pass",
        a,
        gram_rows,
        grams,
        HELD_OUT_GRAM,
        held_gram,
        gram_terms(*HELD_OUT_GRAM, 20_000),
    )
    check(
        "kernel product",
        c,
        product_rows,
        products,
        HELD_OUT_PRODUCT,
        held_product,
        product_terms(*HELD_OUT_PRODUCT),
    )
    print(f"client and scheduler: {1e3 * fixed:.1f} ms a product, {1e3 * task:.2f} ms a task")
    print(
        f"{'predicted':<34} {'workers':>7} {'time':>9} {'moved':>9} {'a worker':>9} "
        f"{'client':>9} {'tasks':>9} {'products':>8} {'breaks first':>14}"
    )
    for m, n, w in [
        (1e7, 200, 2),
        (1e8, 200, 16),
        (1e9, 200, 16),
        (1e9, 200, 128),
        (1e9, 1000, 128),
        (1e9, 5000, 1024),
    ]:
        line(f"Gram pass, {m:.0e} × {n}", w, gram_costs(m, n, w, a, fixed, task), 0)
    for n, k, w in [(1e5, 100, 2), (1e6, 100, 16), (1e7, 100, 1024), (1e8, 100, 1024)]:
        line(
            f"greedy, {n:.0e} points, k = {k}",
            w,
            greedy_costs(n, 10, k, w, c, fixed, task, False),
            k,
        )
    for n, k, w in [(1e6, 100, 1), (1e7, 100, 64), (1e8, 100, 1024), (1e8, 1000, 1024)]:
        line(
            f"greedy, {n:.0e} points, k = {k}, GPU",
            w,
            greedy_costs(n, 10, k, w, c, fixed, task, True),
            k,
        )


if __name__ == "__main__":
    main()
