"""What the properties are tried on: matrices of every kind and scale, in every form."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from contract.reference import Reference
from contracts.methods import CONTRACT, Entry
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import landmarks as lm

EXAMPLES = int(
    os.environ.get("LANDMARKS_EXAMPLES", "0")
)  # of each property; the usual run tries few, the same ones each time


def tried(usual: int) -> settings:
    """How many examples a property is tried on: `usual`, or LANDMARKS_EXAMPLES random ones."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=EXAMPLES or usual,
        derandomize=not EXAMPLES,
        deadline=None,
        suppress_health_check=quiet,
        print_blob=True,
    )


@dataclass(frozen=True, eq=False)
class Sample:
    """A matrix X whose columns are the candidates, and the power of two that its units are.

    kind : how X was made. X itself is of ordinary size; `scaled` is what a user holds.
    """

    kind: str
    X: np.ndarray
    power: int

    @property
    def scaled(self) -> np.ndarray:
        return np.ldexp(self.X, self.power).astype(self.X.dtype)

    def __repr__(self) -> str:
        return (
            f"Sample({self.kind}, power={self.power}, X=np.array({self.X.tolist()}, "
            f"dtype=np.{self.X.dtype}))"
        )


def normal(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """Normal numbers on a grid of 2⁻²⁰, so that powers of two up to 2^±1000 change no digit."""
    return np.round(np.ldexp(rng.standard_normal((m, n)), 20)) / 2**20


def low_rank(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """A product of small whole numbers, whose rank is exact."""
    r = int(rng.integers(1, min(m, n) + 1))
    return (rng.integers(-4, 5, (m, r)) @ rng.integers(-4, 5, (r, n))).astype(np.float64)


def duplicates(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    X = normal(rng, m, n)
    return X[:, rng.integers(0, n, n)]


def opposites(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """Multiples of few columns, with signs and powers of two."""
    return duplicates(rng, m, n) * rng.choice([-2.0, -1.0, 0.5, 4.0], n)


def collinear(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """Duplicates that differ by a little."""
    return duplicates(rng, m, n) + 10.0 ** -rng.integers(4, 16) * rng.standard_normal((m, n))


def zeros(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    return normal(rng, m, n) * rng.integers(0, 2, n)


def graded(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """Columns of very different size."""
    return normal(rng, m, n) * 2.0 ** rng.integers(-30, 31, n)


def constant(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    return np.broadcast_to(rng.integers(-3, 4, n).astype(np.float64), (m, n)).copy()


def signs(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """Entries −1, 0 and 1, where most choices tie."""
    return rng.integers(-1, 2, (m, n)).astype(np.float64)


KINDS = {
    maker.__name__: maker
    for maker in (
        normal,
        low_rank,
        duplicates,
        opposites,
        collinear,
        zeros,
        graded,
        constant,
        signs,
    )
}


@st.composite
def samples(
    draw: Any, kinds: tuple[str, ...] = tuple(KINDS), wide: bool = True, single: bool = True
) -> Sample:
    """Matrices of up to 9 columns."""
    kind = draw(st.sampled_from(kinds))
    n = draw(st.integers(1 if wide else 3, 9))
    m = draw(st.integers(1, 12) if wide else st.integers(n + 1, 14))
    X = KINDS[kind](np.random.default_rng(draw(st.integers(0, 2**32 - 1))), m, n)
    dtype = draw(st.sampled_from([np.float64, np.float32] if single else [np.float64]))
    top = 60 if dtype == np.float32 else 950
    power = draw(st.sampled_from([0, 0, 0, 1, -1, 30, -30, top, -top]) | st.integers(-top, top))
    return Sample(kind, X.astype(dtype), power)


@dataclass(frozen=True, eq=False)
class Form:
    """A way in which a user holds the matrix.

    make : the operator.
    matrix : K, up to a factor; None where the operator knows X itself.
    """

    name: str
    make: Callable[[Sample], Any]
    matrix: Callable[[Sample], np.ndarray] | None = None

    def reference(self, sample: Sample, criterion: str) -> Reference:
        """The exact errors."""
        if self.matrix is None:
            return Reference(X=sample.X, criterion=criterion)
        return Reference(K=self.matrix(sample), criterion=criterion)

    def __repr__(self) -> str:
        return self.name


def even(power: int) -> int:
    """The units of K are squares, so that roots in algorithms stay exact."""
    return power // 2 * 2


def gram(sample: Sample) -> np.ndarray:
    """K = XᵀX as stored: rounded, and exactly symmetric."""
    X = sample.X.astype(np.float64)
    return np.ldexp(X.T @ X, even(sample.power)).astype(sample.X.dtype)


def points(sample: Sample) -> np.ndarray:
    """The columns as points within a few widths of a kernel of σ = 2."""
    return np.ldexp(sample.X, 2 - int(np.frexp(np.max(np.abs(sample.X)))[1]))


def rbf_values(sample: Sample) -> np.ndarray:
    x = points(sample).astype(np.float64)
    return np.exp(-((x[:, :, None] - x[:, None, :]) ** 2).sum(axis=0) / 4)


def rbf(sample: Sample) -> Any:
    x = np.ldexp(points(sample).T, sample.power).astype(sample.X.dtype)
    return lm.kernel(x, lm.rbf(sigma=2.0 ** (sample.power + 1)))


def in_chunks(sample: Sample) -> Any:
    operator = rbf(sample)
    operator.stored, operator._chunk = None, 2 * operator.n * 8
    return operator


def correlations(sample: Sample) -> np.ndarray:
    """The first column of a Toeplitz matrix that is positive definite."""
    rho = 0.9 * abs(np.tanh(float(sample.X[0, 0])))
    return np.ldexp(rho ** np.arange(float(sample.X.shape[1])), even(sample.power)).astype(
        sample.X.dtype
    )


def function(sample: Sample) -> Any:
    K = gram(sample)
    return lm.function(lambda V: K @ V, n=len(K), like=K)


FORMS = [
    Form("data", lambda sample: lm.data(sample.scaled, scale=False)),
    Form("sparse", lambda sample: lm.data(scipy.sparse.csc_array(sample.scaled), scale=False)),
    Form("psd", lambda sample: lm.psd(gram(sample)), gram),
    Form("function", function, gram),
    Form("rbf", rbf, rbf_values),
    Form("rbf in chunks", in_chunks, rbf_values),
    Form(
        "toeplitz",
        lambda sample: lm.toeplitz(correlations(sample)),
        lambda sample: scipy.linalg.toeplitz(correlations(sample)),
    ),
]


def forms_of(entry: Entry) -> list[Form]:
    """The forms that a method can serve."""
    return [form for form in FORMS if entry.serves is None or form.name.startswith("rbf")]


DETERMINISTIC = [entry for entry in CONTRACT if entry.deterministic]
