"""The form of K that a search works on: chosen so that its residuals keep their digits.

Three forms: few rows X with K = XᵀX, whose residual is kept as a matrix (`explicit`); K stored in
float64; K known by products. Data and points in float32 are exact numbers, so all are in float64.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import scipy.linalg

from .._array import (
    Array,
    double,
    eps,
    free_memory,
    host,
    is_single,
    like,
    transposed,
)
from ..errors import UnsupportedError
from ..operators.base import MEMORY, Operator
from ..operators.data import Data
from ..operators.dense import Dense, Sparse, densify
from ..operators.double import in_double
from ..operators.kernel_matrix import KernelOperator
from ..operators.structured.hadamard import Hadamard
from .explicit import Factored
from .pivoted_factor import FLOOR, pivoted_factor

FEW_ROWS = 4  # X with at most n/4 rows is kept as it is; more are first compared with a stored K
FAST = 1e-6  # of the trace left after k pivots: below it a stored K has lost half of its digits
NEAR = 1e-8  # of a squared length: a stored K has lost half of its digits of such a column
ALIKE = 1e-3  # 1 − r² of two columns: of a third in line with them some 1e-6 is left
NOTHING = 8 * float(np.finfo(np.float64).eps)  # times n: rounding leaves that of a dependent column
LOW_RANK = 600  # columns that a factor of K may have, or 2k + 100 where that is more
SMALL = 1500  # candidates up to which a factor of full rank is affordable

_forms: WeakKeyDictionary[Operator, dict[int, Operator | None]] = WeakKeyDictionary()
_ready: WeakSet[Operator] = WeakSet()


def searchable(operator: Operator, k: int) -> Operator:
    """The operator in the form that a search for k columns should work on; made once."""
    if operator in _ready:
        return operator
    forms = _forms.setdefault(operator, {})
    size = 0 if isinstance(operator, Data | Sparse) else k  # the form of data is one for all k
    if size not in forms:
        found = _form(operator, k)
        forms[size] = None if found is operator else found
        _ready.add(found)
    found = forms[size] or operator
    if is_single(operator.like) and not is_single(found.like):
        found.widened = True
        operator.ledger.widened += 1
    return found


def _form(operator: Operator, k: int) -> Operator:
    if isinstance(operator, Data):
        return _form_of_data(operator)
    try:
        wide = in_double(operator)
    except UnsupportedError:
        return operator
    if isinstance(wide, Sparse):
        return _form_of_sparse(wide)
    if "columns" not in wide.cheap:
        return wide
    if wide.n <= SMALL:
        wide = _stored(wide)
    return _low_rank(wide, k) or _stored(wide)


def _form_of_sparse(operator: Sparse) -> Operator:
    """K where it is stored and has the digits; X as an array where that is small; else products."""
    small = operator.n * operator.m * 8 <= MEMORY // 8
    if operator.gram is not None and (not small or _keeps_digits(host(operator.gram))):
        return Dense(operator.gram, exponent=operator.exponent, ledger=operator.ledger)
    if not small:
        return operator
    X = operator.factor()
    return _form_of_data(Data(X, exponent=operator.exponent, ledger=operator.ledger))


def _form_of_data(operator: Data) -> Operator:
    """K where it has the digits and X has not few rows; else X, or R of its QR where X is tall."""
    X = double(operator.X)
    m, n = X.shape
    if FEW_ROWS * m <= n:
        return _factored(X, operator)
    wide = Data(X, exponent=operator.exponent, ledger=operator.ledger)
    if wide.gram is None:
        return _factored(X, operator) if m < n else wide
    if _keeps_digits(host(wide.gram)):
        return Dense(wide.gram, exponent=operator.exponent, ledger=operator.ledger)
    return _factored(X if m < n else _triangle(X), operator)


def _keeps_digits(K: np.ndarray) -> bool:
    """Whether of every column, pivot after pivot, much is left or nothing, and no two are alike.

    Once a column is chosen of which little is left, but more than rounding, a stored K says little
    about the others. In full rank its pivots exclude that; else columns that are much alike may
    still be chosen one after the other.
    """
    lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    scale = np.where(lengths > 0, lengths, 1.0)
    correlations = K / np.outer(scale, scale)
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(correlations, lower=1, tol=NEAR)
    if rank == len(K):
        return True
    nothing = NOTHING * len(K)
    before = np.diagonal(correlations)[order[rank:] - 1]  # 1, or 0 for a column of zeros
    left = before - np.sum(np.square(factor[rank:, :rank]), axis=1)
    apart = 1.0 - np.square(correlations)
    alike = (apart > nothing) & (apart < ALIKE)
    return not bool(np.any(left > nothing) or np.any(alike))


def remaining_trace(K: np.ndarray, steps: int) -> float:
    """The share of tr K that is left after some pivots of the largest residual."""
    whole = float(np.trace(K))
    factor, _, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1)
    taken = np.tril(factor)[:, : min(steps, rank)]
    return max(0.0, 1.0 - float(np.sum(taken * taken)) / whole) if whole > 0 else 0.0


def _factored(X: Array, operator: Operator) -> Factored:
    found = Factored(X, exponent=operator.exponent, ledger=operator.ledger)
    found.rounding = (2 * eps(operator.like)) ** 2 if is_single(operator.like) else 0.0
    return found


def _triangle(X: Array) -> Array:
    """R of X = QR, with columns scaled to length one first: small ones keep their digits."""
    wide = host(X)
    lengths = np.sqrt(np.sum(wide * wide, axis=0))
    scale = np.where(lengths > 0, lengths, 1.0)
    return like(np.linalg.qr(wide / scale, mode="r") * scale, X)


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
    if isinstance(operator, KernelOperator | Hadamard) and operator.n**2 * 8 <= MEMORY:
        return Dense(densify(operator), exponent=operator.exponent, ledger=operator.ledger)
    return operator
