"""Selections on one graphics card: kernels too large to store.

    python benchmarks/gpu_scale.py --data-dir DIR [--device cuda] [--quick]
        [--part agree protein million smooth]

agree    the same seed on the CPU and on the card, on problems small enough for both
protein  45 730 points, σ = 0.5, Frobenius criterion, every method, K never stored
million  covtype's 581 012 rows and a synthetic million in 9 dimensions, k = 1000
smooth   20 000 points in 4 dimensions, k = 200, a kernel so smooth that float32 has few digits left

Errors are exact for protein and estimated with a 95 % interval for the million. Memory is the peak
on the card.
"""

import argparse
import platform

import numpy as np
import torch
from card import clusters, timed

import landmarks as lm
from landmarks.objectives import Trace
from paper.data import standardise, standardised

AIMS = {50: 1.05e6, 100: 6.45e5, 200: 3.48e5, 400: 1.70e5}


def points(X: np.ndarray, device: str) -> torch.Tensor:
    return torch.as_tensor(np.ascontiguousarray(X, dtype=np.float32), device=device)


def chosen(
    operator: object, k: int, method: object, criterion: str
) -> tuple[lm.Selection, float, float]:
    """A selection, its seconds, and the peak memory on the card in units of 10⁶ bytes."""
    return timed(lambda: lm.select(operator, k, method=method, criterion=criterion))


def part_agree(data_dir: str | None, device: str, quick: bool) -> None:
    problems = {
        "digits columns": lambda d: lm.data(torch.as_tensor(standardised("digits"), device=d)),
        "digits points": lambda d: lm.kernel(
            torch.as_tensor(standardised("digits")[:600], device=d),
            lm.rbf(sigma=10.0),
        ),
        "wine points": lambda d: lm.kernel(points(standardised("wine"), d), lm.rbf(sigma=4.0)),
    }
    methods = [
        "greedy",
        "nuclear",
        "rpcholesky",
        "swap",
        "annealed",
        "auto",
        lm.Continuous(strategy="path"),
        "leverage",
        "pivoted_qr",
    ]
    for name, make in problems.items():
        for method in methods:
            here, there = (
                lm.select(make(d), 20 if name != "wine points" else 8, method=method)
                for d in ("cpu", device)
            )
            same = np.array_equal(here.indices, there.indices)
            ratio = there.error() / here.error()
            print(
                f"{name:<15} {method!s:<40} {'same' if same else 'DIFFERENT'}  error ratio "
                f"{ratio:.8f}",
                flush=True,
            )


def part_protein(data_dir: str | None, device: str, quick: bool) -> None:
    X = points(standardised("protein", data_dir)[: 3000 if quick else None], device)
    lm.select(
        lm.kernel(X, lm.rbf(sigma=0.5)), 5, criterion="frobenius"
    )  # compiles what the timings should not hold
    lm.select(
        lm.kernel(X, lm.rbf(sigma=0.5)),
        5,
        criterion="frobenius",
        method=lm.Continuous(strategy="path"),
    )
    print(
        f"{'k':>5} {'method':<12} {'|K - Khat|_F^2':>14} {'seconds':>8} {'products':>9} "
        f"{'peak MB':>8}"
    )
    for k in (50, 100) if quick else (50, 100, 200, 400):
        for method in (
            "uniform",
            "leverage",
            "rpcholesky",
            "nuclear",
            "greedy",
            "auto",
            lm.Continuous(strategy="path"),
        ):
            selection, seconds, memory = chosen(
                lm.kernel(X, lm.rbf(sigma=0.5)), k, method, "frobenius"
            )
            error, label = (
                selection.error("frobenius"),
                method if isinstance(method, str) else method.strategy,
            )
            beside = (
                ""
                if label != "auto" or quick
                else f"aim {AIMS[k]:.3g} {'reached' if error <= AIMS[k] else 'MISSED'}"
            )
            print(
                f"{k:>5} {label:<12} {error:>14.5g} {seconds:>8.2f} "
                f"{selection.ledger.products:>9} {memory:>8.0f}  {beside}",
                flush=True,
            )


def part_million(data_dir: str | None, device: str, quick: bool) -> None:
    sets = {"synthetic, d = 9, sigma = 2": (clusters(20_000 if quick else 1_000_000), 2.0)}
    if data_dir is not None:
        with np.load(f"{data_dir}/covtype.npz") as archive:
            sets["covtype, d = 54, sigma = 5"] = (
                standardise(archive["X"][: 20_000 if quick else None]),
                5.0,
            )
    for name, (X, sigma) in sets.items():
        print(f"{name}, n = {len(X)}, k = {100 if quick else 1000}")
        print(HEAD)
        operator = lm.kernel(points(X, device), lm.rbf(sigma=sigma))
        k = 100 if quick else 1000
        for method in ("uniform", "rpcholesky", "nuclear", "auto"):
            show(method, *chosen(operator, k, method, "trace"))


def part_smooth(data_dir: str | None, device: str, quick: bool) -> None:
    X = np.random.default_rng(0).standard_normal((2000 if quick else 20_000, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    double, single = (
        lm.kernel(torch.as_tensor(X, device=device, dtype=dtype), lm.rbf(sigma=2.0))
        for dtype in (torch.float64, torch.float32)
    )
    print(f"{'method':<12} {'float32: error, seconds':>26} {'float64: error, seconds':>26}")
    for method in ("pivoted_qr", "rpcholesky", "nuclear", "greedy", "swap", lm.Supervised(y)):
        cells = []
        for operator in (single, double):
            selection, seconds, _ = chosen(operator, 60 if quick else 200, method, "trace")
            cells.append(f"{Trace().error(double, selection.indices):>17.2f} {seconds:>8.2f}")
        print(
            f"{method if isinstance(method, str) else 'supervised':<12} {' '.join(cells)}",
            flush=True,
        )


HEAD = (
    f"{'method':<22} {'trace error':>12} {'|K - Khat|_F^2, 95 %':>32} {'seconds':>8} "
    f"{'products':>9} {'peak MB':>8}"
)


def show(label: str, selection: lm.Selection, seconds: float, memory: float) -> None:
    """One line: the errors, the Frobenius one with its interval, and the costs."""
    e = selection.estimated_error("frobenius")
    interval = f"{e.value:.4g} [{e.low:.4g}, {e.high:.4g}]"
    cost = f"{seconds:>8.1f} {selection.ledger.products:>9} {memory:>8.0f}"
    print(f"{label:<22} {selection.error('trace'):>12.5g} {interval:>32} {cost}", flush=True)


PARTS = {
    "agree": part_agree,
    "protein": part_protein,
    "million": part_million,
    "smooth": part_smooth,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else platform.processor()
    print(
        f"{device}; torch {torch.__version__}, landmarks {lm.__version__}, Python "
        f"{platform.python_version()}"
    )
    for part in arguments.part:
        print(f"\n{part}", flush=True)
        PARTS[part](arguments.data_dir, arguments.device, arguments.quick)


if __name__ == "__main__":
    main()
