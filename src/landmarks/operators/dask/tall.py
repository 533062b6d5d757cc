"""The operator of the columns of a dask array, as they are or centred and scaled.

XᵀX is here if it is small. If it is too large for this machine but the data are tall, its rows stay
on the workers: each keeps some strips of them. They are what a shard of a kernel evaluates from its
points (`parted`), so methods that pick columns work in shards here too; others have vectors of
length n on this machine. Of wide data products of tiles are computed (`data`).

The result is bit-identical for all chunks and workers. The mean of the first rows is subtracted
before summing, so there is no cancellation when the data lie far from zero.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._array import Array, Indices, Part
from ...runs import runner
from ..base import (
    MEMORY,
    Ledger,
    Operator,
    determining,
    faster_squares,
    new_rows,
    product_seconds,
)
from ..dense import Dense
from ..prepare import Preparation, Prepared, scaled_gram, unprepared
from ..sources import float_dtype, tile_height
from ..sums import Piece, Summation, join_all, moments_of_piece, piece
from .client import (
    Lazy,
    announce,
    compute,
    computed,
    constant,
    current_client,
    keep,
    lazy,
    made,
    tree,
    worker_memory,
)
from .data import (
    OVERHEAD,
    TASK,
    Tiled,
    _array,
    by_tile,
    checked,
    chunks_of_rows,
    digest_of,
    each_chunk,
    finite_chunk,
    in_tiles,
    memory,
    tiled,
)
from .kernel import LOCAL, DaskKernel
from .parted import Parted


def dask_data(X: Any, standard: Preparation, names: tuple[str, ...] | None) -> Prepared:
    """The prepared columns of a dask array or data frame; a tall one is read here, once."""
    X = checked(X, "X")
    m, n = X.shape
    if n <= 2 * m and 8 * n * n <= gram_memory():
        return standard_gram(X, standard, names)
    tiles = tiled(X if standard.plain else standard_tiles(X, standard, names), names)
    if n <= 2 * m and 16 * n * n <= memory() // 2:
        return unprepared(gram_in_strips(tiles))
    return unprepared(tiles)


def gram_memory() -> int:
    """The bytes that XᵀX may take here: 256 MB, or more where there is far more memory.

    A worker has the sums of ten chunks at a time while they are added, each twice that size.
    """
    client = current_client()
    if client is None:
        return MEMORY
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(MEMORY, min([here // 32, *(limit // 40 for limit in worker_memory(client))]))


def standard_gram(X: Any, standard: Preparation, names: tuple[str, ...] | None) -> Prepared:
    """The operator of the prepared columns of a tall X, from one pass over it."""
    m, n = X.shape
    what, named = None, constant(names)
    if not standard.plain:
        chunks, ranges = chunks_of_rows(X[: tile_height(n)])
        what = compute(lazy(_about_first_rows, chunks, ranges, named))
    reading, leaves, _ = each_chunk(X, _read_piece, constant(what), named)
    every = lazy(moments_of_piece, tree(join_all, leaves))
    moments, power = compute(every, reading, leaves)
    parts = standard.parts(moments.mean, moments.variance, _accuracy(X))
    K = scaled_gram(moments, standard.center, parts[1])
    operator = Dense(K, exponent=0 if standard.scale else 2 * power, names=names)
    operator.ledger.add(entries=m * n)
    return standard.result(operator, parts, moments, power)


def standard_tiles(X: Any, standard: Preparation, names: tuple[str, ...] | None) -> Any:
    """The prepared columns of a wide X as a dask array, after two passes over its tiles."""
    tiles = in_tiles(X, names)
    power = _check.exponent(tiles.largest(), tiles.like)
    origin = compute(lazy(_row_means, list(tiles.tiles[0]), power))
    origins = np.split(origin, tiles.col_edges[1:-1])
    parts = [
        tree(sum, [lazy(_tile_sums, tile, about, power) for tile in column])
        for column, about in zip(tiles.tiles.T, origins, strict=True)
    ]
    sums, squares = np.concatenate(computed(parts), axis=1) / X.shape[0]
    mean, factor, _ = standard.parts(origin + sums, squares - sums**2, _accuracy(X))
    dtype = tiles.like.dtype
    mean = np.ldexp(mean, power)
    factor = np.ldexp(factor, -power) if standard.scale else factor
    return (tiles.X - mean.astype(dtype)) * factor.astype(dtype)


def _accuracy(X: Any) -> float:
    return float(np.finfo(float_dtype(X.dtype)).eps)


def _about_first_rows(
    chunks: list[Any], ranges: list[range], names: tuple[str, ...] | None
) -> Summation:
    each = zip(chunks, ranges, strict=True)
    parts = [finite_chunk(chunk, "X", rows, names) for chunk, rows in each]
    return Summation.about(np.concatenate(parts))


def _read_piece(
    chunk: Any,
    rows: range,
    topic: str,
    i: int,
    partition: int | None,
    what: Summation | None,
    names: tuple[str, ...] | None,
) -> Piece:
    part = piece(finite_chunk(chunk, "X", rows, names, partition=partition), rows.start, what)
    announce(topic, i)
    return part


def _row_means(tiles: list[Any], power: int) -> np.ndarray:
    """The means of the columns over the rows of the first tiles."""
    return np.concatenate([_scaled(tile, power).mean(axis=0) for tile in tiles])


def _tile_sums(tile: Any, origin: np.ndarray, power: int) -> np.ndarray:
    """The sums, and the sums of squares, of the columns of a tile less the origin."""
    rows = _scaled(tile, power) - origin
    return np.stack([rows.sum(axis=0), np.einsum("ij,ij->j", rows, rows)])


def _scaled(tile: Any, power: int) -> np.ndarray:
    rows = np.asarray(tile.toarray() if hasattr(tile, "toarray") else tile, dtype=np.float64)
    return _check.scaled(rows, power)


@dataclass(frozen=True)
class StoredRows:
    """What `shards.Rule` is for points: some rows of K, the first of which has number `start`.

    The points of a shard are the numbers of its rows.
    """

    rows: np.ndarray
    start: int

    def __sizeof__(self) -> int:
        return 64 + self.rows.nbytes

    def placed(self, points: np.ndarray) -> np.ndarray:
        return points.astype(np.int64)

    def moved(self, array: np.ndarray) -> np.ndarray:
        return array

    def values(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.rows[np.ix_(x[:, 0] - self.start, y[:, 0])]

    h = values

    def product(self, x: np.ndarray, y: np.ndarray, V: np.ndarray) -> np.ndarray:
        """All rows times V; the columns y follow one another."""
        return self.rows[:, int(y[0, 0]) : int(y[-1, 0]) + 1] @ V

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        return self.rows[x[:, 0] - self.start, x[:, 0]]


class DaskGram(DaskKernel):
    """The operator XᵀX in strips of rows that the workers keep; `gram_in_strips` makes it."""

    vectors_here: ClassVar[bool] = True
    h: Any = None

    def __init__(self, strips: Sequence[Lazy], X: Tiled):
        self.strips = list(strips)
        self.n = X.n
        self.edges = X.col_edges
        self.height, self.d = int(self.edges[1]), 1
        numbers = np.split(np.arange(self.n, dtype=np.float64)[:, None], self.edges[1:-1])
        starts = [int(start) for start in self.edges[:-1]]
        self.stored = list(zip(map(constant, numbers), starts, strict=True))
        self.rules = [lazy(StoredRows, *pair) for pair in zip(self.strips, starts, strict=True)]
        self.like = np.zeros(0)
        self.ledger = Ledger()
        self.exponent, self.names = X.exponent, X.names
        self.last: Parted | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of K, from that of the strips."""
        return digest_of(self.strips)

    @property
    def product_error(self) -> float:
        """The rounding of float64."""
        return float(np.finfo(np.float64).eps)

    def local_values(self, points: np.ndarray) -> np.ndarray:
        """K at a few rows and columns."""
        indices = points[:, 0].astype(np.int64)
        return self._rows(indices, lambda strip, inside: lazy(_entries, strip, inside, indices))

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        right = self.n if cols is None else len(cols)
        left = self.n if rows is None else len(rows)
        self.ledger.add(products=block.shape[1], entries=left * right)
        V = np.ascontiguousarray(block, dtype=np.float64)
        if cols is not None:
            V = np.zeros((self.n, block.shape[1]))
            np.add.at(V, np.asarray(cols), block)
        sent = constant(V)
        every = np.arange(self.n) if rows is None else np.asarray(rows, dtype=np.int64)
        return self._rows(every, lambda strip, inside: lazy(_times, strip, inside, sent))

    def _rows(self, indices: np.ndarray, part: Any) -> np.ndarray:
        """What part(strip, rows in it) gives for the strips that have these rows, in order."""
        wanted = list(by_tile(indices, self.edges))
        if not wanted:
            return np.zeros((0, 0))
        values = computed([part(self.strips[i], inside) for i, inside, _ in wanted])
        found = np.zeros((len(indices), *values[0].shape[1:]))
        for (_, _, places), rows in zip(wanted, values, strict=True):
            found[places] = rows
        return found

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        chosen = np.asarray(indices, dtype=np.int64)
        calls = [lazy(_entries, strip, slice(None), chosen) for strip in self.strips]
        return np.concatenate(computed(calls))

    def restrict(self, indices: Indices) -> Operator:
        if len(indices) > LOCAL:
            return super().restrict(indices)
        values = self.local_values(self._at(indices))
        return Dense(values, exponent=self.exponent, ledger=self.ledger)

    def _at(self, indices: Indices) -> np.ndarray:
        """The numbers of rows, as the points of a shard have them."""
        return np.asarray(indices, dtype=np.float64)[:, None]


@determining.register
def _determining(operator: DaskGram) -> tuple[Any, ...]:
    return (operator.digest,)


@faster_squares.register
def _squares(operator: DaskGram) -> Array:
    operator.ledger.add(entries=operator.n**2)
    calls = [lazy(_sums_of_squares, strip) for strip in operator.strips]
    return np.concatenate(computed(calls))


@new_rows.register
def _no_points(operator: DaskGram, points: Array, indices: Indices) -> Array:
    return new_rows.dispatch(Operator)(operator, points, indices)


@product_seconds.register
def _seconds(operator: DaskGram) -> float:
    return OVERHEAD + 2 * TASK * len(operator.strips) + 5e-10 * operator.n**2


def gram_in_strips(X: Tiled) -> DaskGram:
    """XᵀX from its tiles, in one pass over the rows: one height of tiles at a time.

    Only products on and above the diagonal are computed. They are added in the order of the rows,
    so that the result has the same bits for all chunks and any number of workers.
    """
    strips: list[Lazy] = [None] * len(X.tiles.T)
    for r, row in enumerate(X.tiles):
        strips = made(  # no row of tiles ahead
            [lazy(_with_rows, strip, list(row[c:]), X.power) for c, strip in enumerate(strips)]
        )
        runner.report("reading", r + 1, len(X.tiles))
    edges = [int(edge) for edge in X.col_edges]
    whole = [
        lazy(
            _joined,
            [
                lazy(_turned, strips[j], edges[c] - edges[j], edges[c + 1] - edges[j])
                for j in range(c)
            ],
            strip,
        )
        for c, strip in enumerate(strips)
    ]
    return DaskGram(keep(whole), X)


def _with_rows(total: np.ndarray | None, tiles: list[Any], power: int) -> np.ndarray:
    """The sum plus the products of the first tile's columns with those of all tiles."""
    first = _check.scaled(np.asarray(_array(tiles[0]), dtype=np.float64), power)
    parts = [first.T @ first]
    parts += [first.T @ _check.scaled(_array(tile), power) for tile in tiles[1:]]
    found = np.concatenate(parts, axis=1)
    return found if total is None else total + found


def _turned(strip: np.ndarray, start: int, stop: int) -> np.ndarray:
    return strip[:, start:stop].T


def _joined(left: list[np.ndarray], strip: np.ndarray) -> np.ndarray:
    return np.concatenate([*left, strip], axis=1)


def _times(strip: np.ndarray, inside: Any, block: np.ndarray) -> np.ndarray:
    return strip[inside] @ block


def _entries(strip: np.ndarray, inside: Any, indices: np.ndarray) -> np.ndarray:
    return strip[inside][:, indices]


def _sums_of_squares(strip: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", strip, strip)
