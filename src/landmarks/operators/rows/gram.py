"""The Gram matrix of rows in pieces: bit-identical however the rows are divided and joined.

Rows are multiplied in blocks at fixed positions, 0 … 2047, 2048 … 4095 and so on; a piece keeps the
rows of an incomplete block until its neighbour brings the others. The sum over the blocks is
compensated for rounding errors (Knuth's two-sum; Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26
(2005)): it has about 106 bits and is rounded once, at the end. Consecutive pieces can be joined in
any grouping, so a loop over a file and a tree on a cluster give bit-identical results.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ... import _check

BLOCK = 2048


@dataclass(frozen=True)
class Sum:
    """4**power · (high + low): a sum of Gram matrices, and what rounding took from it."""

    high: np.ndarray
    low: np.ndarray
    power: int


@dataclass(frozen=True)
class Piece:
    """Rows start … stop − 1: the Gram matrix of the complete blocks, and the rows around them."""

    start: int
    stop: int
    head: np.ndarray
    total: Sum | None
    tail: np.ndarray


def piece(rows: np.ndarray, start: int) -> Piece:
    """The piece of an array of finite rows, the first of which is row `start` of X."""
    stop = start + len(rows)
    first = min(stop, -(-start // BLOCK) * BLOCK)
    last = max(first, stop // BLOCK * BLOCK)
    total = None
    for a in range(first - start, last - start, BLOCK):
        total = _add(total, _block(rows[a : a + BLOCK]))
    head, tail = _copied(rows[: first - start]), _copied(rows[last - start :])
    return Piece(start, stop, head, total, tail)


def join(left: Piece, right: Piece) -> Piece:
    """The piece of all rows of two that follow one another."""
    if left.stop != right.start:
        raise ValueError(
            f"pieces must follow one another, got one up to row {left.stop - 1} and one from row "
            f"{right.start}"
        )
    if (left.start + len(left.head)) % BLOCK:  # no block begins in the left one
        head = np.concatenate([left.head, right.head])
        return Piece(left.start, right.stop, head, right.total, right.tail)
    seam = piece(np.concatenate([left.tail, right.head]), left.stop - len(left.tail))
    total = _add(_add(left.total, seam.total), right.total)
    return Piece(left.start, right.stop, left.head, total, np.concatenate([seam.tail, right.tail]))


def join_all(pieces: list[Piece]) -> Piece:
    """The piece of several that follow one another."""
    return reduce(join, pieces)


def gram(every: Piece) -> tuple[np.ndarray, int]:
    """XᵀX / 2**e in float64 from the piece of all rows, and e."""
    n = every.tail.shape[1]
    total = _add(every.total, _block(every.tail) if len(every.tail) else None)
    if total is None:
        return np.zeros((n, n)), 0
    return total.high + total.low, 2 * total.power


def _copied(rows: np.ndarray) -> np.ndarray:
    """A copy, so that a few rows do not keep a chunk in memory."""
    return np.array(rows, dtype=np.float64, order="C")


def _block(rows: np.ndarray) -> Sum | None:
    """The Gram matrix of one block, scaled by a power of two if squares would leave the range."""
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    largest = max(float(rows.max()), -float(rows.min()))
    if largest == 0:
        return None
    power = _check.exponent(largest, rows)
    rows = _check.scaled(rows, power)
    K = rows.T @ rows
    return Sum(K, np.zeros_like(K), power)


def _add(a: Sum | None, b: Sum | None) -> Sum | None:
    if a is None:
        return b
    if b is None:
        return a
    if a.power != b.power:
        power = max(a.power, b.power)
        a = _with_power(a, power)
        b = _with_power(b, power)
    high, error = two_sum(a.high, b.high)
    return Sum(high, a.low + b.low + error, a.power)


def _with_power(a: Sum, power: int) -> Sum:
    shift = 2 * (power - a.power)
    return Sum(_check.scaled(a.high, shift), _check.scaled(a.low, shift), power)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s = a + b as rounded, and the error e with s + e = a + b exactly (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)
