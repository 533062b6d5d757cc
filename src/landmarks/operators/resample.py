"""A bootstrap sample of the rows of data, or of the points of a kernel."""

from functools import singledispatch
from typing import NamedTuple

import numpy as np
import scipy

from .._array import Indices, like, take
from ..errors import UnsupportedError
from .base import Operator
from .dense import Data
from .kernel_matrix import KernelOperator
from .sparse import Sparse


class Sample(NamedTuple):
    """The operator of a sample, and for each of its candidates the index in the original."""

    operator: Operator
    indices: np.ndarray


@singledispatch
def resample(operator: Operator, rng: np.random.Generator, keep: Indices = ()) -> Sample:
    """Draw a bootstrap sample of the rows or points, with replacement.

    The candidates come in random order, so that ties fall both ways.

    keep : candidates that the sample must hold.
    """
    raise UnsupportedError(
        "a bootstrap needs the rows of data or the points of a kernel to draw from, and "
        f"{operator!r} has neither; give X itself, or kernel(points, h)"
    )


@resample.register
def rows_of_data(operator: Data, rng: np.random.Generator, keep: Indices = ()) -> Sample:
    """Rows of X; one that is drawn c times is kept once, times √c."""
    rows, counts = _drawn(operator.m, rng)
    X = take(operator.X, rows) * like(np.sqrt(counts), operator.like)[:, None]
    return _shuffled(Data(X, exponent=operator.exponent), rng)


@resample.register
def rows_of_sparse(operator: Sparse, rng: np.random.Generator, keep: Indices = ()) -> Sample:
    """The same for a sparse X."""
    rows, counts = _drawn(operator.m, rng)
    X = scipy.sparse.diags_array(np.sqrt(counts)) @ operator.X.tocsr()[rows]
    return _shuffled(
        Sparse(scipy.sparse.csc_array(X, dtype=operator.X.dtype), exponent=operator.exponent), rng
    )


@resample.register
def points_of_kernel(
    operator: KernelOperator, rng: np.random.Generator, keep: Indices = ()
) -> Sample:
    """Points, which are both the candidates and what is represented; those to keep come first."""
    first = np.asarray(keep, dtype=np.int64)
    indices = np.concatenate([first, rng.integers(operator.n, size=operator.n - len(first))])
    return Sample(operator.restrict(indices), indices)


def _drawn(m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which of m rows were drawn, and how often."""
    return np.unique(rng.integers(m, size=m), return_counts=True)


def _shuffled(operator: Operator, rng: np.random.Generator) -> Sample:
    order = rng.permutation(operator.n)
    return Sample(operator.restrict(order), order)
