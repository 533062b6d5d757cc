"""The operator of the columns of a dask array, as they are or centred and scaled.

The result is bit-identical for all chunks and workers. The mean of the first rows is subtracted
before summing, so there is no cancellation when the data lie far from zero.
"""

import os
from typing import Any

import numpy as np

from ... import _check
from ..base import MEMORY, Ledger
from ..dense import Dense
from ..prepare import Preparation, Prepared, scaled_gram, unprepared
from ..sources import float_dtype, tile_height
from ..sums import Piece, Summation, join_all, moments_of_piece, piece
from .client import announce, compute, constant, current_client, lazy, tree, worker_memory
from .data import (
    added,
    checked,
    chunks_of_rows,
    each_chunk,
    finite_chunk,
    in_tiles,
    memory,
    tiled,
)
from .gram import gram_in_strips


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
    ledger = Ledger()
    ledger.add(entries=m * n)
    K, exponent = (
        scaled_gram(moments, standard.center, parts[1]),
        0 if standard.scale else 2 * power,
    )
    operator = Dense(K, exponent=exponent, ledger=ledger, names=names)
    return standard.result(operator, parts, moments, power)


def standard_tiles(X: Any, standard: Preparation, names: tuple[str, ...] | None) -> Any:
    """The prepared columns of a wide X as a dask array, after two passes over its tiles."""
    tiles = in_tiles(X, names)
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
