"""Kernel ridge regression on protein by CG, with and without a Nyström preconditioner.

    python benchmarks/preconditioner.py --data-dir DIR [--n 4000] [--quick] [--device cuda --store]

Solves (K + ridge · n · I) a = y for the Gaussian kernel on standardised points. The preconditioner
is (K̂ + ridge · n · I)⁻¹ from k landmarks, applied in O(nk) per step, or with `--complement
smallest` the scaling of Frangella, Tropp and Udell (2023); landmarks are drawn uniformly (mean over
several draws) or chosen by the methods named. Iterations count products with K; those spent on
choosing are printed next to them.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import landmarks as lm
from landmarks._array import Array
from landmarks.linalg.nystrom import Preconditioner
from landmarks.operators.base import MEMORY


def points_and_target(data_dir: Path, n: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Standardised points and target, of n rows drawn once."""
    with np.load(data_dir / "protein.npz", allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), archive["y"].astype(np.float64)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X, y = X[rows], y[rows]
    return (X - X.mean(axis=0)) / X.std(axis=0), ((y - y.mean()) / y.std())[:, None]


def on_device(array: np.ndarray, device: str, dtype: str) -> object:
    """The array in NumPy for the CPU, in torch elsewhere."""
    array = array.astype(dtype)
    if device == "cpu":
        return array
    import torch

    return torch.as_tensor(array, device=device)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("LANDMARKS_DATA", "."))
    parser.add_argument("--n", type=int, default=None, help="rows to use; all 45730 by default")
    parser.add_argument("--k", type=int, nargs="+", default=[200, 500, 1000])
    parser.add_argument(
        "--sigma",
        type=float,
        default=3.0,
        help="exp(−|x−y|²/sigma²); 3 is scikit-learn's default gamma = 1/9",
    )
    parser.add_argument("--ridge", type=float, default=1e-6, help="per point: K + ridge · n · I")
    parser.add_argument("--methods", nargs="+", default=["uniform", "rpcholesky", "greedy"])
    parser.add_argument("--draws", type=int, default=3, help="repetitions of random methods")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--limit", type=int, default=3000)
    parser.add_argument(
        "--dtype",
        choices=["float32", "float64"],
        default="float64",
        help="float32 cannot reach the tolerance at a small ridge",
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--store",
        action="store_true",
        help="keep K in memory: 17 GB for all rows in float64, which a large card has",
    )
    parser.add_argument(
        "--complement",
        choices=["ridge", "smallest"],
        default="ridge",
        help="what stands for K̂ + ridge outside its eigenvectors",
    )
    parser.add_argument("--quick", action="store_true", help="2000 rows, k = 100 and 200")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.n, arguments.k = 2000, [100, 200]
    run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Print one line without a preconditioner, and one per number of landmarks and method."""
    X, y = points_and_target(arguments.data_dir, arguments.n)
    points, b = (on_device(array, arguments.device, arguments.dtype) for array in (X, y))
    memory = 8 * len(X) ** 2 * 8 if arguments.store else MEMORY  # an eighth of it may hold K
    operator = lm.kernel(points, lm.rbf(sigma=arguments.sigma), memory=memory)
    shift = arguments.ridge * len(X)

    def solved(precondition: Preconditioner | Complement | None) -> tuple[float, ...]:
        start = time.perf_counter()
        x, steps = cg(
            lambda v: operator.matmul(v) * 2.0**operator.exponent + shift * v,
            b,
            (lambda v: v) if precondition is None else precondition.matmul,
            arguments.tolerance,
            arguments.limit,
        )
        seconds = time.perf_counter() - start
        left = b - operator.matmul(x) * 2.0**operator.exponent - shift * x
        return steps, float(((left * left).sum() / (b * b).sum()) ** 0.5), seconds

    def chosen(method: str, k: int, seed: int) -> tuple[float, ...]:
        selection = lm.select(operator, k, method=method, seed=seed)
        return (
            *solved(scaled(selection.nystrom().preconditioner(shift), arguments.complement)),
            selection.ledger.products,
            selection.ledger.seconds,
        )

    print(versions(arguments.device))
    print(
        f"protein n = {len(X)}, sigma = {arguments.sigma}, ridge = {arguments.ridge} n, "
        f"{arguments.dtype}, residual to {arguments.tolerance}"
    )
    print(
        f"{'k':>5} {'landmarks':<11} {'iterations':>10} {'residual':>9} {'CG s':>8} "
        f"{'products to choose':>19} {'choosing s':>11}"
    )
    print(line(0, "none", [(*solved(None), 0, 0.0)]), flush=True)
    for k in arguments.k:
        for method in arguments.methods:
            draws = arguments.draws if method in ("uniform", "rpcholesky") else 1
            print(line(k, method, [chosen(method, k, seed) for seed in range(draws)]), flush=True)


def cg(
    product: Callable[[Array], Array],
    b: Array,
    inverse: Callable[[Array], Array],
    tolerance: float,
    limit: int,
) -> tuple[Array, int]:
    """Preconditioned conjugate gradients in NumPy or torch: the solution and the iterations."""
    x, r, p, before = 0.0 * b, b, 0.0 * b, 1.0
    for step in range(limit):
        if float((r * r).sum()) <= tolerance**2 * float((b * b).sum()):
            return x, step
        z = inverse(r)
        now = float((r * z).sum())
        p = z + (now / before) * p
        product_p = product(p)
        length = now / float((p * product_p).sum())
        x, r, before = x + length * p, r - length * product_p, now
    return x, limit


@dataclass(frozen=True)
class Complement:
    """The scaling of Frangella, Tropp and Udell (2023): the smallest eigenvalue of K̂ replaces 0."""

    inner: Preconditioner

    def matmul(self, block: Array) -> Array:
        values, U = self.inner.approximation.eigenpairs()
        smallest = float(values[-1])
        change = 1 / (smallest + self.inner.ridge) - 1 / self.inner.ridge
        return self.inner.matmul(block) + change * (block - U @ (U.T @ block))


def scaled(P: Preconditioner, complement: str) -> Preconditioner | Complement:
    return P if complement == "ridge" else Complement(P)


def versions(device: str) -> str:
    """The device and the versions that the numbers belong to."""
    found = {
        name: importlib.metadata.version(name)
        for name in ("numpy", "scipy", "torch", "triton")
        if importlib.util.find_spec(name)
    }
    name = platform.processor() or platform.machine()
    if device != "cpu":
        import torch

        name = torch.cuda.get_device_name(device)
    return f"{device} ({name}), Python {platform.python_version()}, " + ", ".join(
        f"{key} {value}" for key, value in found.items()
    )


def line(k: int, method: str, trials: list[tuple[float, ...]]) -> str:
    count, residual, seconds, products, choosing = np.mean(trials, axis=0)
    return (
        f"{k:>5} {method:<11} {count:>10.1f} {residual:>9.1e} {seconds:>8.2f} "
        f"{products:>19.0f} {choosing:>11.2f}"
    )


if __name__ == "__main__":
    main()
