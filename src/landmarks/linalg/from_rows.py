"""What a choice leaves of X, from one more pass over its rows: X − X_S B, without cancellation.

A Gram matrix knows an error only to the rounding of the total. The coefficients B may be as
inexact as that, because the residual depends on their error only to second order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from .._array import Indices
from ..operators.base import Operator
from ..operators.dense import Dense
from ..operators.rows.moments import CompensatedSum, gram
from ..operators.rows.tiles import pass_height, tile_height, tiles
from .nystrom import pivoted_cholesky


def residual_gram(operator: Operator, indices: Indices) -> tuple[Dense, np.ndarray]:
    """The Gram matrix of X − X_S B, and the chosen columns beyond the rank, which B leaves out."""
    used, beyond, B = _coefficients(operator, np.asarray(indices))
    total = CompensatedSum((operator.n, operator.n))
    for E in _residuals(operator, used, B):
        total.add(gram(E))
    C = total.total
    # what is left of the other columns is rounding
    clear = np.diag(C)[beyond] > 1e-24 * operator.diagonal()[beyond]
    return Dense(C), beyond[clear]


def residual_trace(operator: Operator, indices: Indices) -> float:
    """‖X − X_S B‖²_F."""
    used, _, B = _coefficients(operator, np.asarray(indices))
    return float(sum(np.vdot(E, E) for E in _residuals(operator, used, B)))


def _coefficients(
    operator: Operator, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The chosen columns up to the numerical rank, those beyond it, and B for the former."""
    columns = operator.columns(indices)
    pivots = pivoted_cholesky(columns[indices])
    B = scipy.linalg.cho_solve((pivots.L, True), columns[:, pivots.order].T)
    return indices[pivots.order], np.delete(indices, pivots.order), B


def _residuals(operator: Operator, used: np.ndarray, B: np.ndarray) -> Iterator[np.ndarray]:
    """X − X_S B in tiles of rows."""
    height = tile_height(operator.n)
    if operator.pass_memory is not None:
        height = pass_height(operator.n, operator.pass_memory)
    for _, X in tiles(operator.source, height):  # type: ignore[arg-type]  # callers checked it
        E = X - X[:, used] @ B
        E[:, used] = 0.0
        yield E
