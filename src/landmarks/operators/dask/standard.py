"""The operator of the columns of a dask array, as they are or centred and scaled.

The result is bit-identical for all chunks and workers. The mean of the first rows is subtracted
before summing, so there is no cancellation when the data lie far from zero.
"""

from typing import Any

import numpy as np

from ... import _check
from ...readers.frames import column_names
from ..base import Ledger, Operator
from ..dense import Dense, gram_is_cheaper
from ..rows import gram as _gram
from ..rows.base import float_dtype
from ..rows.moments import Moments
from ..rows.out_of_core import scaled_gram
from ..standard import Standard
from .client import announce, compute, constant, lazy, tree
from .data import (
    added,
    checked,
    chunks_of_rows,
    distributed_gram,
    each_chunk,
    finite_chunk,
    in_tiles,
    tiled,
)


def standard_gram(X: Any, standard: Standard) -> tuple[np.ndarray, int]:
    """The Gram matrix of the prepared columns of a tall X and its exponent, from one pass.

    The pass adds up the Gram matrix of [X − origin, unit]: its last column holds the sums.
    """
    m, n = X.shape
    origin, unit = compute(lazy(_first_rows, chunks_of_rows(X[: _gram.BLOCK])[0]))
    reading, leaves = each_chunk(X, _read_piece, constant(origin), unit)
    G, exponent = compute(lazy(_gram.gram, tree(_gram.join_all, leaves)), reading, leaves)
    sums, weight = G[:n, n], G[n, n]
    scatter = G[:n, :n] - np.outer(sums, sums) / weight
    mean = _check.scaled(origin + unit * sums / weight, exponent // 2)
    moments = Moments(float(m), mean, scatter)
    _, factor, _ = standard.parts(mean, moments.variance, _accuracy(X))
    K = scaled_gram(moments, standard.center, factor)
    return K, 0 if standard.scale else exponent


def standard_tiles(X: Any, standard: Standard) -> Any:
    """The prepared columns of a wide X as a dask array, after two passes over its tiles."""
    tiles = in_tiles(X)
    power = _check.exponent(tiles.largest(), tiles.like)
    origin = compute(lazy(_row_means, list(tiles.tiles[0]), power))
    origins = np.split(origin, tiles.col_edges[1:-1])
    parts = [
        tree(added, [lazy(_tile_sums, tile, about, power) for tile in column])
        for column, about in zip(tiles.tiles.T, origins, strict=True)
    ]
    sums, squares = np.concatenate(compute(lazy(list, parts)), axis=1) / X.shape[0]
    mean, factor, _ = standard.parts(origin + sums, squares - sums**2, _accuracy(X))
    dtype = tiles.like.dtype
    mean = np.ldexp(mean, power)
    factor = np.ldexp(factor, -power) if standard.scale else factor
    return (tiles.X - mean.astype(dtype)) * factor.astype(dtype)


def _accuracy(X: Any) -> float:
    return float(np.finfo(float_dtype(X.dtype)).eps)


def _first_rows(chunks: list[Any]) -> tuple[np.ndarray, float]:
    """The mean of the first rows, and a power of two near the largest distance from it."""
    rows = np.concatenate([finite_chunk(chunk, "X", 0) for chunk in chunks]).astype(np.float64)
    origin = rows.mean(axis=0)
    largest = float(np.max(np.abs(rows - origin)))
    return origin, 2.0 ** int(np.frexp(largest)[1]) if largest > 0 else 1.0


def _read_piece(
    chunk: Any, start: int, topic: str, i: int, origin: np.ndarray, unit: float
) -> _gram.Piece:
    rows = finite_chunk(chunk, "X", start) - origin
    part = _gram.piece(np.column_stack([rows, np.full(len(rows), unit)]), start)
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


def dask_data(X: Any, standard: Standard | None = None) -> Operator:
    """The operator of the columns of a dask array or data frame; a tall one is read here, once."""
    standard = standard or Standard()
    names = column_names(X)
    X = checked(X, "X")
    m, n = X.shape
    if not gram_is_cheaper(m, n, 8):
        return tiled(X if standard.plain else standard_tiles(X, standard), names)
    K, exponent = distributed_gram(X) if standard.plain else standard_gram(X, standard)
    ledger = Ledger()
    ledger.add(entries=m * n)
    return Dense(K, exponent=exponent, ledger=ledger, names=names)
