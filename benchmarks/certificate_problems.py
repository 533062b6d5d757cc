"""The problems of the tables of certified gaps: columns and Gaussian kernels of real data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import landmarks as lm
from paper.data import standardised

SHORT, LONG = 60.0, 300.0  # seconds up to 400 columns, and above


class Named(NamedTuple):
    """A problem: how to make it, how many columns to choose, and the seconds for a certificate."""

    name: str
    make: Callable[[], Any]
    k: int
    seconds: float = SHORT


def standard(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1, without the constant ones."""
    X = np.asarray(X, dtype=np.float64)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def columns(name: str) -> Callable[[], Any]:
    """The columns of a data set."""
    return lambda: lm.data(standardised(name))


def rows(name: str, sigma: float, n: int | None = None) -> Callable[[], Any]:
    """A Gaussian kernel on the first n rows of a data set."""
    return lambda: lm.kernel(standardised(name)[:n], lm.rbf(sigma=sigma))


def embedded(load: Callable[[], Any]) -> Callable[[], Any]:
    """The columns of a data set of scikit-learn."""
    return lambda: lm.data(standard(load().data))


def points(load: Callable[[], Any], sigma: float, n: int) -> Callable[[], Any]:
    """A Gaussian kernel on the first n rows of a data set of scikit-learn."""
    return lambda: lm.kernel(standard(load().data)[:n], lm.rbf(sigma=sigma))


KNOWN = [
    Named("residential rows σ=1", rows("residential", 1.0), 20),
    Named("residential rows σ=1", rows("residential", 1.0), 80),
    Named("residential rows σ=5", rows("residential", 5.0), 20),
    Named("residential rows σ=5", rows("residential", 5.0), 80),
    Named("digits columns", embedded(load_digits), 5),
    Named("digits columns", embedded(load_digits), 10),
    Named("digits columns", embedded(load_digits), 20),
    Named("wine columns", embedded(load_wine), 10),
    Named("cancer columns", embedded(load_breast_cancer), 5),
    Named("cancer columns", embedded(load_breast_cancer), 10),
    Named("mnist1k rows σ=20", rows("mnist1k", 20.0), 50, LONG),
]
UNSEEN = [
    Named("residential columns", columns("residential"), 10),
    Named("residential columns", columns("residential"), 20),
    Named("arrhythmia columns", columns("arrhythmia"), 20),
    Named("arrhythmia columns", columns("arrhythmia"), 50),
    Named("secom rows σ=20, 300", rows("secom", 20.0, 300), 30),
    Named("arrhythmia rows σ=10, 300", rows("arrhythmia", 10.0, 300), 40),
    Named("powerplant rows σ=0.5, 300", rows("powerplant", 0.5, 300), 30),
    Named("htru2 rows σ=1, 250", rows("htru2", 1.0, 250), 25),
    Named("protein rows σ=1, 300", rows("protein", 1.0, 300), 50),
    Named("protein rows σ=2, 200", rows("protein", 2.0, 200), 20),
    Named("wine rows σ=2", points(load_wine, 2.0, 178), 30),
    Named("iris rows σ=0.5", points(load_iris, 0.5, 100), 15),
    Named("diabetes rows σ=2, 150", points(load_diabetes, 2.0, 150), 30),
    Named("cancer rows σ=3, 120", points(load_breast_cancer, 3.0, 120), 20),
    Named("digits rows σ=6, 200", points(load_digits, 6.0, 200), 40),
    Named("wine columns", embedded(load_wine), 5),
    Named("secom rows σ=20, 1000", rows("secom", 20.0, 1000), 50, LONG),
    Named("protein rows σ=1, 1000", rows("protein", 1.0, 1000), 100, LONG),
]
CELLS = [
    *[(f"{name} columns", columns(name)) for name in ("residential", "arrhythmia")],
    ("digits columns", embedded(load_digits)),
    *[(f"residential rows σ={sigma:g}", rows("residential", sigma)) for sigma in (1, 5, 10)],
]
PAPER = [Named(name, make, k) for name, make in CELLS for k in (5, 20, 60)]
EXACT = [
    *[("wine", embedded(load_wine), k) for k in (2, 3, 4, 5, 6, 7, 8, 9, 10)],
    *[("cancer", embedded(load_breast_cancer), k) for k in (2, 3, 4, 5, 6, 7, 8, 9, 10)],
    *[("diabetes", embedded(load_diabetes), k) for k in (3, 5, 7)],
    *[("digits", embedded(load_digits), k) for k in (2, 3, 4, 5)],
    *[("residential", columns("residential"), k) for k in (2, 3, 4)],
    *[("arrhythmia", columns("arrhythmia"), k) for k in (2, 3)],
]


def part_of(problems: list[Named], number: int, parts: int) -> list[Named]:
    """One of so many parts that take about as long; number counts from 1."""
    loads: list[list[Named]] = [[] for _ in range(parts)]
    for problem in sorted(problems, key=lambda p: -p.seconds):
        min(loads, key=lambda load: sum(p.seconds for p in load)).append(problem)
    return loads[number - 1]
