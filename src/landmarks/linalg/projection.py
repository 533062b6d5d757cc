"""Projection of the columns of X onto the chosen ones, by an orthonormal basis from pivoted QR."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy

from .._array import Array, Indices, host, like
from ..operators.base import MEMORY, Operator, blocks, itemsize


def basis(operator: Operator, indices: Indices) -> Array:
    """An orthonormal basis Q of the chosen columns of X, of their numerical rank."""
    chosen = host(operator.factor(indices)).astype(np.float64)
    Q, R, _ = scipy.linalg.qr(chosen, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    tolerance = (
        max(chosen.shape) * np.finfo(np.float64).eps * (diagonal[0] if diagonal.size else 0.0)
    )
    return like(Q[:, : int(np.sum(diagonal > tolerance))], operator.like)


def residual_blocks(operator: Operator, indices: Indices) -> Iterator[Array]:
    """X − QQᵀX in blocks of columns: what the chosen columns leave of X (Section 2.1)."""
    Q = basis(operator, indices)
    width = max(1, MEMORY // 4 // ((operator.m or 1) * itemsize(operator.like)))
    for block in blocks(operator.n, width):
        X = operator.factor(block)
        yield X - Q @ (Q.T @ X)
