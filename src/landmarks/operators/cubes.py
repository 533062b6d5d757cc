"""diag A² and diag A³ of a symmetric matrix, from blocks of its columns, for a graphics card.

(A³)_ii = Σ_j A_ij (A²)_ij, and A² is symmetric. So each block of A² is computed once and serves two
parts of the diagonal: n³ operations in large products. A product with every column takes twice that
in products of a few columns, each of which evaluates the entries again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._array import Array, free_memory, namespace, take

PANEL = 2**30  # bytes of the columns of a block, two of which are in memory
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
    """diag A² and diag A³ with what a block of columns adds, alone and with all later ones.

    diagonals : what earlier blocks have added. left : the columns of the block.
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
