"""Weighted means and Gram matrices that add up over blocks of rows.

Means and scatter are merged as by Chan, Golub and LeVeque, The American Statistician 37 (1983):
there is no cancellation when the data lie far from zero. Sums over many blocks are compensated for
rounding errors, as by Knuth and Neumaier (ZAMM 54, 1974).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ... import _check
from .base import RowBlocks
from .gram import two_sum
from .tiles import largest, pass_height, tile_height, tiles


@dataclass(frozen=True)
class Moments:
    """The weight W = Σw, the mean and the scatter Σ w (x − mean)(x − mean)ᵀ of some rows x."""

    weight: float
    mean: np.ndarray
    scatter: np.ndarray

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of rows."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        shift = other.mean - self.mean
        between = self.weight * other.weight / weight * np.outer(shift, shift)
        return Moments(
            weight,
            self.mean + other.weight / weight * shift,
            self.scatter + other.scatter + between,
        )

    @property
    def variance(self) -> np.ndarray:
        """The variance of each column."""
        return np.maximum(np.diag(self.scatter), 0.0) / max(self.weight, np.finfo(float).tiny)

    def gram(self, center: bool) -> np.ndarray:
        """Σ w x xᵀ, of the centred rows or of the rows as they are."""
        if center:
            return self.scatter
        return self.scatter + self.weight * np.outer(self.mean, self.mean)

    def resolved(self, missing: str) -> Moments:
        """These moments: with no value missing there is nothing to resolve."""
        return self


class CompensatedSum:
    """A sum of arrays of one shape, as accurate as in twice the precision."""

    STRIP = 2**15  # entries handled at a time, so that the temporaries stay in the cache

    def __init__(self, shape: tuple[int, ...]):
        self.value = np.zeros(shape)
        self.carry = np.zeros(shape)

    def add(self, term: np.ndarray) -> None:
        """Add one more; what the sum rounds off goes to the carry."""
        value, carry, term = self.value.reshape(-1), self.carry.reshape(-1), term.reshape(-1)
        for start in range(0, len(value), self.STRIP):
            part = slice(start, start + self.STRIP)
            value[part], error = two_sum(value[part], term[part])
            carry[part] += error

    def rescale(self, power: int) -> None:
        """Divide by 2**power, which changes no digit."""
        self.value = _check.scaled(self.value, power)
        self.carry = _check.scaled(self.carry, power)

    @property
    def total(self) -> np.ndarray:
        """The sum, rounded once."""
        return self.value + self.carry


def gram(Z: np.ndarray) -> np.ndarray:
    """ZᵀZ."""
    return Z.T @ Z


def squares(Z: np.ndarray) -> np.ndarray:
    """The diagonal of ZᵀZ alone."""
    return np.einsum("ij,ij->j", Z, Z)


Product = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Part:
    """The moments of one tile in units of a power of two that follows its largest value."""

    moments: Moments
    largest: float
    sums: np.ndarray

    @property
    def power(self) -> int:
        """The exponent of the units."""
        return _check.exponent(self.largest, self.moments.mean)


def part(
    X: np.ndarray, largest: float, weights: np.ndarray | None, *, about_mean: bool, product: Product
) -> Part:
    """The moments of a tile; about zero, the mean is 0 and the scatter is the Gram matrix."""
    X = _check.scaled(X, _check.exponent(largest, X))
    w = np.ones(len(X)) if weights is None else weights
    W = float(w.sum())
    mean, sums = np.zeros(X.shape[1]), w @ X
    if about_mean and W > 0:
        mean = sums / W
        X = X - mean
    Z = X if weights is None else X * np.sqrt(w)[:, None]
    return Part(Moments(W, mean, product(Z)), largest, sums)


class MomentSum:
    """The moments of all tiles so far, in units of 2**power that follow the largest value seen."""

    def __init__(self, n: int, product: Product):
        self.weight = 0.0
        self.mean = np.zeros(n)
        self.sums = np.zeros(n)
        self.power = 0
        self._largest = 0.0
        self._sum = CompensatedSum((n, n) if product is gram else (n,))

    def add(self, part: Part) -> None:
        """Add the moments of one more tile."""
        self._rescale(max(self._largest, part.largest))
        shift_power = self.power - part.power
        scatter = _check.scaled(part.moments.scatter, 2 * shift_power)
        shift = _check.scaled(part.moments.mean, shift_power) - self.mean
        self.sums += _check.scaled(part.sums, shift_power)
        weight = self.weight + part.moments.weight
        if self.weight > 0 and np.any(shift):
            shift_square = np.outer(shift, shift) if scatter.ndim == 2 else shift**2
            scatter = scatter + self.weight * part.moments.weight / weight * shift_square
        self._sum.add(scatter)
        self.mean = self.mean + part.moments.weight / max(weight, np.finfo(float).tiny) * shift
        self.weight = weight

    @property
    def moments(self) -> Moments:
        """The moments of all rows so far; the scatter is a diagonal when the product is."""
        return Moments(self.weight, self.mean, self._sum.total)

    def _rescale(self, largest: float) -> None:
        power = _check.exponent(largest, self.mean)
        if power != self.power:
            self._sum.rescale(2 * (power - self.power))
            self.mean = _check.scaled(self.mean, power - self.power)
            self.sums = _check.scaled(self.sums, power - self.power)
        self.power = power
        self._largest = largest


def summed(
    source: RowBlocks,
    *,
    about_mean: bool,
    product: Product,
    memory: int,
    weights: np.ndarray | None = None,
) -> MomentSum:
    """The sums after one pass over all rows, which are checked on the way.

    Tiles are read ahead while others are processed. They are added in order, so the result depends
    neither on the chunks of the source nor on the threads.
    """
    n = source.n
    sums = MomentSum(n, product)
    height = tile_height(n) if product is gram else min(tile_height(n), pass_height(n, memory))
    ahead = tiles_ahead(8 * (n * n if product is gram else n) + 16 * height * n, memory)

    def work(start: int, X: np.ndarray) -> Part:
        w = None if weights is None else weights[start : start + len(X)]
        return part(X, largest(X, source, start), w, about_mean=about_mean, product=product)

    for one in in_order(work, tiles(source, height, memory // 8, buffers=ahead), ahead):
        sums.add(one)
    return sums


Result = TypeVar("Result")


def tiles_ahead(bytes_each: int, memory: int) -> int:
    """How many tiles to work on at once: one per BLAS thread and one being read, if they fit."""
    return max(1, min(_threads() + 1, memory // (2 * bytes_each)))


def in_order(
    work: Callable[..., Result], items: Iterable[tuple[Any, ...]], ahead: int
) -> Iterator[Result]:
    """The results of the items in order; up to `ahead` items exist at a time.

    BLAS uses its own threads only if `ahead` is 1; otherwise each item has one thread.

    The items are made in the thread of the caller, since a user's iterator may depend on it.
    """
    if ahead == 1:
        yield from (work(*item) for item in items)
        return
    from threadpoolctl import threadpool_limits

    waiting: deque[Future[Result]] = deque()
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(ahead - 1) as pool:
        for item in items:
            waiting.append(pool.submit(work, *item))
            if len(waiting) == ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _threads() -> int:
    from threadpoolctl import threadpool_info

    return max(
        (int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"),
        default=1,
    )
