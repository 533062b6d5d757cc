"""K in other forms: in float64, stored, or as a factor of few columns where its rank is low.

A search works on the form whose residuals stay accurate (`searchable`). All forms are in
float64; float32 points convert exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from weakref import WeakSet

import numpy as np

from .._array import (
    Array,
    column_dots,
    double,
    eps,
    free_memory,
    host,
    is_single,
    like,
    on_gpu,
    represented,
    rounded_before,
    take,
    transposed,
)
from .._remembered import Remembered
from ..errors import UnsupportedError, warn_user
from .base import (
    DENSE_MEMORY,
    MEMORY,
    Operator,
    itemsize,
    keeping,
    product_seconds,
    remade_in_double,
    stored_up_to,
)
from .dense import Data, Dense, Gram
from .diagonals import squares_known
from .pivoted_factor import FLOOR, lapack_pivots, pivoted_factor

FAST = 1e-6  # relative to tr K, after k pivots: below it a stored K has lost half of its digits
FEW_ROWS = 4  # a factor of K has at most n/4 columns
LOW_RANK = 600  # most columns of a factor of a large K; of a search 2k + 100 if that is more
SMALL = 1500  # candidates up to which a factor of full rank is affordable


def storable(operator: Operator, memory: int = DENSE_MEMORY) -> bool:
    """Whether the n × n matrix fits in the memory."""
    return operator.n**2 * itemsize(operator.like) <= memory


def densify(operator: Operator) -> Array:
    """The full n × n matrix, when it fits."""
    if not storable(operator):
        need = operator.n**2 * itemsize(operator.like)
        raise MemoryError(
            f"storing K needs {need / 2**30:.1f} GiB, above the limit of "
            f"{DENSE_MEMORY / 2**30:.0f} GiB; use a method that works on products: auto, greedy, "
            "swap, continuous, nuclear or rpcholesky"
        )
    return operator.columns(np.arange(operator.n))


def in_double(operator: Operator) -> Operator:
    """The operator in float64, made again from its data if possible, else from its entries.

    The `digits` of the result give the precision of its entries.
    """
    if not is_single(operator.like):
        return operator
    remade = remade_in_double(operator)
    if remade is not None:
        return remade
    if not storable(operator, DENSE_MEMORY // 8):
        raise UnsupportedError(
            f"{operator!r} is in float32, which is not accurate enough here, and it is too large "
            "to store in float64; make it from float64 data"
        )
    return Dense(
        double(densify(operator)),
        exponent=operator.exponent,
        ledger=operator.ledger,
        digits=operator.like,
    )


def in_order(operator: Data) -> Data:
    """Data on the CPU as a NumPy matrix in C order, so that no layout changes a bit."""
    if on_gpu(operator.like):
        return operator
    if type(operator.X) is np.ndarray and operator.X.flags.c_contiguous:
        return operator
    return operator.of(np.ascontiguousarray(host(operator.X)))


class Factored(Data):
    """K = XᵀX whose residuals are kept as a matrix: X is in float64 and has few rows.

    rounding : the part of a squared length that was rounding already when X was made.
    """

    rounding: float = 0.0

    def floor(self, k: int) -> Array:
        """The squared length up to which the residual of a column is rounding."""
        return max(represented(k, eps(self.like)) ** 2, self.rounding) * self.diagonal()


def gram_powers(X: Array, depth: int, omega: Array | None) -> list[Array]:
    """diag K, diag KΩK (and diag KΩKΩK) of K = XᵀX, each a sum of squares or of products."""
    found = [column_dots(X, X)]
    if depth == 0:
        return found
    if omega is not None and 2 * len(places := np.flatnonzero(host(omega))) < X.shape[0]:
        counted = take(X, places, axis=1)  # a target is few columns
        products = counted.T @ X
        weighted = products * take(omega, places)[:, None]
        found.append(column_dots(products, weighted))
        if depth == 2:
            GX = counted @ weighted
            found.append(column_dots(GX, GX))
        return found
    weighted = X if omega is None else X * omega[None, :]
    GX = (weighted @ X.T) @ X
    found.append(column_dots(X, GX))
    return found if depth == 1 else [*found, column_dots(GX, GX)]


def triangle(X: Array) -> Array:
    """R of X = QR, with columns scaled to length one first: small ones keep their digits."""
    promoted = host(X)
    lengths = np.sqrt(np.sum(promoted * promoted, axis=0))
    scale = np.where(lengths > 0, lengths, 1.0)
    return like(np.linalg.qr(promoted / scale, mode="r") * scale, X)


def factored(X: Array, operator: Operator, rounding: float) -> Factored:
    """The operator as a factor X in float64; `rounding` as in the class."""
    found = Factored(X, exponent=operator.exponent, ledger=operator.ledger)
    found.rounding = rounding
    return found


@singledispatch
def form(operator: Operator, k: int) -> Operator:
    """The same K, such that its residuals keep their digits in a search for k columns.

    A factor of few columns where the rank is low; else K, stored if that is small.
    """
    if isinstance(operator, Dense):
        operator.check()
    promoted = form_of_columns(operator)
    if is_single(promoted.like) or "columns" not in promoted.cheap:
        return promoted
    if isinstance(promoted, Dense) and not on_gpu(promoted.like):  # no layout changes a bit
        K = np.ascontiguousarray(host(promoted.K))
        if K is not promoted.K:
            promoted = promoted.of(K)
    if promoted.n <= SMALL:
        promoted = _stored(promoted)
    return _low_rank(promoted, k) or _stored(promoted)


@form.register
def _data_form(operator: Data, k: int) -> Operator:
    """K where it is stored and has the digits; else X, or R of its QR if X is tall.

    With fewer rows than columns it is X: some of them depend on others, and whether three or more
    nearly do is not seen in K.
    """
    promoted = operator.of(double(operator.X)) if is_single(operator.like) else operator
    promoted = in_order(promoted)
    rounding = rounded_before(operator.like) ** 2
    if operator.m < operator.n:
        return factored(promoted.X, operator, rounding)
    if promoted.stored is None or promoted.stored.is_accurate():
        return promoted.stored or promoted
    return factored(triangle(promoted.X), operator, rounding)


_forms: Remembered[Operator, dict[int, Operator | None]] = Remembered()
_ready: WeakSet[Operator] = WeakSet()
_promoted: WeakSet[Operator] = WeakSet()


def searchable(operator: Operator, k: int) -> Operator:
    """The form of K for a search for k columns; made once, and for data one for all k."""
    return _made(operator, 0 if isinstance(operator, Gram) else k, lambda: form(operator, k))


def form_made(operator: Operator) -> Operator:
    """The form of K that a search has made, or K itself where there is none."""
    made = [found for size, found in _forms.get(operator, {}).items() if size >= 0 and found]
    return made[-1] if made else operator


def search_seconds(operator: Operator, k: int, depth: int) -> float:
    """An estimate of the seconds before a search for k columns can make its first move.

    They go into the form of K, the diagonals of K² (and K³), and the state of a first choice.
    """
    n, m, product = operator.n, operator.m, product_seconds(operator)
    ready = operator in _ready or bool(_forms.get(operator, {}))
    if m is not None:
        begun = m * n * min(m, n) * 2e-10
        if operator in _ready:  # it is searched as it is, once diag K² is known
            ready, begun = squares_known(operator), min(begun, n * product)
        return (0.0 if ready else begun) + 0.1 * k * product
    begun = 0.0 if ready or on_gpu(operator.like) else n * min(n // FEW_ROWS, LOW_RANK) ** 2 * 3e-10
    cubes = n**3 * (5e-14 if on_gpu(operator.like) else 4e-11) if depth == 2 else 0.0
    return begun + (3 + 0.05 * k) * product + cubes


def readable(operator: Operator, k: int) -> Operator:
    """The form of K for a method that reads k columns and no more."""
    if operator.m is not None:
        return searchable(operator, k)
    return _made(operator, -1, lambda: form_of_columns(operator))


def is_promoted(operator: Operator) -> bool:
    """Whether it is the float64 form of an operator in float32."""
    return operator in _promoted


def _made(operator: Operator, size: int, make: Callable[[], Operator]) -> Operator:
    """A form of K for that size, made once."""
    if operator in _ready:
        return operator
    known = _forms.setdefault(operator, {})
    if size not in known:
        found = make()
        known[size] = None if found is operator else found
        if size >= 0:
            _ready.add(found)
    found = known[size] or operator
    if is_single(operator.like) and not is_single(found.like):
        _promoted.add(found)
        operator.ledger.promoted += 1
    return found


def form_of_columns(operator: Operator) -> Operator:
    """K in float64, where it can be made so."""
    try:
        return in_double(operator)
    except UnsupportedError:
        return operator


def remaining_trace(K: np.ndarray, steps: int) -> float:
    """The share of tr K that is left after some pivots of the largest residual."""
    trace = float(np.trace(K))
    taken = lapack_pivots(K)[0][:, :steps]
    return max(0.0, 1.0 - float(np.sum(taken * taken)) / trace) if trace > 0 else 0.0


def _low_rank(operator: Operator, k: int) -> Operator | None:
    """K = F Fᵀ with few columns, where its numerical rank is low."""
    n = operator.n
    affordable = free_memory(operator.like, otherwise=8 * MEMORY) // 8 // (8 * n)
    most = min(n // FEW_ROWS, max(LOW_RANK, 2 * k + 100), affordable)
    if isinstance(operator, Dense) and n <= SMALL and remaining_trace(host(operator.K), k) <= FAST:
        most = min(n, max(LOW_RANK, 2 * k + 100), affordable)
    looked_at = operator
    if isinstance(operator, Dense):  # with a ledger of its own: this look is not counted
        looked_at = Dense(operator.K, digits=operator.digits)
    F = pivoted_factor(looked_at, most, eps(operator.digits)) if most > 0 else None
    if F is None or F.shape[1] == 0:
        return None
    return factored(transposed(F), operator, FLOOR * eps(operator.digits))


def _stored(operator: Operator) -> Operator:
    """K itself, stored where it is small enough; a matrix that is stored stays as it is.

    Of a larger one the products keep as many entries as there is memory for K.
    """
    limit = stored_up_to(operator)
    if operator.n**2 * 8 > (min(limit, MEMORY) if on_gpu(operator.like) else limit):
        return keeping(operator, limit)
    try:
        return Dense(densify(operator), exponent=operator.exponent, ledger=operator.ledger)
    except MemoryError:
        need = operator.n**2 * 8 / 2**30
        warn_user(
            f"storing K needs {need:.1f} GiB, which could not be had; the search evaluates K again "
            "for each product, which takes longer"
        )
        return operator
