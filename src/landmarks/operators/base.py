"""The operator: a positive semidefinite matrix K known by its products, which it counts."""

from __future__ import annotations

import abc
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from .._array import Array, Indices, Part, eps, is_single, on_gpu, take

if TYPE_CHECKING:
    from .sources import RowBlocks

MEMORY = 256 * 2**20  # bytes that a block of columns or a chunk of kernel values may take
STORED = 8 * MEMORY  # bytes up to which a search stores K: 2 GiB, n = 16 384 in float64
DENSE_MEMORY = 4 * 2**30  # bytes that a stored n × n matrix may take
COUNTED = ("products", "columns", "entries")  # of every run


@dataclass
class Ledger(threading.local):
    """What was used of an operator: vectors multiplied, columns read, entries read or evaluated.

    Each thread has its own counts, so runs in threads that share an operator do not mix them.

    in_single : the products among them that were taken in float32 for a search in float64.
    promoted : the searches in float64 of data in float32.
    """

    products: int = 0
    columns: int = 0
    entries: int = 0
    in_single: int = 0
    promoted: int = 0

    def __reduce__(self) -> tuple[type[Ledger], tuple[int, ...]]:
        return Ledger, tuple(asdict(self).values())

    def add(self, *, products: int = 0, columns: int = 0, entries: int = 0) -> None:
        """Count what was used."""
        self.products += products
        self.columns += columns
        self.entries += entries

    def snapshot(self) -> dict[str, int]:
        """The counts so far; those of precision only where there are any."""
        counts = asdict(self)
        return {name: counts[name] for name in counts if counts[name] or name in COUNTED}

    def since(self, before: dict[str, int]) -> dict[str, int]:
        """The counts since a snapshot."""
        return {name: count - before.get(name, 0) for name, count in self.snapshot().items()}


class Operator(abc.ABC):
    """A positive semidefinite n × n matrix K, up to a factor: it stands for 2**exponent · K.

    The factor keeps the squares and cubes of very large or very small data within range; a power
    of two changes no digit. Vectors have the library, device and dtype of `like`.
    """

    n: int
    like: Array
    ledger: Ledger
    exponent: int = 0
    names: tuple[str, ...] | None = None
    #: the original labels: strings, numbers, tuples or dates of a data frame
    labels: tuple[Any, ...] | None = None
    #: what costs far less than n products with K
    cheap: frozenset[str] = frozenset({"diagonal", "columns"})

    def __init__(self, n: int, like: Array, *, exponent: int = 0, ledger: Ledger | None = None):
        self.n, self.like, self.exponent = n, like, exponent
        self.ledger = ledger or Ledger()

    @abc.abstractmethod
    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        """The product K[rows, cols] @ block; all rows or columns when None."""

    @abc.abstractmethod
    def diagonal(self) -> Array:
        """The n diagonal entries."""

    @abc.abstractmethod
    def columns(self, indices: Indices) -> Array:
        """The n × len(indices) block of columns."""

    def restrict(self, indices: Indices) -> Operator:
        """The principal submatrix of the indices, with the same ledger."""
        return Restricted(self, indices)

    @property
    def digits(self) -> Array:
        """An array of the dtype that the entries were rounded to, which may be narrower."""
        return self.like

    @property
    def product_error(self) -> float:
        """A bound on the error of a product, relative to its Frobenius norm: the dtype's rounding.

        Operators whose products are less accurate than their dtype override this.
        """
        return eps(self.like)

    @property
    def m(self) -> int | None:
        """The rows of X when K = XᵀX is known by its factor X, else None."""
        return None

    def factor(self, indices: Indices | None = None) -> Array:
        """The columns of X when K = XᵀX is known by its factor."""
        raise TypeError(f"{type(self).__name__} has no factor X with K = XᵀX")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, dtype={self.like.dtype})"


class Derived(Operator):
    """A matrix of order n through the products of another one, its parent."""

    def __init__(self, parent: Operator, n: int):
        super().__init__(n, parent.like, exponent=parent.exponent, ledger=parent.ledger)
        self.parent, self.cheap = parent, parent.cheap

    @property
    def digits(self) -> Array:
        return self.parent.digits

    @property
    def product_error(self) -> float:
        return self.parent.product_error


class Restricted(Derived):
    """K[indices, indices] through the products of K (Lemma 3.3 uses it)."""

    def __init__(self, parent: Operator, indices: Indices):
        self.indices = np.asarray(indices)
        super().__init__(parent, len(self.indices))

    def _inside(self, indices: Indices | None) -> np.ndarray:
        return self.indices if indices is None else self.indices[np.asarray(indices)]

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        return self.parent.matmul(block, rows=self._inside(rows), cols=self._inside(cols))

    def diagonal(self) -> Array:
        return take(self.parent.diagonal(), self.indices)

    def columns(self, indices: Indices) -> Array:
        return take(self.parent.columns(self._inside(indices)), self.indices)

    def restrict(self, indices: Indices) -> Restricted:
        return Restricted(self.parent, self._inside(indices))


# What some classes of operators answer otherwise than the rest. An operator outside the package
# registers its own answer with `validate.register` and so on, and needs none of them.


@singledispatch
def validate(operator: Operator) -> None:
    """Raise an error if the matrix is not what it should be; `select` asks once."""


@singledispatch
def warn_about(operator: Operator, indices: np.ndarray) -> None:
    """Warn if the matrix is such that no choice is better than any other."""


@singledispatch
def determining(operator: Operator) -> tuple[Any, ...]:
    """What determines the matrix: arrays, kernels, numbers. Nothing if only its products do."""
    return ()


@singledispatch
def points_of(operator: Operator) -> Array | None:
    """The points of a kernel matrix, one per row; None for other matrices."""
    return None


@singledispatch
def source_of(operator: Operator) -> RowBlocks | None:
    """The rows of X, when K = XᵀX and they can be read again in blocks; else None."""
    return None


@singledispatch
def new_rows(operator: Operator, points: Array, indices: Indices) -> Array:
    """The kernel values h(x, x_j) of new points x with the points at the indices."""
    raise TypeError(
        f"new points need a kernel operator, made by kernel(points, h); this is {operator!r}"
    )


@singledispatch
def tiles_of_columns(operator: Operator, indices: Indices) -> Iterator[tuple[slice, slice, Array]]:
    """The columns of K at the indices in tiles that fit in the memory: rows, places, values.

    These are all rows of some columns; of a kernel all columns of some rows.
    """
    indices = np.asarray(indices, dtype=np.int64)
    for part in blocks(len(indices), block_width(operator, MEMORY)):
        yield slice(None), slice(int(part[0]), int(part[-1]) + 1), operator.columns(indices[part])


@singledispatch
def stored_up_to(operator: Operator) -> int:
    """The bytes up to which a search stores a K whose entries are evaluated each time; 0: never."""
    return 0


@singledispatch
def keeping(operator: Operator, memory: int) -> Operator:
    """The same matrix, whose products keep the entries that fit in so many bytes, if it can."""
    return operator


@singledispatch
def remade_in_double(operator: Operator) -> Operator | None:
    """The operator of the same data in float64; None if it is not made from data."""
    return None


@singledispatch
def in_single(operator: Operator) -> Operator | None:
    """The same matrix in float32, where its products cost far less; else None."""
    return None


@singledispatch
def product_seconds(operator: Operator) -> float:
    """An estimate of the seconds that one product takes (benchmarks/scale_model.py)."""
    gpu = on_gpu(operator.like)
    if operator.m is not None:
        return operator.m * operator.n * (4e-12 if gpu else 1e-9)
    return operator.n**2 * (1e-12 if gpu else 1.5e-9)


@singledispatch
def on_workers(operator: Operator) -> bool:
    """Whether products are computed by the workers of a cluster, not in this process."""
    return False


@singledispatch
def in_parts(operator: Operator) -> Any:
    """The operator itself if workers of a cluster keep what has length n in parts; else None."""
    return None


@singledispatch
def faster_squares(operator: Operator) -> Array | None:
    """The diagonal of K² where there is a faster way than to read all columns, else None."""
    return None


@singledispatch
def squared_columns(operator: Operator, block: np.ndarray, columns: Array) -> Array:
    """The columns of K² at a block of indices, given those of K."""
    return operator.matmul(columns)


def blocks(n: int, width: int) -> Iterator[np.ndarray]:
    """The indices 0 … n−1 in consecutive blocks."""
    for start in range(0, n, max(1, width)):
        yield np.arange(start, min(n, start + max(1, width)))


def block_width(operator: Operator, memory: int = MEMORY // 8) -> int:
    """How many columns of K fit in the memory."""
    return max(1, min(operator.n, memory // (operator.n * itemsize(operator.like))))


def itemsize(array: Array) -> int:
    """Bytes per entry."""
    return 4 if is_single(array) else 8
