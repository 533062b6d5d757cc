"""Every operator with the dense matrix it stands for; one line here adds all contract tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import scipy.special
from libraries import LIBRARIES
from scipy.spatial.distance import cdist

import landmarks as lm
from landmarks.operators.base import Operator

NUMPY = ("numpy",)  # storage without a library of its own has NumPy vectors


@dataclass(frozen=True, eq=False)
class Case:
    """values : what a user holds; make : its operator; dense : the matrix, by independent means."""

    name: str
    values: np.ndarray
    make: Callable[[Any], Operator]
    dense: Callable[[np.ndarray], np.ndarray]
    libraries: tuple[str, ...] = tuple(LIBRARIES)

    def __repr__(self) -> str:
        return self.name


def normal(m: int, n: int) -> np.ndarray:
    """Numbers that are the same in every run."""
    return np.random.default_rng(m + 100 * n).standard_normal((m, n))


def thin(m: int, n: int) -> np.ndarray:
    """The same with three of four entries zero."""
    return np.where(np.add.outer(np.arange(m), np.arange(n)) % 4 == 1, normal(m, n), 0.0)


def single(values: np.ndarray) -> np.ndarray:
    """Numbers that float32 holds exactly, so that both dtypes have the same Gram matrix."""
    return values.astype(np.float32).astype(np.float64)


def gram(X: np.ndarray) -> np.ndarray:
    return X.T @ X


def same(K: np.ndarray) -> np.ndarray:
    return K


def matern(nu: float, sigma: float) -> Callable[[np.ndarray], np.ndarray]:
    """The general formula with the Bessel function, which the package does not use."""

    def dense(x: np.ndarray) -> np.ndarray:
        r = np.sqrt(2 * nu) * cdist(x, x) / sigma + np.eye(len(x))
        values = 2 ** (1 - nu) / scipy.special.gamma(nu) * r**nu * scipy.special.kv(nu, r)
        return np.where(np.eye(len(x)) > 0, 1.0, values)

    return dense


def in_chunks(x: Any) -> Operator:
    """A kernel matrix that the operator thinks too large to store, three rows at a time."""
    operator = lm.kernel(x, lm.rbf(sigma=2.0))
    operator.stored, operator._chunk = None, 3 * 14 * 8
    return operator


def as_dask(values: np.ndarray) -> Any:
    """A dask array in chunks that fit nothing; where dask is not installed the test is skipped."""
    return pytest.importorskip("dask.array", reason="needs dask").from_array(values, chunks=(4, 3))


POINTS = normal(14, 3)
GRAM = gram(normal(9, 14))

CASES = [
    Case("psd", GRAM, lm.psd, same),
    Case("data tall", normal(30, 14), lm.data, gram),
    Case("data wide", normal(5, 14), lm.data, gram),
    Case("data one row", normal(1, 14), lm.data, gram),
    Case("data in blocks", single(normal(30, 14)), lambda X: lm.data([X[:7], X[7:]]), gram, NUMPY),
    Case(
        "data by passes",
        single(normal(30, 14)),
        lambda X: lm.data([X[:7], X[7:]], memory=2000),
        gram,
        NUMPY,
    ),
    Case("csc", thin(9, 14), lambda X: lm.data(scipy.sparse.csc_array(X)), gram, NUMPY),
    Case("csr", thin(60, 14), lambda X: lm.data(scipy.sparse.csr_array(X)), gram, NUMPY),
    Case(
        "rbf",
        POINTS,
        lambda x: lm.kernel(x, lm.rbf(sigma=2.0)),
        lambda x: np.exp(-(cdist(x, x) ** 2) / 4),
    ),
    Case("rbf in chunks", POINTS, in_chunks, lambda x: np.exp(-(cdist(x, x) ** 2) / 4)),
    Case(
        "laplacian",
        POINTS,
        lambda x: lm.kernel(x, lm.laplacian(sigma=2.0)),
        lambda x: np.exp(-cdist(x, x, "cityblock") / 2),
    ),
    Case(
        "matern 1/2", POINTS, lambda x: lm.kernel(x, lm.matern(nu=0.5, sigma=2.0)), matern(0.5, 2.0)
    ),
    Case(
        "matern 3/2", POINTS, lambda x: lm.kernel(x, lm.matern(nu=1.5, sigma=2.0)), matern(1.5, 2.0)
    ),
    Case(
        "matern 5/2", POINTS, lambda x: lm.kernel(x, lm.matern(nu=2.5, sigma=2.0)), matern(2.5, 2.0)
    ),
    Case(
        "rbf, a width for each coordinate",
        POINTS,
        lambda x: lm.kernel(x, lm.rbf(sigma=[1.0, 2.0, 4.0])),
        lambda x: np.exp(-(cdist(x / [1.0, 2.0, 4.0], x / [1.0, 2.0, 4.0]) ** 2)),
    ),
    Case(
        "laplacian, a width for each coordinate",
        POINTS,
        lambda x: lm.kernel(x, lm.laplacian(sigma=[1.0, 2.0, 4.0])),
        lambda x: np.exp(-cdist(x / [1.0, 2.0, 4.0], x / [1.0, 2.0, 4.0], "cityblock")),
    ),
    Case(
        "polynomial",
        POINTS,
        lambda x: lm.kernel(x, lm.polynomial(degree=2, gamma=0.5)),
        lambda x: (x @ x.T / 2 + 1) ** 2,
    ),
    Case("linear", POINTS, lambda x: lm.kernel(x, lm.linear()), lambda x: x @ x.T),
    Case(
        "callable",
        POINTS,
        lambda x: lm.kernel(x, lambda a, b: (a @ b.T) ** 2),
        lambda x: (x @ x.T) ** 2,
    ),
    Case("function", GRAM, lambda K: lm.function(lambda V: K @ V, n=14, like=K), same),
    Case(
        "function, diagonal known",
        GRAM,
        lambda K: lm.function(lambda V: K @ V, n=14, like=K, diagonal=np.diag(GRAM)),
        same,
    ),
    Case(
        "LinearOperator",
        GRAM,
        lambda K: lm.function(scipy.sparse.linalg.aslinearoperator(K)),
        same,
        NUMPY,
    ),
    Case("dask tall", single(normal(30, 14)), lambda X: lm.data(as_dask(X)), gram, NUMPY),
    Case("dask wide", normal(5, 14), lambda X: lm.data(as_dask(X)), gram, NUMPY),
    Case(
        "dask kernel",
        POINTS,
        lambda x: lm.kernel(as_dask(x), lm.rbf(sigma=2.0)),
        lambda x: np.exp(-(cdist(x, x) ** 2) / 4),
        NUMPY,
    ),
    Case(
        "dask kernel on torch",
        POINTS,
        lambda x: lm.kernel(as_dask(x), lm.rbf(sigma=2.0), device="cpu"),
        lambda x: np.exp(-(cdist(x, x) ** 2) / 4),
        NUMPY,
    ),
    Case(
        "dask callable",
        POINTS,
        lambda x: lm.kernel(as_dask(x), lambda a, b: (a @ b.T) ** 2),
        lambda x: (x @ x.T) ** 2,
        NUMPY,
    ),
    Case("toeplitz", 0.7 ** np.arange(14.0), lm.toeplitz, scipy.linalg.toeplitz),
    Case("hadamard", normal(2, 14), lm.hadamard, lambda A: gram(A) ** 2),
    Case(
        "hadamard of two",
        normal(9, 14),
        lambda A: lm.hadamard(A[:4, :], A[4:, :]),
        lambda A: gram(A[:4]) * gram(A[4:]),
    ),
]

PART = [11, 2, 7, 3, 13, 0]


def restriction(case: Case) -> Case:
    """The same operator on some of its candidates only."""
    return Case(
        f"{case.name}, restricted",
        case.values,
        lambda values: case.make(values).restrict(PART),
        lambda values: case.dense(values)[np.ix_(PART, PART)],
        case.libraries,
    )


CLASSES = (
    "psd",
    "data tall",
    "data wide",
    "data by passes",
    "dask wide",
    "dask kernel",
    "csc",
    "csr",
    "rbf",
    "callable",
    "function",
    "function, diagonal known",
    "toeplitz",
    "hadamard of two",
)
# They become another case when they are made, or differ from one by a formula alone: what they
# stand for is tested, and the rest of the contract is tested on the other.
SPELLINGS = (
    "laplacian",
    "matern 1/2",
    "matern 3/2",
    "matern 5/2",
    "polynomial",
    "linear",
    "dask callable",
)
KINDS = [case for case in CASES if case.name not in SPELLINGS]
OPERATORS = KINDS + [restriction(case) for case in CASES if case.name in CLASSES]
