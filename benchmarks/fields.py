"""Sensors on temperature fields: ours and those of PySensors, in one process on the same fields.

    OMP_NUM_THREADS=1 python benchmarks/fields.py [--fields FOLDER]     docs/results/fields.md

The wheel of python-sensors holds 49 simulated fields at 40 510 places; FOLDER holds them unless the
package is installed. 34 fields, drawn by `default_rng(0).permutation(49)[:34]`, choose the sensors,
the other 15 judge them. The factor is the error on the 34 over that of the best rank-k
approximation. Every choice rebuilds held-out fields by the same estimator: least squares on the 34
fields, or with noise of standard deviation σ its regularised form, (K_SS/34 + σ²I)⁻¹K_S/34.
The second table has choices that know the noise, noise=34 σ²: `expected` is the error of that
estimator on the 34 fields, which these choices make small; `held out` is as above.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.linalg

import landmarks as lm
from landmarks.objectives import Trace

SIZES = (5, 8, 12, 16)
NOISE = (0.01, 0.1, 1.0)  # kelvin
DRAWS = 20  # of the noise


def folder_of_package() -> Path:
    """Where pip puts the fields."""
    import pysensors

    place = Path(pysensors.__file__).parents[1]
    return place / "examples" / "data" / "simulation_example_data"


def fields(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The 34 fields that choose and the 15 that judge, one row each."""
    files = sorted(folder.glob("*.csv"))
    rows = [np.loadtxt(file, delimiter=",", skiprows=1, usecols=0) for file in files]
    drawn = np.sort(np.random.default_rng(0).permutation(len(rows))[:34])
    train = np.asarray([rows[i] for i in drawn])
    return train, np.asarray([row for i, row in enumerate(rows) if i not in drawn])


def ours(method: object, budget: float | None = None) -> Callable[[np.ndarray, int], np.ndarray]:
    return lambda X, k: lm.select(lm.data(X), k, method=method, budget=budget).indices


def pysensors_choice(optimizer: str, modes: bool) -> Callable[[np.ndarray, int], np.ndarray]:
    """An optimizer of PySensors on k modes of an SVD, or on the fields themselves."""

    def choose(X: np.ndarray, k: int) -> np.ndarray:
        import pysensors
        from pysensors import basis, optimizers

        made = getattr(optimizers, optimizer)
        rule = made(n_sensors=k, noise=NOISE[1]) if optimizer == "TPGR" else made()
        kind = basis.SVD(n_basis_modes=k, random_state=0) if modes else basis.Identity()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pysensors.SSPOR(basis=kind, optimizer=rule, n_sensors=k).fit(X, quiet=True)
        return np.asarray(model.get_selected_sensors())[:k]

    return choose


CHOICES = {
    "landmarks swap": ours("swap"),
    "landmarks auto, budget=1.5": ours("auto", 1.5),
    "landmarks auto": ours("auto"),
    "landmarks greedy": ours("greedy"),
    "PySensors QR, k modes": pysensors_choice("QR", True),
    "PySensors CCQR, k modes": pysensors_choice("CCQR", True),
    "PySensors TPGR, k modes": pysensors_choice("TPGR", True),
    "PySensors QR, fields": pysensors_choice("QR", False),
    "PySensors CCQR, fields": pysensors_choice("CCQR", False),
    "PySensors TPGR, fields": pysensors_choice("TPGR", False),
}


def rebuilt(X: np.ndarray, S: np.ndarray, Y: np.ndarray, sigma: float) -> float:
    """The root mean square error, in kelvin, of the fields Y rebuilt from their values at S."""
    if sigma == 0:
        W = scipy.linalg.lstsq(X[:, S], X, cond=1e-14)[0]
        return float(np.sqrt(np.mean((Y - Y[:, S] @ W) ** 2)))
    K = X[:, S].T @ X[:, S] / len(X) + sigma**2 * np.eye(len(S))
    W = np.linalg.solve(K, X[:, S].T @ X / len(X))
    rng, squares = np.random.default_rng(0), []
    for _ in range(DRAWS):
        seen = Y[:, S] + sigma * rng.standard_normal((len(Y), len(S)))
        squares.append(np.mean((Y - seen @ W) ** 2))
    return float(np.sqrt(np.mean(squares)))


def expected(X: np.ndarray, S: np.ndarray, sigma: float) -> float:
    """The root mean square error on the fields X that the estimator should have with the noise."""
    K = X[:, S].T @ X[:, S] / len(X) + sigma**2 * np.eye(len(S))
    half = scipy.linalg.solve_triangular(np.linalg.cholesky(K), X[:, S].T @ X / len(X), lower=True)
    left = np.sum(X * X) / len(X) - np.sum(half * half)
    return float(np.sqrt(max(left, 0.0) / X.shape[1]))


def with_noise(X: np.ndarray, Y: np.ndarray) -> None:
    """Print the second table: choices for the noise that they will have."""
    rivals = {"landmarks auto": ours("auto"), "PySensors QR, fields": pysensors_choice("QR", False)}
    print("\n| k | σ, K | choice | expected, K | held out, K | CPU seconds |\n|" + "---|" * 6)
    for k in SIZES:
        fixed = {name: choose(X, k) for name, choose in rivals.items()}
        for sigma in NOISE:
            start = time.process_time()
            noise = len(X) * sigma**2
            S = lm.select(lm.data(X), k, noise=noise).indices
            seconds = f"{time.process_time() - start:.2f}"
            for name, chosen in {"landmarks auto, noise known": S, **fixed}.items():
                cells = f"{expected(X, chosen, sigma):.4g} | {rebuilt(X, chosen, Y, sigma):.4g}"
                print(f"| {k} | {sigma:g} | {name} | {cells} | {seconds} |", flush=True)
                seconds = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fields", type=Path)
    X, Y = fields(parser.parse_args().fields or folder_of_package())
    for choose in CHOICES.values():
        choose(X[:, ::500], 3)  # imports are not counted
    values = np.linalg.svd(X, compute_uv=False) ** 2
    K = lm.data(X)
    print("| k | tail/total | choice | factor | CPU seconds | held out, K |", end="")
    print("".join(f" σ = {s:g} K |" for s in NOISE))
    print("|---|---|---|---|---|---|" + "---|" * len(NOISE))
    for k in SIZES:
        tail = values[k:].sum()
        for name, choose in CHOICES.items():
            start = time.process_time()
            S = choose(X, k)
            seconds = time.process_time() - start
            factor = Trace().error(K, np.asarray(S)) / tail
            cells = [rebuilt(X, S, Y, sigma) for sigma in (0, *NOISE)]
            figures = " | ".join(f"{cell:.4g}" for cell in cells)
            print(f"| {k} | {tail / values.sum():.1e} | {name} ", end="")
            print(f"| {factor:.3f} | {seconds:.2f} | {figures} |", flush=True)
    with_noise(X, Y)


if __name__ == "__main__":
    main()
