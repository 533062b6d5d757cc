"""A symmetric Toeplitz matrix from its first column, multiplied in O(n log n) by FFT."""

from typing import Any

import numpy as np

from ... import _check
from ..._array import (
    Array,
    Indices,
    Part,
    host,
    is_array,
    namespace,
    prototype,
    scatter,
    take,
    zeros,
)
from ..base import Ledger, Operator, determining
from ..restricted import Restricted


class Toeplitz(Operator):
    """The operator K[i, j] = first_column[|i − j|]; `toeplitz` checks and makes it."""

    def __init__(self, first_column: Array, *, exponent: int):
        xp = namespace(first_column)
        self.first_column = first_column
        self.n = first_column.shape[0]
        self.like = prototype(first_column)
        self.ledger = Ledger()
        self.exponent = exponent
        circulant = xp.concat([first_column, xp.flip(first_column[1:])])
        self._length = circulant.shape[0]
        self._spectrum = xp.fft.rfft(circulant)

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        xp = namespace(block)
        full = block if cols is None else scatter(block, cols, self.n)
        self.ledger.add(products=full.shape[1], entries=self.n)
        spectrum = xp.fft.rfft(full, n=self._length, axis=0)
        product = xp.fft.irfft(self._spectrum[:, None] * spectrum, n=self._length, axis=0)
        product = product[: self.n, :]
        return product if rows is None else take(product, rows)

    def diagonal(self) -> Array:
        self.ledger.add(entries=1)
        return zeros((self.n,), self.like) + self.first_column[0]

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        lags = np.abs(np.arange(self.n)[:, None] - np.asarray(indices)[None, :])
        xp = namespace(self.first_column)
        return xp.reshape(take(self.first_column, lags.ravel()), lags.shape)

    def restrict(self, indices: Indices) -> Restricted:
        return Restricted(self, indices)


@determining.register
def _first_column(operator: Toeplitz) -> tuple[Any, ...]:
    return (operator.first_column,)


def toeplitz(first_column: Any) -> Toeplitz:
    """The operator of a symmetric Toeplitz matrix, such as a stationary kernel on a regular grid.

    Parameters
    ----------
    first_column : the n entries of its first column.

    Returns
    -------
    Operator
        The symmetric Toeplitz matrix, multiplied by fast Fourier transforms.

    Examples
    --------
    >>> lm.toeplitz(0.5 ** np.arange(4))
    Toeplitz(n=4, dtype=float64)
    """
    values = first_column if is_array(first_column) else np.asarray(first_column)
    if values.ndim != 1:
        raise ValueError(f"first_column must have one dimension, got shape {tuple(values.shape)}")
    column = _check.matrix(values[:, None], "first_column")[:, 0]
    largest = float(np.max(np.abs(host(column))))
    if float(column[0]) < largest * (1 - 1e-9):
        raise ValueError(
            "first_column[0] must be its largest entry for a positive semidefinite matrix, got "
            f"{float(column[0]):.4g} below {largest:.4g}"
        )
    power = _check.exponent(largest, column)
    return Toeplitz(_check.scaled(column, power), exponent=power)
