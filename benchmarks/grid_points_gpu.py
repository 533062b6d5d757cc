"""Landmarks among 100 000 grid points for products of orbitals, K never stored, on a graphics card.

    python benchmarks/grid_points_gpu.py [--values FILE] [--device cuda] [--points 100000]

With `--values`, an npz file, the orbitals are its `orbitals` (orbitals × points) at points of its
`weights`: those of a molecule, as in grid_points.py. Without it they are 60 Gaussians of three
widths at random centres, at uniform points of a box. Printed are seconds (of the second call; the
first warms up) and the largest memory that torch held.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

import landmarks as lm


def orbitals(points: int, count: int, device: str) -> torch.Tensor:
    """Gaussians at the points, one row each."""
    rng = np.random.default_rng(0)
    places, centres = rng.uniform(-4, 4, (points, 3)), rng.uniform(-3, 3, (count, 3))
    widths = rng.choice([0.5, 1.0, 2.0], count)
    squares = np.sum((places[None] - centres[:, None]) ** 2, axis=2)
    return torch.asarray(np.exp(-squares / widths[:, None] ** 2), device=device)


def stored(path: str, device: str) -> torch.Tensor:
    """The orbitals of a file times the fourth root of the weights: their products get the root."""
    with np.load(path) as archive:
        A = np.asarray(archive["orbitals"], dtype=np.float64) * archive["weights"] ** 0.25
    return torch.asarray(A, device=device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--orbitals", type=int, default=60)
    asked = parser.parse_args()
    if asked.values:
        A = stored(asked.values, asked.device)[:, : asked.points]
    else:
        A = orbitals(asked.points, asked.orbitals, asked.device)
    count, points = A.shape
    print("| method | points | orbitals | k | relative error | seconds | products | peak, MB |")
    print("|---|---|---|---|---|---|---|---|")
    for method in ("rpcholesky", "greedy", "swap"):
        for k in (3 * count, 6 * count):
            lm.select(lm.hadamard(A), 3, method=method)
            K = lm.hadamard(A)
            start = time.perf_counter()
            s = lm.select(K, k, method=method)
            seconds = time.perf_counter() - start
            peak = torch.cuda.max_memory_allocated() / 2**20 if asked.device == "cuda" else 0
            print(
                f"| {method} | {points} | {count} | {k} | {s.relative_error():.3e} "
                f"| {seconds:.2f} | {s.ledger.products} | {peak:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
