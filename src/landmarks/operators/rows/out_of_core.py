"""Columns of an X read in blocks of rows: by its Gram matrix if that fits, else by passes."""

from __future__ import annotations

import numpy as np

from ..base import Operator
from ..dense import Dense
from ..standard import Prepared, Standard
from .base import RowBlocks, Standardised
from .moments import Moments, gram, squares, summed
from .operator import ByRows

ROWS_MEMORY = 2**30  # bytes that work on an X read in blocks may take by default


def fits(source: RowBlocks, memory: int) -> bool:
    """Whether to load X: a wide one that fits, or a tall one of at most 1/16 of the memory."""
    if source.m is None:
        return False
    limit = memory if source.m < source.n else memory // 16
    return source.m * source.n * source.dtype.itemsize <= limit


def gram_bytes(n: int) -> int:
    """Bytes to add up XᵀX: the sum, its carry, the next term, and three more for the result."""
    return 6 * 8 * n * n


def gram_fits(n: int, memory: int) -> bool:
    """Whether XᵀX may be added up in memory."""
    return gram_bytes(n) <= memory


def from_rows(
    source: RowBlocks,
    standard: Standard,
    *,
    memory: int = ROWS_MEMORY,
    weights: np.ndarray | None = None,
) -> Prepared:
    """The operator of the prepared columns of a source, after one pass over its rows."""
    _check_memory(source, memory)
    product = gram if gram_fits(source.n, memory) else squares
    sums = summed(
        source, about_mean=not standard.plain, product=product, memory=memory, weights=weights
    )
    moments = sums.moments
    scatter = np.diag(moments.scatter) if product is gram else moments.scatter
    variance = np.maximum(scatter, 0.0) / max(moments.weight, np.finfo(float).tiny)
    mean, factor, scale = standard.parts(moments.mean, variance, float(np.finfo(source.dtype).eps))
    rows = Standardised(source, sums.power, mean, factor, weights) if source.again else None
    exponent = 0 if standard.scale else 2 * sums.power
    operator: Operator
    if product is gram:
        operator = Dense(
            scaled_gram(moments, standard.center, factor), exponent=exponent, names=source.names
        )
        operator.source = rows
    else:
        diagonal = scatter if standard.center else scatter + moments.weight * moments.mean**2
        operator = ByRows(
            rows,  # type: ignore[arg-type]  # _check_memory saw that the rows can be read again
            diagonal * factor**2,
            exponent=exponent,
            memory=memory,
        )
    return Prepared(
        operator,
        np.ldexp(mean, sums.power),
        np.ldexp(scale, sums.power) if standard.scale else scale,
        moments.weight - standard.center,
    )


def scaled_gram(moments: Moments, center: bool, factor: np.ndarray) -> np.ndarray:
    """The Gram matrix of the columns times their factors, symmetric to the last bit."""
    K = moments.gram(center)
    if np.any(factor != 1.0):
        K = K * factor[:, None] * factor[None, :]
    return (K + K.T) / 2


def _check_memory(source: RowBlocks, memory: int) -> None:
    """Raise before anything is read when the request cannot be met."""
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise ValueError(f"memory must be a positive whole number of bytes, got {memory!r}")
    n = source.n
    if gram_fits(n, memory):
        return
    need = (
        f"X has n = {n} columns: adding up XᵀX takes {gram_bytes(n) / 2**30:.1f} GiB, above "
        f"memory = {memory / 2**30:.2g} GiB"
    )
    if not source.again:
        raise MemoryError(
            f"{need}, and an iterator is read once only; raise memory=…, or pass a function that "
            "returns a fresh iterator"
        )
    if 64 * n > memory:
        raise MemoryError(
            f"{need}, and so is reading it by rows of {8 * n / 2**20:.1f} MiB; raise memory=… to "
            f"at least {64 * n} bytes"
        )
