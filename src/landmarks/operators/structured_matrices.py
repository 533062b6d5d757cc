"""Matrices known by few numbers: Toeplitz matrices, and entrywise products of Gram matrices.

`toeplitz` multiplies by FFT in O(n log n). `hadamard`, K = (AᵀA) ∘ (BᵀB), is the Gram matrix of the
products a_i(r) b_j(r) at the points r: in interpolative separable density fitting (Lu and Ying, J.
Comput. Phys. 302, 2015) its landmarks are the grid points. The p·q rows of those products are never
formed: K v has the entries a_rᵀ (A diag(v) Bᵀ) b_r.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._array import (
    Array,
    Indices,
    Part,
    double,
    host,
    is_array,
    namespace,
    on_gpu,
    prototype,
    scatter,
    take,
    zeros,
)
from .base import (
    STORED,
    Ledger,
    Operator,
    determining,
    product_seconds,
    remade_in_double,
    stored_up_to,
)


class Toeplitz(Operator):
    """The operator K[i, j] = first_column[|i − j|]; `toeplitz` checks and makes it."""

    def __init__(self, first_column: Array, *, exponent: int):
        xp = namespace(first_column)
        super().__init__(first_column.shape[0], prototype(first_column), exponent=exponent)
        self.first_column = first_column
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


determining.register(Toeplitz, lambda operator: (operator.first_column,))


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


class Hadamard(Operator):
    """The operator of (AᵀA) ∘ (BᵀB); `hadamard` checks and makes it."""

    def __init__(self, A: Array, B: Array, *, exponent: int = 0, ledger: Ledger | None = None):
        super().__init__(A.shape[1], prototype(A), exponent=exponent, ledger=ledger)
        self.A, self.B = A, B

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        (A, B), (C, D) = self._at(rows), self._at(cols)
        self.ledger.add(products=block.shape[1])
        xp = namespace(block)
        columns = []
        for i in range(block.shape[1]):  # the entries a_rᵀ M b_r with M = C diag(v) Dᵀ
            M = (C * block[:, i]) @ D.T
            columns.append(xp.sum(A * (M @ B), axis=0))
        return xp.stack(columns, axis=1)

    def _at(self, indices: Indices | None) -> tuple[Array, Array]:
        """The columns of A and B at the indices."""
        if indices is None:
            return self.A, self.B
        return take(self.A, indices, axis=1), take(self.B, indices, axis=1)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        xp = namespace(self.A)
        return xp.sum(self.A * self.A, axis=0) * xp.sum(self.B * self.B, axis=0)

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        C, D = self._at(indices)
        return (self.A.T @ C) * (self.B.T @ D)

    def restrict(self, indices: Indices) -> Hadamard:
        return Hadamard(*self._at(indices), exponent=self.exponent, ledger=self.ledger)


determining.register(Hadamard, lambda operator: (operator.A, operator.B))
stored_up_to.register(Hadamard, lambda operator: STORED)


@remade_in_double.register
def _in_double(operator: Hadamard) -> Hadamard:
    A, B = double(operator.A), double(operator.B)
    return Hadamard(A, B, exponent=operator.exponent, ledger=operator.ledger)


@product_seconds.register
def _seconds(operator: Hadamard) -> float:
    """Two multiplications of p × n by n × q; measured on one core and on an H200."""
    flops = 4.0 * operator.n * operator.A.shape[0] * operator.B.shape[0]
    return flops * (5e-14 if on_gpu(operator.like) else 1e-10) + 1e-5


def hadamard(A: Any, B: Any = None) -> Operator:
    """The operator of (AᵀA) ∘ (BᵀB): landmarks for all products of a row of A with a row of B.

    Parameters
    ----------
    A : p × n, such as p orbitals at n grid points.
    B : q × n, at the same points; A by default. To weight the points by w, multiply the columns of
        one of the two by √w.

    Returns
    -------
    Operator
        The n × n matrix, never stored. A product with it costs 4npq operations.

    Examples
    --------
    >>> A = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> K = lm.hadamard(A)
    >>> K.columns([0, 1, 2])
    array([[ 1.,  4.,  0.],
           [ 4., 25.,  9.],
           [ 0.,  9., 81.]])
    """
    A = _check.matrix(A, "A")
    B = A if B is None else _check.matrix(B, "B")
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"A and B must have one column for each point, got {A.shape[1]} and {B.shape[1]} "
            "columns; transpose values that have one row for each point"
        )
    if type(A) is not type(B) or A.dtype != B.dtype:
        raise TypeError(
            f"A and B must be arrays of one library and dtype, got {type(A).__name__} of {A.dtype} "
            f"and {type(B).__name__} of {B.dtype}"
        )
    _check.same_device(B, A, "the columns of B", "those of A")
    xp = namespace(A)
    powers = [_check.exponent(float(xp.max(xp.abs(X))), X) for X in (A, B)]
    scaled = [_check.scaled(X, power) for X, power in zip((A, B), powers, strict=True)]
    return Hadamard(scaled[0], scaled[1], exponent=2 * sum(powers))
