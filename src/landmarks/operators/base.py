"""The operator: a positive semidefinite matrix known by what can be done with it, and the ledger of what was done."""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .._array import Array, Indices, eps, like, namespace
from ..errors import Stopped
from ..runs.journal import Loop, Variables, shared

if TYPE_CHECKING:
    from .rows.base import RowBlocks

MEMORY = 256 * 2**20  # bytes that a block of columns or a chunk of kernel values may take
DENSE_MEMORY = 4 * 2**30  # bytes that a stored n × n matrix may take


@dataclass
class Ledger(threading.local):
    """What was used of an operator: vectors multiplied, columns read, entries read or evaluated.

    Every thread has counts of its own, so that runs that share an operator do not mix theirs.
    """

    products: int = 0
    columns: int = 0
    entries: int = 0

    def __reduce__(self) -> tuple[type[Ledger], tuple[int, int, int]]:
        return Ledger, (self.products, self.columns, self.entries)

    def add(self, *, products: int = 0, columns: int = 0, entries: int = 0) -> None:
        """Count some use."""
        self.products += products
        self.columns += columns
        self.entries += entries

    def snapshot(self) -> dict[str, int]:
        """The counts so far."""
        return asdict(self)

    def since(self, before: dict[str, int]) -> dict[str, int]:
        """The counts since a snapshot."""
        return {name: count - before[name] for name, count in self.snapshot().items()}


class Operator(abc.ABC):
    """A positive semidefinite n × n matrix K, up to a factor: the matrix meant is 2**exponent · K.

    The factor keeps the squares and cubes of very large or very small data within range; being a power of
    two it changes no digit. Vectors have the library, device and dtype of `like`.
    """

    n: int
    like: Array
    ledger: Ledger
    exponent: int = 0
    names: tuple[str, ...] | None = None
    #: the names as they came: strings, numbers, tuples or dates of a data frame
    labels: tuple[Any, ...] | None = None
    #: the rows of X, when K = XᵀX and they can be read again in blocks
    source: RowBlocks | None = None
    #: whether the n × n entries are in memory
    in_memory: bool = False
    #: the same matrix with fewer digits, where its products cost far less
    rough: Operator | None = None
    #: what costs far less than n products with K
    cheap: frozenset[str] = frozenset({"diagonal", "columns"})

    @abc.abstractmethod
    def matmul(
        self, block: Array, rows: Indices | None = None, cols: Indices | None = None
    ) -> Array:
        """The product K[rows, cols] @ block; all rows or columns when None."""

    @abc.abstractmethod
    def diagonal(self) -> Array:
        """The n diagonal entries."""

    @abc.abstractmethod
    def columns(self, indices: Indices) -> Array:
        """The n × len(indices) block of columns."""

    @abc.abstractmethod
    def restrict(self, indices: Indices) -> Operator:
        """The principal submatrix of the indices, with the same ledger."""

    @property
    def digits(self) -> Array:
        """An array of the dtype that the entries were rounded to, where that is not the dtype they are kept in."""
        return self.like

    @property
    def product_error(self) -> float:
        """What a product may be off by, relative to its Frobenius norm: the rounding of the dtype.

        An operator whose products are less exact than its numbers says so here.
        """
        return eps(self.like)

    @property
    def m(self) -> int | None:
        """The rows of X when K = XᵀX is known by its factor X, else None."""
        return None

    def factor(self, indices: Indices | None = None) -> Array:
        """The columns of X when K = XᵀX is known by its factor."""
        raise TypeError(f"{type(self).__name__} is not known by a factor X with K = XᵀX")

    def new_rows(self, points: Array, indices: Indices) -> Array:
        """The values h(x, x_j) of new points x with the points at the indices, when K is a kernel matrix."""
        raise TypeError(
            f"new points need a kernel operator, made by kernel(points, h); this is {self!r}"
        )

    def product_seconds(self) -> float | None:
        """An estimate of the seconds of one product, by an operator that knows more of it than its kind and order tell."""
        return None

    def squared_diagonal(self) -> Array | None:
        """The diagonal of K² where there is a faster way than to read all columns, else None."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, dtype={self.like.dtype})"


def blocks(n: int, width: int) -> Iterator[np.ndarray]:
    """The indices 0 … n−1 in consecutive blocks."""
    for start in range(0, n, max(1, width)):
        yield np.arange(start, min(n, start + max(1, width)))


def block_width(operator: Operator, memory: int = MEMORY // 8) -> int:
    """How many columns of K fit in the memory."""
    return max(1, min(operator.n, memory // (operator.n * itemsize(operator.like))))


def itemsize(array: Array) -> int:
    """Bytes per entry."""
    return 4 if eps(array) > 1e-10 else 8


def storable(operator: Operator, memory: int = DENSE_MEMORY) -> bool:
    """Whether the n × n matrix fits in the memory."""
    return operator.n**2 * itemsize(operator.like) <= memory


def densify(operator: Operator) -> Array:
    """The whole n × n matrix, when it fits."""
    if not storable(operator):
        need = operator.n**2 * itemsize(operator.like)
        raise MemoryError(
            f"storing K needs {need / 2**30:.1f} GiB, above the limit of {DENSE_MEMORY / 2**30:.0f} GiB; "
            "use a method that works on products: auto, greedy, swap, continuous, nuclear or rpcholesky"
        )
    return operator.columns(np.arange(operator.n))


_diagonals: WeakKeyDictionary[Operator, dict[str, Array]] = WeakKeyDictionary()


def squared_diagonal(operator: Operator) -> Array:
    """The diagonal of K², the squared norms of the columns: one pass over K, remembered as long as the operator lives."""
    return _remembered(operator, "squares", {"squares": lambda columns: columns})


def cubed_diagonal(operator: Operator) -> Array:
    """The diagonal of K³: a product with every column, remembered as long as the operator lives; it gives K²'s as well."""
    return _remembered(
        operator, "cubes", {"squares": lambda columns: columns, "cubes": operator.matmul}
    )


def _remembered(
    operator: Operator, wanted: str, images: dict[str, Callable[[Array], Array]]
) -> Array:
    """One of the diagonals, from memory, from the journal of the run, or from a pass."""
    known = _diagonals.setdefault(operator, {})

    def diagonals() -> dict[str, Array]:
        direct = (
            operator.squared_diagonal() if wanted == "squares" and wanted not in known else None
        )
        fresh = (
            {wanted: direct}
            if direct is not None
            else {}
            if wanted in known
            else _pass(operator, images)
        )
        return known | fresh

    known |= shared(
        f"{wanted} of {type(operator).__name__} {operator.n} {operator.like.dtype}",
        operator.ledger,
        diagonals,
    )
    return known[wanted]


def _pass(operator: Operator, images: dict[str, Callable[[Array], Array]]) -> dict[str, Array]:
    """The inner products of the columns of K with their images, from one pass in blocks of columns."""
    xp, v = (
        namespace(operator.like),
        Variables(done=0, diagonals={name: operator.like for name in images}),
    )
    width = block_width(operator)
    with Loop("reading", v) as loop:
        while v.done < operator.n:
            columns = operator.columns(np.arange(v.done, min(operator.n, v.done + width)))
            products = {
                name: xp.sum(columns * image(columns), axis=0) for name, image in images.items()
            }
            v.diagonals = {
                name: xp.concat([v.diagonals[name], part]) for name, part in products.items()
            }
            v.done += columns.shape[1]
            if loop.turn(v.done, operator.n) and v.done < operator.n:
                raise Stopped(
                    "the run was stopped while it read the matrix, before there was a choice"
                )
    return v.diagonals


def unit_vectors(indices: Indices, operator: Operator) -> Array:
    """The columns of the identity at the indices."""
    indices = np.asarray(indices)
    vectors = np.zeros((operator.n, len(indices)))
    vectors[indices, np.arange(len(indices))] = 1.0
    return like(vectors, operator.like)


def check_indices(indices: Any, n: int) -> np.ndarray:
    """The indices as distinct host integers from 0 to n − 1."""
    array = np.atleast_1d(np.asarray(indices))
    if array.size == 0:
        return array.astype(np.int64).reshape(0)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"indices must be a list of integers, got {array.dtype} of shape {array.shape}"
        )
    array = array.astype(np.int64)
    if array.min() < 0 or array.max() >= n:
        raise ValueError(f"indices must be from 0 to {n - 1}, got {array.min()} … {array.max()}")
    if len(np.unique(array)) < len(array):
        raise ValueError("indices must be distinct")
    return array
