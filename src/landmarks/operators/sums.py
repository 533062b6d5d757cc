"""The one summation: weights, means and products of rows that add up over blocks of rows.

Everything that is centred, scaled or made into a Gram matrix is summed here: arrays in memory, rows
read in blocks, chunks of a dask array, rows added by `partial_fit`. Rows are multiplied in blocks
that begin at fixed rows and whose height depends on n alone, and the sum over the blocks carries
what rounding takes (Knuth's two-sum; Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005)): it has
about 106 bits and is rounded once, at the end. So the result is the same to the last bit however
the rows come, in a loop over a file or in a tree on a cluster.

All values are taken from the mean of the first block as origin. Its distance from the mean of all
rows is part of their scatter, so that nothing cancels when the data lie far from zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from .. import _check
from .._array import Array, double, host, like, namespace, on_gpu
from .sources import READ, RowBlocks, tile_height, tiles

STRIP = 2**15  # entries added at a time, so that the temporaries stay in the cache


@dataclass(frozen=True)
class Moments:
    """The weight W = Σw, the mean and the scatter Σ w (x − mean)(x − mean)ᵀ of some rows x.

    scatter : n × n, or its diagonal alone. about_zero : whether it is Σ w x xᵀ instead.
    """

    weight: float
    mean: np.ndarray
    scatter: np.ndarray
    about_zero: bool = False

    @property
    def variance(self) -> np.ndarray:
        """The variance of each column."""
        found = self._shares - self.mean**2 if self.about_zero else self._shares
        return np.maximum(found, 0.0)

    @property
    def mean_share(self) -> float:
        """The share of the mean squares of the columns that is due to their means."""
        squares = self._shares if self.about_zero else self._shares + self.mean**2
        total = float(np.sum(np.maximum(squares, 0.0)))
        return float(np.sum(self.mean**2)) / total if total > 0 else 0.0

    @property
    def _shares(self) -> np.ndarray:
        """The diagonal of the scatter over the weight."""
        diagonal = np.diag(self.scatter) if self.scatter.ndim == 2 else self.scatter
        return diagonal / max(self.weight, np.finfo(float).tiny)

    def gram(self, center: bool) -> np.ndarray:
        """Σ w x xᵀ, of the centred rows or of the rows as they are; or its diagonal."""
        if center or self.about_zero:
            return self.scatter
        if self.scatter.ndim == 1:
            return self.scatter + self.weight * self.mean**2
        return self.scatter + self.weight * np.outer(self.mean, self.mean)


@dataclass(frozen=True)
class Sum:
    """Σw, Σ wz and Σ wzzᵀ (or its diagonal) for rows z · 2**power, and the rounding of each."""

    power: int
    values: tuple[np.ndarray, ...]
    carries: tuple[np.ndarray, ...] | None = None

    @property
    def totals(self) -> list[np.ndarray]:
        """The three sums, rounded once."""
        if self.carries is None:
            return list(self.values)
        return [value + carry for value, carry in zip(self.values, self.carries, strict=True)]

    def with_power(self, power: int) -> Sum:
        """The same in other units, which changes no digit."""
        if power == self.power:
            return self
        shifts = [0, power - self.power, 2 * (power - self.power)]
        parts = [
            None if arrays is None else tuple(map(_check.scaled, arrays, shifts))
            for arrays in (self.values, self.carries)
        ]
        return Sum(power, parts[0] or (), parts[1])


def added(a: Sum | None, b: Sum | None, *, in_place: bool = False) -> Sum | None:
    """The sum of both; in place it is written over the first."""
    if a is None or b is None:
        return b if a is None else a
    # zeros have no units
    power = max((part.power for part in (a, b) if part.values[-1].any()), default=0)
    a, b = a.with_power(power), b.with_power(power)
    values = a.values if in_place else tuple(map(np.copy, a.values))
    if a.carries is None:
        carries = tuple(map(np.zeros_like, values))
    else:
        carries = a.carries if in_place else tuple(map(np.copy, a.carries))
    for i, (value, carry) in enumerate(zip(values, carries, strict=True)):
        value, carry, term = value.reshape(-1), carry.reshape(-1), b.values[i].reshape(-1)
        for start in range(0, len(value), STRIP):
            part = slice(start, start + STRIP)
            value[part], error = two_sum(value[part], term[part])
            carry[part] += error
        if b.carries is not None:
            carry += b.carries[i].reshape(-1)
    return Sum(power, values, carries)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s = a + b as rounded, and the error e with s + e = a + b exactly (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@dataclass(frozen=True)
class Summation:
    """What is summed of the rows x: z = x − origin, times √weight.

    origin : about what; None for zero. weights : one for each row of X. products : whether Σ wzzᵀ
    is summed, or its diagonal alone.
    """

    origin: np.ndarray | None = None
    weights: np.ndarray | None = field(default=None, repr=False)
    products: bool = True

    @classmethod
    def about(
        cls, first: Array, weights: np.ndarray | None = None, *, products: bool = True
    ) -> Summation:
        """The summation about the mean of the first block of rows."""
        w = None if weights is None else weights[: first.shape[0]]
        Z, power = _in_units(first)
        if w is None or not w.any():
            w = np.ones(first.shape[0])
        xp = namespace(Z)
        mean = host(xp.sum(Z * like(w, Z)[:, None], axis=0)) / w.sum()
        return cls(np.ldexp(mean, power), weights, products)

    def block(self, rows: Array, start: int = 0) -> Sum:
        """The sums of one block of finite rows, the first of which is row `start` of X."""
        m = rows.shape[0]
        w = None if self.weights is None else self.weights[start : start + m]
        Z, power = _in_units(rows, self.origin)
        xp = namespace(Z)
        if self.origin is not None:
            Z = Z - like(_check.scaled(self.origin, power), Z)[None, :]
        weighted = Z if w is None else Z * like(w, Z)[:, None]
        weight = np.array([m if w is None else w.sum()], dtype=np.float64)
        sums = host(xp.sum(weighted, axis=0))
        if not self.products:
            return Sum(power, (weight, sums, host(xp.sum(weighted * Z, axis=0))))
        squares = None if self.origin is None else host(xp.sum(weighted * Z, axis=0))
        Z = Z if w is None else Z * like(np.sqrt(w), Z)[:, None]
        K = host(Z.T @ Z)
        if squares is not None:  # the variances are the same with and without products
            np.fill_diagonal(K, squares)
        return Sum(power, (weight, sums, K))

    def moments(self, total: Sum | None, n: int) -> tuple[Moments, int]:
        """The moments in units of a power of two, and the power."""
        if total is None:
            return Moments(0.0, np.zeros(n), np.zeros((n, n) if self.products else n)), 0
        (weight,), sums, second = total.totals
        if weight == 0:
            return Moments(0.0, np.zeros(n), np.zeros_like(second)), 0
        shift = sums / weight
        if self.origin is None:
            return Moments(float(weight), shift, second, about_zero=True), total.power
        mean = _check.scaled(self.origin, total.power) + shift
        off = np.outer(sums, shift) if self.products else sums * shift
        return Moments(float(weight), mean, second - off), total.power


def _in_units(rows: Array, origin: np.ndarray | None = None) -> tuple[Array, int]:
    """The rows in float64, in units of a power of two if their squares would leave the range.

    On the CPU they are a NumPy array in C order, so that no layout and no library changes a bit.
    """
    if on_gpu(rows):
        rows = double(rows)
        xp = namespace(rows)
        largest = max(float(xp.max(rows)), -float(xp.min(rows)))
    else:
        rows = np.ascontiguousarray(host(rows), dtype=np.float64)
        largest = max(float(rows.max()), -float(rows.min()))
    if origin is not None:
        largest = max(largest, float(np.max(np.abs(origin))))
    power = _check.exponent(largest, rows)
    return _check.scaled(rows, power), power


def moments_of(
    X: Any,
    weights: np.ndarray | None = None,
    *,
    about_mean: bool = True,
    products: bool = False,
    memory: int = READ,
) -> tuple[Moments, int]:
    """The moments of an array, or of rows read in blocks, and the power of two of their units.

    X : an array of any library, or a source, whose rows are checked on the way. Tiles are added in
        order, so the result does not depend on its chunks.
    """
    what, total = Summation(None, weights, products), None
    if source := X if isinstance(X, RowBlocks) else None:
        n, height = X.n, tile_height(X.n)
        height = height if products else min(height, max(1, memory // (64 * n)))
        blocks = tiles(X, height, memory // 8)
    else:
        m, n = X.shape
        height = tile_height(n)
        blocks = ((a, X[a : min(m, a + height), :]) for a in range(0, m, height))
    for start, rows in blocks:
        if source:
            _check.finite(rows, "X", offset=start, names=source.names, ways=source.ways)
        if start == 0 and about_mean:
            what = Summation.about(rows, weights, products=products)
        total = added(total, what.block(rows, start), in_place=True)
    return what.moments(total, n)


@dataclass(frozen=True)
class Piece:
    """Rows start … stop − 1: the sums of the complete blocks, and the rows around them."""

    what: Summation
    start: int
    stop: int
    head: np.ndarray
    total: Sum | None
    tail: np.ndarray


def piece(rows: np.ndarray, start: int, what: Summation | None = None) -> Piece:
    """The piece of an array of finite rows, the first of which is row `start` of X."""
    what, height, stop = what or Summation(), tile_height(rows.shape[1]), start + len(rows)
    first = min(stop, -(-start // height) * height)
    last = max(first, stop // height * height)
    total: Sum | None = None
    for a in range(first, last, height):
        total = added(total, what.block(rows[a - start : a - start + height], a), in_place=True)
    # copies, so that a few rows do not keep a chunk in memory
    head, tail = np.array(rows[: first - start]), np.array(rows[last - start :])
    return Piece(what, start, stop, head, total, tail)


def join(left: Piece, right: Piece) -> Piece:
    """The piece of all rows of two that follow one another."""
    if left.stop != right.start:
        raise ValueError(
            f"pieces must follow one another, got one up to row {left.stop - 1} and one from row "
            f"{right.start}"
        )
    if (left.start + len(left.head)) % tile_height(left.head.shape[1]):  # no block begins in left
        return replace(right, start=left.start, head=np.concatenate([left.head, right.head]))
    edge = left.stop - len(left.tail)
    seam = piece(np.concatenate([left.tail, right.head]), edge, left.what)
    total = added(added(left.total, seam.total), right.total)
    tail = np.concatenate([seam.tail, right.tail])
    return Piece(left.what, left.start, right.stop, left.head, total, tail)


def join_all(pieces: list[Piece]) -> Piece:
    """The piece of several that follow one another."""
    return reduce(join, pieces)


def moments_of_piece(every: Piece) -> tuple[Moments, int]:
    """The moments in units of a power of two from the piece of all rows, and the power."""
    rest = len(every.tail)
    last = every.what.block(every.tail, every.stop - rest) if rest else None
    return every.what.moments(added(every.total, last), every.tail.shape[1])
