"""K in other forms: in float64, stored, or as a factor of few columns where its rank is low.

A search asks for the form whose residuals keep their digits (`Operator.searchable`). Points in
float32 are exact numbers, so all forms are in float64.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._array import Array, double, eps, free_memory, host, is_single, transposed
from ..errors import UnsupportedError
from .base import DENSE_MEMORY, MEMORY, Operator, itemsize
from .dense import FEW_ROWS, Dense, Factored
from .pivoted_factor import FLOOR, pivoted_factor

FAST = 1e-6  # of the trace left after k pivots: below it a stored K has lost half of its digits
LOW_RANK = 600  # columns that a factor of K may have, or 2k + 100 where that is more
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

    The `digits` of the result say to how many digits its entries are known.
    """
    if not is_single(operator.like):
        return operator
    remade = operator.remade_in_double()
    if remade is not None:
        return remade
    if not storable(operator, DENSE_MEMORY // 8):
        raise UnsupportedError(
            f"{operator!r} has too few digits and is too large to store in float64; make it from "
            "float64 data"
        )
    return Dense(
        double(densify(operator)),
        exponent=operator.exponent,
        ledger=operator.ledger,
        digits=operator.like,
    )


def form_of_entries(operator: Operator, k: int) -> Operator:
    """A factor of few columns where the rank is low; else K, stored if that is small."""
    try:
        wide = in_double(operator)
    except UnsupportedError:
        return operator
    if "columns" not in wide.cheap:
        return wide
    if wide.n <= SMALL:
        wide = _stored(wide)
    return _low_rank(wide, k) or _stored(wide)


def remaining_trace(K: np.ndarray, steps: int) -> float:
    """The share of tr K that is left after some pivots of the largest residual."""
    whole = float(np.trace(K))
    factor, _, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1)
    taken = np.tril(factor)[:, : min(steps, rank)]
    return max(0.0, 1.0 - float(np.sum(taken * taken)) / whole) if whole > 0 else 0.0


def _low_rank(operator: Operator, k: int) -> Operator | None:
    """K = F Fᵀ with few columns, where its numerical rank is low."""
    n = operator.n
    room = free_memory(operator.like, otherwise=8 * MEMORY) // 8 // (8 * n)
    most = min(n // FEW_ROWS, max(LOW_RANK, 2 * k + 100), room)
    if isinstance(operator, Dense) and n <= SMALL and remaining_trace(host(operator.K), k) <= FAST:
        most = min(n, max(LOW_RANK, 2 * k + 100), room)
    F = pivoted_factor(_uncounted(operator), most, eps(operator.digits)) if most > 0 else None
    return None if F is None or F.shape[1] == 0 else _of_factor(F, operator)


def _uncounted(operator: Operator) -> Operator:
    """A stored K with a ledger of its own: this look at it is not counted."""
    return Dense(operator.K, digits=operator.digits) if isinstance(operator, Dense) else operator


def _of_factor(F: Array, operator: Operator) -> Factored:
    found = Factored(transposed(F), exponent=operator.exponent, ledger=operator.ledger)
    found.rounding = FLOOR * eps(operator.digits)
    return found


def _stored(operator: Operator) -> Operator:
    """K itself, stored when it is small; a matrix that is stored already stays as it is."""
    if operator.entrywise and operator.n**2 * 8 <= MEMORY:
        return Dense(densify(operator), exponent=operator.exponent, ledger=operator.ledger)
    return operator
