"""diag K² and diag K³, read from K once; on a graphics card both from pairs of blocks of columns.

(K³)_ii = Σ_j K_ij (K²)_ij, and K² is symmetric. So each block of K² is computed once and serves two
parts of the diagonal: n³ operations in large products. A product with every column takes twice that
in products of a few columns, each of which evaluates the entries again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from .._array import Array, column_dots, free_memory, namespace, on_gpu, take, zeros
from .._remembered import Remembered
from ..errors import Stopped
from ..runs.runner import Step, passes_of, run
from ..runs.state import State
from .base import Operator, block_width, faster_squares, squared_columns

PANEL = 2**30  # bytes of the columns of a block, two of which are in memory
STEP = 128  # columns of a tile of a large product on a card

_known: Remembered[Operator, dict[str, Array]] = Remembered()


@dataclass
class Pass(State):
    """How many columns of K have been read, and the diagonals so far."""

    diagonals: dict[str, Array]
    done: int = 0


def squared_diagonal(operator: Operator) -> Array:
    """The diagonal of K², from one pass over K; remembered while the operator lives."""
    return _remembered(operator, "squares", partial(_read, cubes=False))


def squares_known(operator: Operator) -> bool:
    """Whether the diagonal of K² has been read."""
    return "squares" in _known.get(operator, {})


def cubed_diagonal(operator: Operator) -> Array:
    """The diagonal of K³, from a product with every column; remembered, and so is that of K²."""
    reader = _read_pairs if in_pairs(operator) else partial(_read, cubes=True)
    return _remembered(operator, "cubes", reader)


def _remembered(
    operator: Operator, wanted: str, reader: Callable[[Operator, Pass], Iterator[Step]]
) -> Array:
    """One of the diagonals: from memory, from the journal of the run, or from a pass over K."""
    known = _known.setdefault(operator, {})
    name = f"{wanted} of {type(operator).__name__} {operator.n} {operator.like.dtype}"
    passes = passes_of(operator.ledger)
    known |= passes.get(name, {})
    if wanted == "squares" and wanted not in known:
        direct = faster_squares(operator)
        known |= {} if direct is None else {wanted: direct}
    if wanted not in known:
        reading = Pass({})
        run("reading", reader(operator, reading), reading)
        if reading.done < operator.n:
            raise Stopped("the run was stopped while it read the matrix, before there was a choice")
        known |= reading.diagonals
    passes[name] = dict(known)
    return known[wanted]


def _read(operator: Operator, reading: Pass, cubes: bool) -> Iterator[Step]:
    """The inner products of the columns of K with themselves, and with those of K²."""
    xp = namespace(operator.like)
    width = block_width(operator)
    while reading.done < operator.n:
        block = np.arange(reading.done, min(operator.n, reading.done + width))
        columns = operator.columns(block)
        found = {"squares": column_dots(columns, columns)}
        if cubes:
            found["cubes"] = column_dots(columns, squared_columns(operator, block, columns))
        for name, products in found.items():
            before = reading.diagonals.get(name, operator.like)
            reading.diagonals[name] = xp.concat([before, products])
        reading.done += len(block)
        yield Step(reading.done, operator.n)


def panel_width(n: int, like: Array) -> int:
    """How many columns a block has: a gigabyte of them, and at most 1/16 of the free memory."""
    memory = min(PANEL, free_memory(like, otherwise=16 * PANEL) // 16)
    width = memory // (8 * n)
    return min(n, width - width % STEP if width > STEP else max(1, width))


def add_block(
    diagonals: tuple[Array, Array],
    left: Array,
    block: np.ndarray,
    columns: Callable[[np.ndarray], Array],
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


def in_pairs(operator: Operator) -> bool:
    """Whether diag K³ comes from pairs of blocks of columns: on a card, large products are fast."""
    return on_gpu(operator.like) and "columns" in operator.cheap


def _read_pairs(operator: Operator, reading: Pass) -> Iterator[Step]:
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
