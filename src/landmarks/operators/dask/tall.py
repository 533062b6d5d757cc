"""The columns of a tall dask array, as they are or centred and scaled: XᵀX from one pass over X.

XᵀX is here if it is small. If it is too large for this machine, its rows stay on the workers: each
keeps some strips of them. They are what a part of a kernel evaluates from its points (`kernel`), so
methods that pick columns work in shards here too; others have vectors of length n on this machine.

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
from ..._array import Indices
from ...runs import runner
from ..base import MEMORY, Operator, determining, product_seconds
from ..dense import Dense
from ..prepare import Preparation, Prepared, scaled_gram, unprepared
from ..sources import tile_height
from ..sums import Piece, Summation, join_all, moments_of_piece, piece
from . import shard as _shard
from .client import (
    OVERHEAD,
    TASK,
    Lazy,
    array_of,
    checked,
    chunks_of_rows,
    compute,
    constant,
    current_client,
    digest_of,
    finite_chunk,
    gathered,
    keep,
    lazy,
    made,
    places,
    tree,
    worker_memory,
)
from .kernel import LOCAL, InShards
from .wide import Tiled, accuracy, memory, standard_tiles, tiled


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
    limits = worker_memory(client).values()
    return max(MEMORY, min([here // 32, *(limit // 40 for limit in limits)]))


def standard_gram(X: Any, standard: Preparation, names: tuple[str, ...] | None) -> Prepared:
    """The operator of the prepared columns of a tall X, from one pass over it."""
    m, n = X.shape
    what, named = None, constant(names)
    if not standard.plain:
        first = zip(*chunks_of_rows(X[: tile_height(n)]), strict=True)
        parts = [lazy(finite_chunk, chunk, "X", *where, named) for chunk, *where in first]
        what = compute(lazy(_about, parts))
    chunks = zip(*chunks_of_rows(X), strict=True)
    pieces = [lazy(_piece, chunk, *where, what, named) for chunk, *where in chunks]
    moments, power = compute(lazy(moments_of_piece, tree(join_all, pieces)), pieces)
    steps = standard.parts(moments.mean, moments.variance, accuracy(X))
    K = scaled_gram(moments, standard.center, steps[1])
    operator = Dense(K, exponent=0 if standard.scale else 2 * power, names=names)
    operator.ledger.add(entries=m * n)
    return standard.result(operator, steps, moments, power)


def _about(parts: list[np.ndarray]) -> Summation:
    return Summation.about(np.concatenate(parts))


def _piece(
    chunk: Any,
    rows: range,
    partition: int | None,
    what: Summation | None,
    names: tuple[str, ...] | None,
) -> Piece:
    return piece(finite_chunk(chunk, "X", rows, partition, names), rows.start, what)


@dataclass(frozen=True)
class StoredRows:
    """What `shard.Rule` is for points: some rows of K, the first of which has number `start`.

    The points of a part are the numbers of its rows.
    """

    rows: np.ndarray
    start: int

    def __sizeof__(self) -> int:
        return 64 + self.rows.nbytes

    def placed(self, points: np.ndarray) -> np.ndarray:
        return points.astype(np.int64)

    def moved(self, array: np.ndarray) -> np.ndarray:
        return array

    def block(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.rows[np.ix_(x[:, 0] - self.start, y[:, 0])]

    def product(self, x: np.ndarray, y: np.ndarray, V: np.ndarray) -> np.ndarray:
        """All rows times V; the columns y follow one another."""
        return self.rows[:, int(y[0, 0]) : int(y[-1, 0]) + 1] @ V

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        return self.rows[x[:, 0] - self.start, x[:, 0]]


class DaskGram(InShards):
    """The operator XᵀX in strips of rows that the workers keep; `gram_in_strips` makes it."""

    vectors_here: ClassVar[bool] = True
    product_error = float(np.finfo(np.float64).eps)

    def __init__(self, strips: Sequence[Lazy], spots: Sequence[str | None], X: Tiled):
        self.strips, edges = list(strips), X.col_edges
        numbers = np.split(np.arange(X.n, dtype=np.float64)[:, None], edges[1:-1])
        starts = [int(start) for start in edges[:-1]]
        rules = [
            lazy(StoredRows, *own, at=at) for *own, at in zip(strips, starts, spots, strict=True)
        ]
        super().__init__(list(map(constant, numbers)), rules, spots, edges, 1, X.exponent)
        self.names = X.names

    @cached_property
    def digest(self) -> str:
        """SHA-256 of K, from that of the strips."""
        return digest_of(self.strips)

    def at(self, indices: Indices) -> np.ndarray:
        return np.asarray(indices, dtype=np.float64)[:, None]

    def local_values(self, points: np.ndarray) -> np.ndarray:
        sent, every = constant(points), points[:, 0].astype(np.int64)
        return gathered(
            every,
            self.edges,
            lambda i, inside: lazy(_shard.columns, self.stored[i][inside], self.rules[i], sent),
        )

    def restrict(self, indices: Indices) -> Operator:
        if len(indices) > LOCAL:
            return super().restrict(indices)
        values = self.local_values(self.at(indices))
        return Dense(values, exponent=self.exponent, ledger=self.ledger)


determining.register(DaskGram, lambda operator: (operator.digest,))


@product_seconds.register
def _seconds(operator: DaskGram) -> float:
    return OVERHEAD + 2 * TASK * len(operator.strips) + 5e-10 * operator.n**2


def gram_in_strips(X: Tiled) -> DaskGram:
    """XᵀX from its tiles, in one pass over the rows: one height of tiles at a time.

    Only products on and above the diagonal are computed. They are added in the order of the rows,
    so that the result has the same bits for all chunks and any number of workers.
    """
    count = len(X.tiles.T)
    spots = places(
        count
    )  # a long strip goes with a short one: what is left of the diagonal is last
    spots = [spots[2 * min(c, count - 1 - c) + (2 * c >= count)] for c in range(count)]
    strips: list[Lazy] = [None] * len(spots)
    for r, row in enumerate(X.tiles):
        strips = made(  # no row of tiles ahead
            [
                lazy(_with_rows, strip, list(row[c:]), X.power, at=at)
                for c, (strip, at) in enumerate(zip(strips, spots, strict=True))
            ]
        )
        runner.report("reading", r + 1, len(X.tiles))
    edges = [int(edge) for edge in X.col_edges]
    whole = []
    for c, (strip, at) in enumerate(zip(strips, spots, strict=True)):
        left = [
            lazy(_turned, strips[j], edges[c] - edges[j], edges[c + 1] - edges[j]) for j in range(c)
        ]
        whole.append(lazy(_joined, left, strip, at=at))
    return DaskGram(keep(whole), spots, X)


def _with_rows(total: np.ndarray | None, tiles: list[Any], power: int) -> np.ndarray:
    """The sum plus the products of the first tile's columns with those of all tiles."""
    first = _check.scaled(array_of(tiles[0]).astype(np.float64), power)
    parts = [first.T @ first]
    parts += [first.T @ _check.scaled(array_of(tile), power) for tile in tiles[1:]]
    found = np.concatenate(parts, axis=1)
    return found if total is None else total + found


def _turned(strip: np.ndarray, start: int, stop: int) -> np.ndarray:
    return strip[:, start:stop].T


def _joined(left: list[np.ndarray], strip: np.ndarray) -> np.ndarray:
    return np.concatenate([*left, strip], axis=1)
