"""Columns that rebuild a target, compared with backward elimination, and with noise.

    LANDMARKS_DATA=DIR python benchmarks/target.py      the tables of docs/target_noise.md
    python benchmarks/target.py --quick                 an embedded data set only

The rival drops columns one by one from all of them, each time the one whose loss raises the error
of the target least, with the inverse Gram matrix kept up to date: the way in which OSSCAR prunes a
layer (Meng, Ibrahim, Behdin, Hazimeh, Ponomareva and Mazumder, ICML 2024), without its local
search. Every choice is judged by least squares on the rows.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import landmarks as lm

DATA = ("residential", "arrhythmia", "secom", "mnist1k")
METHODS = ("greedy", "swap", "auto")


def backward(G: np.ndarray, H: np.ndarray, k: int) -> list[int]:
    """Drop the column that costs least until k are left; a small ridge keeps G invertible."""
    left = list(range(len(G)))
    inverse = np.linalg.inv(G + 1e-9 * np.trace(G) / len(G) * np.eye(len(G)))
    W = inverse @ H
    while len(left) > k:
        i = int(np.argmin(np.sum(W * W, axis=1) / np.diag(inverse)))
        v = inverse[:, i] / inverse[i, i]
        W, inverse = W - np.outer(v, W[i]), inverse - np.outer(v, inverse[i])
        kept = [place for place in range(len(left)) if place != i]
        W, inverse = W[kept], inverse[np.ix_(kept, kept)]
        left.pop(i)
    return left


def error(A: np.ndarray, B: np.ndarray, S: list[int]) -> float:
    """‖B − P_S B‖²/‖B‖² by least squares."""
    W = np.linalg.lstsq(A[:, S], B, rcond=None)[0]
    return float(np.sum((B - A[:, S] @ W) ** 2) / np.sum(B * B))


def tables(quick: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Standardised columns of each data set."""
    yield "breast cancer", standard(load_breast_cancer().data)
    folder = os.environ.get("LANDMARKS_DATA")
    if quick or folder is None:
        return
    for name in DATA:
        with np.load(Path(folder) / f"{name}.npz") as file:
            yield name, standard(np.asarray(file["X"], dtype=np.float64))


def standard(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1, without constant ones."""
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]


def targets(X: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Outputs of a layer of 64 units, and the second half of the columns from the first."""
    rng = np.random.default_rng(0)
    yield "layer", X, np.maximum(X @ rng.standard_normal((X.shape[1], 64)), 0.0)
    half = rng.permutation(X.shape[1])
    middle = X.shape[1] // 2
    yield "half", X[:, half[:middle]], X[:, half[middle:]]


def rebuilt(quick: bool) -> None:
    """Our error over that of backward elimination."""
    print(f"{'data':14s} {'target':7s} {'n':>4s} {'k':>4s} {'backward':>9s} {'s':>6s}", end="")
    print("".join(f" {method:>8s} {'s':>6s}" for method in METHODS))
    for name, X in tables(quick):
        for kind, A, B in targets(X):
            for k in (A.shape[1] // 20 + 1, A.shape[1] // 5):
                print_row(name, kind, A, B, k)


def print_row(name: str, kind: str, A: np.ndarray, B: np.ndarray, k: int) -> None:
    """One line: the rival's error, and ours over it."""
    begun = time.perf_counter()
    rival = error(A, B, backward(A.T @ A, A.T @ B, k))
    cells = f" {rival:9.4g} {time.perf_counter() - begun:6.2f}"
    for method in METHODS:
        begun = time.perf_counter()
        chosen = lm.select(A, k, target=B, method=method, scale=False).indices.tolist()
        seconds = time.perf_counter() - begun
        cells += f" {error(A, B, chosen) / rival:8.4f} {seconds:6.2f}"
    print(f"{name:14s} {kind:7s} {A.shape[1]:4d} {k:4d}{cells}", flush=True)


def fields(places: int = 400, modes: int = 10) -> np.ndarray:
    """200 random fields on a line, smooth, of ten modes that fall by half each."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, places)
    shapes = np.cos(np.pi * np.arange(modes)[:, None] * x) * 2.0 ** -np.arange(modes)[:, None]
    return rng.standard_normal((200, modes)) @ shapes / np.sqrt(200)


def measured() -> None:
    """Sensors with noise: chosen without noise in view, with it, and with several at one place."""
    X = fields()
    whole = float(np.sum(X * X)) / X.shape[1]
    print("\nnoise/variance    k  without   with  repeats   (mean posterior variance/variance)")
    for noise in (1e-6, 1e-4, 1e-2, 1.0):
        for k in (5, 10, 20):
            plain = lm.select(X, k, scale=False).indices
            start = lm.Swap(start=plain, max_swaps=0)
            blind = lm.select(X, k, noise=noise * whole, method=start, scale=False)
            seen = lm.select(X, k, noise=noise * whole, scale=False)
            again = lm.select(X, k, noise=noise * whole, repeats=True, scale=False)
            found = "".join(f" {s.relative_error():9.3g}" for s in (blind, seen, again))
            print(f"{noise:13g} {k:5d}{found}", flush=True)


def held_out(quick: bool) -> None:
    """The second half of the columns from the first, on rows left out: least squares and ridge."""
    print("\nheld out      k: least squares, with ridge          k by the rule, with ridge")
    for name, X in tables(quick):
        A, B = X[:, : X.shape[1] // 2], X[:, X.shape[1] // 2 :]
        ks = [k for k in (4, 20, 60) if k < A.shape[1]]
        plain, ridge = (lm.held_out(A, ks, target=B, ridge=ridge) for ridge in (None, "cv"))
        cells = "".join(
            f" {k:3d}: {a:.3f} {b:.3f}" for k, a, b in zip(ks, plain.mean, ridge.mean, strict=True)
        )
        rules = (lm.CrossValidated(), lm.CrossValidated(ridge="cv"))
        found = [lm.select(A, rule, target=B, method="greedy", scale=False).k for rule in rules]
        print(f"{name:13s}{cells:51s} {found[0]:5d} {found[1]:5d}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    warnings.simplefilter("ignore")
    quick = parser.parse_args().quick
    rebuilt(quick)
    measured()
    held_out(quick)
