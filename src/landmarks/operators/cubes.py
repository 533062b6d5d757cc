"""diag K³; on a graphics card with diag K², from pairs of blocks of columns.

(K³)_ii = Σ_j K_ij (K²)_ij, and K² is symmetric. So each block of K² is computed once and serves two
parts of the diagonal: n³ operations in large products. A product with every column takes twice that
in products of a few columns, each of which evaluates the entries again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .._array import Array, free_memory, namespace, on_gpu, take, zeros
from ..runs.runner import Step
from .base import Images, Operator, Reading, read, remembered, squared_columns

PANEL = 2**30  # bytes of the columns of a block, two of which are in memory
STRIP = 256  # rows of a symmetric product that are computed at a time
STEP = 128  # columns of a tile of a large product on a card

Columns = Callable[[np.ndarray], Array]


def panel_width(n: int, like: Array) -> int:
    """How many columns a block has: a gigabyte of them, and at most 1/16 of the free memory."""
    memory = min(PANEL, free_memory(like, otherwise=16 * PANEL) // 16)
    width = memory // (8 * n)
    return min(n, width - width % STEP if width > STEP else max(1, width))


def add_block(
    diagonals: tuple[Array, Array], left: Array, block: np.ndarray, columns: Columns
) -> tuple[Array, Array]:
    """Add the contribution of a block of columns, with all later ones, to diag K² and diag K³.

    diagonals : the sums over earlier blocks. left : the columns of the block.
    """
    xp = namespace(left)
    squares, cubes = (diagonal + 0.0 for diagonal in diagonals)
    n, width = left.shape
    start, end = int(block[0]), int(block[-1]) + 1
    squares[start:end] = xp.sum(left * left, axis=0)
    for first in range(start, n, width):
        others = np.arange(first, min(n, first + width))
        right = left if first == start else columns(others)
        terms = (left.T @ right) * take(left, others).T
        cubes[start:end] += xp.sum(terms, axis=1)
        if first > start:
            cubes[first : first + len(others)] += xp.sum(terms, axis=0)
    return squares, cubes


def cubed_diagonal(operator: Operator) -> Array:
    """The diagonal of K³, from a product with every column; remembered, and so is that of K²."""
    if in_pairs(operator):
        return remembered(operator, "cubes", _read_pairs)
    images: Images = {
        "squares": lambda block, columns: columns,
        "cubes": partial(squared_columns, operator),
    }
    return remembered(operator, "cubes", partial(read, images=images))


def in_pairs(operator: Operator) -> bool:
    """Whether diag K³ comes from pairs of blocks of columns: on a card, large products are fast."""
    return on_gpu(operator.like) and "columns" in operator.cheap


def _read_pairs(operator: Operator, reading: Reading) -> Iterator[Step]:
    """diag K² and diag K³ from products of one block of columns with all later ones."""
    n, nothing = operator.n, zeros((operator.n,), operator.like)
    width = panel_width(n, operator.like)
    while reading.done < n:
        block = np.arange(reading.done, min(n, reading.done + width))
        known = reading.diagonals
        so_far = known.get("squares", nothing), known.get("cubes", nothing)
        squares, cubes = add_block(so_far, operator.columns(block), block, operator.columns)
        reading.diagonals = {"squares": squares, "cubes": cubes}
        reading.done += len(block)
        yield Step(reading.done, n)


def symmetric_product(A: Array, B: Array) -> Array:
    """A B of symmetric matrices that commute: symmetric too, so half of it is computed."""
    n = A.shape[0]
    if A is B or n < 2 * STRIP or on_gpu(A):
        return A @ B.T
    found = namespace(A).empty_like(A)
    for first in range(0, n, STRIP):
        last = min(n, first + STRIP)
        strip = A[first:last, :] @ B[:, first:]
        found[first:last, first:] = strip
        found[first:, first:last] = strip.T
    return found
