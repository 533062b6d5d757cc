"""Choices where the spectrum falls fast, compared with a plain search on an explicit residual.

    python benchmarks/digits.py --data-dir DIR            the table of docs/results/digits.md
    python benchmarks/digits.py --quick                   small problems only, without real data

`--jobs N` works on N problems at a time.

Every cell is a problem, a number of columns k, a criterion and a dtype. Each method's choice is
judged by projection in float64 on a factor of the exact problem, and divided by what the reference
leaves. The reference (`digits_reference.py`) shares nothing with the package: greedy, then the
best swap while it pays, every number recomputed from the residual R = (I − QQᵀ)X at every step.
Cells whose best rank-k error is below 1e-13 of the total are printed but do not count for the bars:
float64 holds no more.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from digits_reference import error, reference_greedy, reference_swap

import landmarks as lm

HOLDS = 1e-13  # of the total: what is smaller is below what float64 can hold


@dataclass(frozen=True)
class Problem:
    """What `select` is given in each dtype, and how to make a factor L of the exact LᵀL."""

    name: str
    given: Callable[[type], object]
    factor: Callable[[], np.ndarray]
    ks: tuple[int, ...]


def factor(K: np.ndarray) -> np.ndarray:
    """L with K = LᵀL, by LAPACK's pivoted Cholesky of the matrix scaled to a unit diagonal."""
    d = np.sqrt(np.diag(K))
    F, order, rank, _ = scipy.linalg.lapack.dpstrf(K / np.outer(d, d), lower=1, tol=1e-15)
    L = np.zeros((rank, len(K)))
    L[:, order - 1] = np.tril(F)[:, :rank].T
    return L * d


# The problems


def smooth_fields(m: int, n: int, length: float, seed: int) -> np.ndarray:
    """m random smooth functions on n points: Fourier series with Gaussian decay."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 1, n))
    waves = np.arange(1, 60)
    weights = np.exp(-((waves * length) ** 2))
    basis = np.vstack(
        [np.sin(2 * np.pi * np.outer(waves, x)), np.cos(2 * np.pi * np.outer(waves, x))]
    )
    return rng.standard_normal((m, 118)) @ (np.concatenate([weights, weights])[:, None] * basis)


def columns(name: str, X: np.ndarray, ks: tuple[int, ...]) -> Problem:
    """The columns of X; R of its QR judges a tall one."""

    def made() -> np.ndarray:
        return X if len(X) < X.shape[1] else np.linalg.qr(X, mode="r")

    return Problem(name, lambda dtype: X.astype(dtype), made, ks)


def points(name: str, x: np.ndarray, h: Callable, ks: tuple[int, ...]) -> Problem:
    """Landmarks among points; in both dtypes the points are the float32 ones, so they are exact."""
    x = x.astype(np.float32).astype(np.float64)
    centred = x - x.mean(axis=0) if getattr(h, "stationary", False) else x

    def made() -> np.ndarray:
        return factor(np.asarray(h(centred, centred)))

    return Problem(name, lambda dtype: lm.kernel(x.astype(dtype), h), made, ks)


def made_up(quick: bool) -> Iterator[Problem]:
    """Fields, graded columns, Vandermonde columns and kernels on drawn points."""
    for length in (0.05, 0.1, 0.2) if not quick else (0.1,):
        for m, n in ((34, 100), (34, 2000), (60, 3000)) if not quick else ((34, 300),):
            yield columns(
                f"fields {m} x {n}, {length}", smooth_fields(m, n, length, 1), (5, 10, 16)
            )
    rng = np.random.default_rng(3)
    graded = rng.standard_normal((80, 60)) * np.logspace(0, -5, 60)
    yield columns("graded 80 x 60", graded[:, rng.permutation(60)], (5, 15, 30))
    yield columns("vandermonde 200 x 60", np.vander(np.linspace(-1, 1, 200), 60), (5, 10, 20))
    yield columns("clusters 120 x 200", clusters(rng), (10, 20))
    for sigma in (0.5, 2.0, 8.0) if not quick else (2.0,):
        x = rng.standard_normal((400, 3))
        yield points(f"rbf 3-D, sigma {sigma}", x, lm.rbf(sigma=sigma), (10, 40))
        yield points(
            f"matern 5/2 2-D, sigma {sigma}", x[:, :2], lm.matern(nu=2.5, sigma=sigma), (10, 40)
        )
    grid = np.linspace(0, 1, 300)[:, None]
    yield points("matern 3/2 1-D grid", grid, lm.matern(nu=1.5, sigma=0.3), (10, 30))
    yield points("polynomial 4, 3-D", rng.standard_normal((300, 3)), lm.polynomial(4), (10, 25))


def clusters(rng: np.random.Generator) -> np.ndarray:
    """Ten tight clusters of twenty columns."""
    centres = rng.standard_normal((120, 10))
    return np.repeat(centres, 20, axis=1) + 0.1 * rng.standard_normal((120, 200))


def real(folder: str) -> Iterator[Problem]:
    """Kernels on real points, from narrow to wide."""
    rng = np.random.default_rng(5)
    for name, n in (("powerplant", 1000), ("htru2", 1000), ("protein", 800), ("residential", 372)):
        X = standardised(folder, name)
        X = X[rng.permutation(len(X))[:n]]
        for width in (0.3, 1.0, 3.0, 8.0):
            sigma = width * np.sqrt(X.shape[1])
            yield points(f"{name} {len(X)} rbf {width}", X, lm.rbf(sigma=sigma), (20, 60))
        yield points(
            f"{name} {len(X)} matern 5/2",
            X,
            lm.matern(nu=2.5, sigma=2 * np.sqrt(X.shape[1])),
            (20, 60),
        )


def large(folder: str) -> Iterator[Problem]:
    """Fields on many places, and smooth kernels on many real points."""
    yield columns("fields 100 x 40000, 0.1", smooth_fields(100, 40_000, 0.1, 1), (10, 30))
    for name, n, width, ks in (
        ("powerplant", 5_000, 1.0, (20, 60)),
        ("powerplant", 5_000, 3.0, (20, 60)),
        ("htru2", 10_000, 3.0, (20,)),
    ):
        X = standardised(folder, name)[:n]
        sigma = width * np.sqrt(X.shape[1])
        yield points(f"{name} {n} rbf {width}", X, lm.rbf(sigma=sigma), ks)


def standardised(folder: str, name: str) -> np.ndarray:
    """The columns that vary, each with mean 0 and standard deviation 1."""
    X = np.load(os.path.join(folder, f"{name}.npz"))["X"].astype(float)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def temperature(path: str) -> Iterator[Problem]:
    """The temperature fields that python-sensors carries, 34 training rows."""
    X = np.load(path)
    yield columns(f"temperature {X.shape[0]} x {X.shape[1]}", X, (5, 8, 12, 16))


# The table

METHODS = ("greedy", "swap", "annealed", "auto")


def rows(
    problem: Problem, criteria: tuple[str, ...], methods: tuple[str, ...], device: str | None
) -> Iterator[dict]:
    """The ratios of every cell of a problem."""
    L = problem.factor()
    values = np.linalg.svd(L, compute_uv=False) ** 2
    if device is not None:
        import torch

        L = torch.asarray(L, device=device)
    for k in problem.ks:
        start = reference_greedy(L, k)
        best = reference_swap(L, start, "trace")
        for criterion in criteria:
            tail = values[k:].sum() if criterion == "trace" else (values[k:] ** 2).sum()
            whole = values.sum() if criterion == "trace" else (values**2).sum()
            if criterion == "frobenius":
                best = min(
                    best,
                    reference_swap(L, best, "frobenius"),
                    key=lambda S: error(L, S, criterion),
                )
            swapped = error(L, best, criterion)
            row = {"problem": problem.name, "k": k, "criterion": criterion, "tail": tail / whole}
            row["holds"] = values[k:].sum() / values.sum() >= HOLDS and len(start) == k
            row["reference"] = swapped / tail
            for dtype in (np.float64, np.float32):
                for method in methods:
                    clock = time.process_time()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        s = lm.select(problem.given(dtype), k, method=method, criterion=criterion)
                    seconds = time.process_time() - clock
                    by = error(L, start, criterion) if method == "greedy" else swapped
                    ratio = error(L, list(s.indices), criterion) / by
                    row[f"{method} {np.dtype(dtype).name}"] = ratio
                    row[f"{method} {np.dtype(dtype).name} s"] = seconds
                    if method == "annealed":
                        row[f"annealed/greedy {np.dtype(dtype).name}"] = (
                            ratio * by / error(L, start, criterion)
                        )
            yield row


def show(row: dict, methods: tuple[str, ...]) -> None:
    cells = " ".join(f"{row[f'{m} {d}']:8.4g}" for d in ("float64", "float32") for m in methods)
    mark = " " if row["holds"] else "-"
    print(
        f"{mark} {row['problem']:26.26} {row['k']:4d} {row['criterion'][:4]} "
        f"{row['tail']:8.1e} {row['reference']:6.3g} {cells}",
        flush=True,
    )


def summary(table: list[dict], methods: tuple[str, ...]) -> None:
    """The worst ratio of each method, and what exceeds its bar."""
    held = [row for row in table if row["holds"]]
    bars = {"greedy": 1.05, "swap": 1.02, "auto": 1.02, "iterated": 1.02, "annealed": 1.5}
    for dtype in ("float64", "float32"):
        for method in methods:
            ratios = [row[f"{method} {dtype}"] for row in held]
            bar = bars.get(method)
            above = (
                ""
                if bar is None
                else f", above {bar}: {sum(r > bar for r in ratios)} of {len(ratios)}"
            )
            print(
                f"{method} {dtype}: median {np.median(ratios):.4f}, worst {max(ratios):.4g}{above}"
            )
        if "annealed" in methods:
            raw = [row[f"annealed/greedy {dtype}"] for row in held]
            print(
                f"annealed over exact greedy {dtype}: worst {max(raw):.4g}, at or below in "
                f"{sum(r <= 1 + 1e-9 for r in raw)} of {len(raw)}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--fields", help="an npy file of the temperature fields, 34 × 40 510")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--criteria", nargs="+", default=["trace", "frobenius"])
    parser.add_argument("--only", default="", help="problems whose name and k contain this")
    parser.add_argument("--jobs", type=int, default=1, help="problems to work on at a time")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--device", help="a torch device for the reference, instead of NumPy")
    options = parser.parse_args()
    methods = tuple(options.methods.split(","))
    problems = list(made_up(options.quick))
    if options.data_dir and not options.quick:
        problems += real(options.data_dir)
    if options.fields:
        problems += temperature(options.fields)
    if options.data_dir and not options.quick:
        problems += large(options.data_dir)
    cells = [replace(p, ks=(k,)) for p in problems for k in p.ks]
    cells = [cell for cell in cells if options.only in f"{cell.name} {cell.ks[0]}"]
    print(
        "  problem                       k crit tail/all  ref/t "
        + " ".join(f"{m[:8]:>8}" for _ in range(2) for m in methods)
    )
    table = []
    CELLS.extend(
        (problem, (criterion,), methods, options.device)
        for problem, criterion in itertools.product(cells, options.criteria)
    )
    for row in all_rows(options.jobs):
        table.append(row)
        show(row, methods)
    summary(table, methods)


def all_rows(jobs: int) -> Iterator[dict]:
    """The rows of all cells from several processes, as they come."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for found in as_completed([pool.submit(cell, i) for i in range(len(CELLS))]):
            yield from found.result()


CELLS: list[tuple] = []  # what the processes inherit: kernels cannot be sent to them


def cell(i: int) -> list[dict]:
    """The rows of one problem, one k and one criterion."""
    return list(rows(*CELLS[i]))


if __name__ == "__main__":
    main()
