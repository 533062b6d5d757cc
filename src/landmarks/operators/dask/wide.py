"""The columns of a wide dask array, as they are or centred and scaled: products of its tiles.

Tiles depend only on the shape of X, and their products are added in a fixed order, so the result is
bit-identical for all chunks and numbers of workers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _check
from ..._array import Array, Indices, Part
from ...readers.frames import float_dtype
from ..base import DENSE_MEMORY, MEMORY, Operator, on_workers, product_seconds
from ..dense import Data
from ..prepare import Preparation
from .client import (
    OVERHEAD,
    TASK,
    Lazy,
    array_of,
    by_part,
    compute,
    computed,
    constant,
    current_client,
    finite_chunk,
    gathered,
    keep,
    lazy,
    tree,
    worker_memory,
)

TILE_ROWS = 4096  # of a tile of a wide array; with TILE_ENTRIES numbers it takes 32 MiB
TILE_ENTRIES = 2**22


def tiled(X: Any, names: tuple[str, ...] | None = None) -> Tiled:
    """The operator of a wide dask array, checked in one pass; workers store it if it fits."""
    first = in_tiles(X, names)
    return Tiled(first.X, power=_check.exponent(first.largest(), first.like), names=names)


def in_tiles(X: Any, names: tuple[str, ...] | None = None) -> Tiled:
    """The operator of a wide dask array cut into tiles by its shape alone, not checked yet."""
    m, n = X.shape
    height = min(m, TILE_ROWS)
    X = X.astype(float_dtype(X.dtype)).rechunk((height, min(n, TILE_ENTRIES // height)))
    return Tiled(keep([X])[0] if X.nbytes <= memory() // 2 else X, names=names)


def standard_tiles(X: Any, standard: Preparation, names: tuple[str, ...] | None) -> Any:
    """The prepared columns of a wide X as a dask array, after two passes over its tiles."""
    tiles = in_tiles(X, names)
    power = _check.exponent(tiles.largest(), tiles.like)
    rows = tiles.X.map_blocks(_in_double, power, dtype=np.float64)
    origin = compute(rows[:TILE_ROWS].mean(axis=0))
    rows = rows - origin
    sums, squares = np.asarray(computed([rows.sum(axis=0), (rows * rows).sum(axis=0)])) / len(X)
    mean, factor, _ = standard.parts(origin + sums, squares - sums**2, accuracy(X))
    dtype = tiles.like.dtype
    mean = np.ldexp(mean, power)
    factor = np.ldexp(factor, -power) if standard.scale else factor
    return (tiles.X - mean.astype(dtype)) * factor.astype(dtype)


def accuracy(X: Any) -> float:
    """The rounding of its numbers."""
    return float(np.finfo(float_dtype(X.dtype)).eps)


def memory() -> int:
    """The bytes that the workers may use together; without a cluster, twice DENSE_MEMORY."""
    client = current_client()
    return 2 * DENSE_MEMORY if client is None else sum(worker_memory(client).values())


class Tiled(Operator):
    """The operator XᵀX of a wide dask array, by products of tiles; `tiled` makes it."""

    def __init__(self, X: Any, *, power: int = 0, names: tuple[str, ...] | None = None):
        super().__init__(X.shape[1], np.zeros(0, dtype=X.dtype), exponent=2 * power)
        self.X = X  # what the workers keep of it they keep as long as this lives
        self.tiles = X.to_delayed()
        self.row_edges, self.col_edges = (np.cumsum([0, *sizes]) for sizes in X.chunks)
        self.power, self.names = power, names

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        left, right = (
            np.arange(self.n) if indices is None else np.asarray(indices)
            for indices in (rows, cols)
        )
        self.ledger.add(products=block.shape[1], entries=self.X.shape[0] * (len(left) + len(right)))
        if 0 in (len(left), len(right)):
            return np.zeros((len(left), block.shape[1]), dtype=self.like.dtype)
        blocks = [
            (c, inside, constant(block[spots]))
            for c, inside, spots in by_part(right, self.col_edges)
        ]
        middle = [
            tree(sum, [lazy(_times, row[c], inside, V, self.power) for c, inside, V in blocks])
            for row in self.tiles
        ]

        def strip(c: int, inside: Any) -> Lazy:
            pairs = zip(self.tiles[:, c], middle, strict=True)
            return tree(sum, [lazy(_adjoint, tile, inside, U, self.power) for tile, U in pairs])

        return gathered(left, self.col_edges, strip)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.X.shape[0] * self.n)
        squares = [[lazy(_squares, tile, self.power) for tile in row] for row in self.tiles.T]
        return np.concatenate(computed([tree(sum, row) for row in squares]))

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices))
        return self.matmul(np.eye(len(indices), dtype=self.like.dtype), cols=indices)

    def restrict(self, indices: Indices) -> Operator:
        m = self.X.shape[0]
        if m * len(indices) * self.like.itemsize > MEMORY:
            return super().restrict(indices)
        X = gathered(
            np.asarray(indices),
            self.col_edges,
            lambda c, inside: lazy(_taken, list(self.tiles[:, c]), inside),
        )
        X = np.ascontiguousarray(X.T)
        return Data(_check.scaled(X, self.power), exponent=self.exponent, ledger=self.ledger)

    def largest(self) -> float:
        """The largest |x| of all tiles, which are checked on the way."""
        calls = []
        for c, column in enumerate(self.tiles.T):
            start, stop = (int(edge) for edge in self.col_edges[c : c + 2])
            names = constant(None if self.names is None else self.names[start:stop])
            for r, tile in enumerate(column):
                rows = range(*self.row_edges[r : r + 2].tolist())
                calls.append(lazy(_largest, tile, rows, names, start))
        return compute(tree(max, calls), calls)


on_workers.register(Tiled, lambda operator: True)


@product_seconds.register
def _seconds(operator: Tiled) -> float:
    return OVERHEAD + 2 * operator.tiles.size * TASK + 1e-9 * operator.X.shape[0] * operator.n


def _largest(tile: Any, rows: range, names: tuple[str, ...] | None, column: int) -> float:
    values = finite_chunk(tile, "X", rows, None, names, column)
    return max(float(values.max()), -float(values.min()))


def _times(tile: Any, inside: Any, V: np.ndarray, power: int) -> np.ndarray:
    return _check.scaled(array_of(tile)[:, inside], power) @ V


def _adjoint(tile: Any, inside: Any, U: np.ndarray, power: int) -> np.ndarray:
    return _check.scaled(array_of(tile)[:, inside], power).T @ U


def _squares(tile: Any, power: int) -> np.ndarray:
    return np.sum(_check.scaled(array_of(tile), power) ** 2, axis=0)


def _taken(tiles: list[Any], inside: Any) -> np.ndarray:
    return np.concatenate([array_of(tile)[:, inside] for tile in tiles]).T


def _in_double(tile: Any, power: int) -> np.ndarray:
    return _check.scaled(array_of(tile).astype(np.float64), power)
