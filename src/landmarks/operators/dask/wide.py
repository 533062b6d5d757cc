"""Columns of a dask array: the Gram matrix in one pass if X is tall, products of tiles if wide."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ... import _check
from ..._array import Array, Indices, Part
from ..base import DENSE_MEMORY, MEMORY, Ledger, Operator, on_workers, product_seconds
from ..dense import Data
from .client import (
    Lazy,
    Reading,
    announce,
    compute,
    computed,
    constant,
    current_client,
    is_delayed,
    keep,
    lazy,
    tree,
    worker_memory,
)

CHUNK = 128 * 2**20  # bytes of a chunk, if chunks that split rows must be joined
FILL = "dask.array.where, or fillna of a data frame"  # missing= is for data in memory
TILE_ROWS = 4096  # of a tile of a wide array; with TILE_ENTRIES numbers it takes 32 MiB
TILE_ENTRIES = 2**22
# seconds per product and per task beyond the arithmetic, measured by benchmarks/cluster.py
OVERHEAD = 0.02
TASK = 0.003


def checked(X: Any, name: str) -> Any:
    """A two-dimensional dask array of real numbers with known chunks."""
    if is_delayed(X):
        raise TypeError(
            f"{name} must have a shape, got a Delayed; make an array of it with "
            "dask.array.from_delayed"
        )
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if not hasattr(X, "rechunk"):
        raise TypeError(f"{name} must be a dask array or data frame, got {type(X).__name__}")
    if X.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, got shape {X.shape}; reshape a single column with "
            "reshape(-1, 1)"
        )
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {X.dtype}")
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold numbers, got {X.dtype}; encode or drop the other columns"
        )
    if any(np.isnan(size) for size in X.shape):
        X = X.compute_chunk_sizes()
    if 0 in X.shape:
        raise ValueError(f"{name} must have at least one row and one column, got shape {X.shape}")
    return X


def chunks_of_rows(X: Any) -> tuple[list[Lazy], list[range]]:
    """The chunks of an array whose chunks hold whole rows, and the numbers of these rows."""
    if X.numblocks[1] > 1:
        X = X.rechunk({0: "auto", 1: -1}, block_size_limit=CHUNK)
    edges = np.cumsum([0, *X.chunks[0]]).tolist()
    return list(X.to_delayed().ravel()), list(map(range, edges[:-1], edges[1:]))


def each_chunk(
    X: Any, read: Callable[..., Any], *more: Any
) -> tuple[Reading, list[Lazy], list[range]]:
    """The lazy calls read(chunk, its rows, topic, number, …) of all chunks, and these rows.

    … : the number of the partition, None where chunks were joined, and `more`. The first of the
    three counts the calls as they are made.
    """
    chunks, ranges = chunks_of_rows(X)
    reading = Reading(len(chunks))
    calls = [
        lazy(read, chunk, rows, reading.topic, i, i if X.numblocks[1] == 1 else None, *more)
        for i, (chunk, rows) in enumerate(zip(chunks, ranges, strict=True))
    ]
    return reading, calls, ranges


def digest_of(parts: Sequence[Lazy]) -> str:
    """SHA-256 of arrays on the workers, from that of each."""
    each = computed([lazy(_digest, part) for part in parts])
    return hashlib.sha256("".join(each).encode()).hexdigest()


def _digest(part: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(part).data).hexdigest()


def finite_chunk(
    chunk: Any,
    name: str,
    rows: range,
    names: tuple[str, ...] | None = None,
    column: int = 0,
    partition: int | None = None,
) -> np.ndarray:
    """A chunk of rows as a NumPy array, checked.

    rows : their numbers. column : the number of the first column. names : of the columns.
    partition : the number of the chunk, if it is one of the user's.
    """
    found = np.asarray(chunk.toarray() if hasattr(chunk, "toarray") else chunk)
    found = found if found.dtype in (np.float32, np.float64) else found.astype(np.float64)
    where = "the chunk" if partition is None else f"partition {partition},"
    where += f" of rows {rows.start} to {rows.stop - 1}"
    if len(found) != len(rows):
        raise ValueError(
            f"{where} of {name} has {len(found)} rows instead of {len(rows)}; give dask the shape "
            "that it has, or nan for a number of rows that is not known"
        )
    try:
        _check.finite(found, name, offset=rows.start, column=column, names=names, fill=FILL)
    except ValueError as error:
        raise ValueError(f"{error}; found in {where}") from None
    return found


class Tiled(Operator):
    """The operator XᵀX of a wide dask array, by products of tiles; `dask_data` makes it.

    Tiles depend only on the shape of X, and their products are added in a fixed order, so the
    result is bit-identical for all chunks and numbers of workers.
    """

    def __init__(self, X: Any, *, power: int = 0, names: tuple[str, ...] | None = None):
        self.X = X  # what the workers keep of it they keep as long as this lives
        self.tiles = X.to_delayed()
        self.row_edges, self.col_edges = (
            np.concatenate([[0], np.cumsum(sizes)]) for sizes in X.chunks
        )
        self.power = power
        self.n = X.shape[1]
        self.like = np.zeros(0, dtype=X.dtype)
        self.ledger = Ledger()
        self.exponent = 2 * power
        self.names = names

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        left, right = (
            np.arange(self.n) if indices is None else np.asarray(indices)
            for indices in (rows, cols)
        )
        self.ledger.add(products=block.shape[1], entries=self.X.shape[0] * (len(left) + len(right)))
        if 0 in (len(left), len(right)):
            return np.zeros((len(left), block.shape[1]), dtype=self.like.dtype)
        blocks = {
            c: (inside, constant(block[places]))
            for c, inside, places in by_tile(right, self.col_edges)
        }
        middle = [
            tree(
                sum,
                [lazy(_times, row[c], inside, V, self.power) for c, (inside, V) in blocks.items()],
            )
            for row in self.tiles
        ]
        wanted = list(by_tile(left, self.col_edges))
        parts = [
            tree(
                sum,
                [
                    lazy(_adjoint, row[c], inside, U, self.power)
                    for row, U in zip(self.tiles, middle, strict=True)
                ],
            )
            for c, inside, _ in wanted
        ]
        product = np.zeros((len(left), block.shape[1]), dtype=self.like.dtype)
        for (_, _, places), part in zip(wanted, computed(parts), strict=True):
            product[places] = part
        return product

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.X.shape[0] * self.n)
        parts = [
            tree(sum, [lazy(_squares, tile, self.power) for tile in column])
            for column in self.tiles.T
        ]
        return np.concatenate(computed(parts))

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices))
        return self.matmul(np.eye(len(indices), dtype=self.like.dtype), cols=indices)

    def restrict(self, indices: Indices) -> Operator:
        m = self.X.shape[0]
        if m * len(indices) * self.like.itemsize > MEMORY:
            return super().restrict(indices)
        X = np.zeros((m, len(indices)), dtype=self.like.dtype)
        found = list(by_tile(np.asarray(indices), self.col_edges))
        calls = [lazy(_take, list(self.tiles[:, c]), inside) for c, inside, _ in found]
        for (_, _, places), part in zip(found, computed(calls), strict=True):
            X[:, places] = part
        return Data(_check.scaled(X, self.power), exponent=self.exponent, ledger=self.ledger)

    def largest(self) -> float:
        """The largest |x| of all tiles, which are checked on the way."""
        reading, places = Reading(self.tiles.size), np.ndindex(self.tiles.shape)
        edges, names = self.col_edges, self.names
        called = [
            constant(None if names is None else names[slice(*edges[c : c + 2])])
            for c in range(self.tiles.shape[1])
        ]
        leaves = [
            lazy(
                _largest,
                self.tiles[r, c],
                range(*self.row_edges[r : r + 2].tolist()),
                int(edges[c]),
                called[c],
                reading.topic,
                i,
            )
            for i, (r, c) in enumerate(places)
        ]
        return compute(tree(max, leaves), reading, leaves)


on_workers.register(Tiled, lambda operator: True)


@product_seconds.register
def _seconds(operator: Tiled) -> float:
    return OVERHEAD + 2 * operator.tiles.size * TASK + 1e-9 * operator.X.shape[0] * operator.n


def tiled(X: Any, names: tuple[str, ...] | None = None) -> Tiled:
    """The operator of a wide dask array, checked in one pass; workers store it if it fits."""
    first = in_tiles(X, names)
    return Tiled(first.X, power=_check.exponent(first.largest(), first.like), names=names)


def in_tiles(X: Any, names: tuple[str, ...] | None = None) -> Tiled:
    """The operator of a wide dask array cut into tiles by its shape alone, not checked yet."""
    m, n = X.shape
    height = min(m, TILE_ROWS)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    X = X.astype(dtype).rechunk((height, min(n, TILE_ENTRIES // height)))
    return Tiled(keep([X])[0] if X.nbytes <= memory() // 2 else X, names=names)


def by_tile(
    indices: np.ndarray, edges: np.ndarray
) -> Iterator[tuple[int, slice | np.ndarray, np.ndarray]]:
    """For each part between edges that holds some indices: its number, those inside, and places."""
    tile = np.searchsorted(edges, indices, side="right") - 1
    for c in np.unique(tile):
        places = np.flatnonzero(tile == c)
        start, stop = edges[c : c + 2]
        inside = indices[places] - int(start)
        whole = np.array_equal(inside, np.arange(stop - start))
        yield int(c), slice(None) if whole else inside, places


def memory() -> int:
    """The bytes that the workers may use together; without a cluster, twice DENSE_MEMORY."""
    client = current_client()
    return 2 * DENSE_MEMORY if client is None else sum(worker_memory(client))


def _largest(
    tile: Any, rows: range, column: int, names: tuple[str, ...] | None, topic: str, i: int
) -> float:
    values = finite_chunk(tile, "X", rows, names, column)
    announce(topic, i)
    return max(float(values.max()), -float(values.min()))


def _times(tile: Any, inside: Any, V: np.ndarray, power: int) -> np.ndarray:
    return _check.scaled(_array(tile)[:, inside], power) @ V


def _adjoint(tile: Any, inside: Any, U: np.ndarray, power: int) -> np.ndarray:
    return _check.scaled(_array(tile)[:, inside], power).T @ U


def _squares(tile: Any, power: int) -> np.ndarray:
    return np.sum(_check.scaled(_array(tile), power) ** 2, axis=0)


def _take(tiles: list[Any], inside: Any) -> np.ndarray:
    return np.concatenate([_array(tile)[:, inside] for tile in tiles])


def _array(tile: Any) -> np.ndarray:
    return tile.toarray() if hasattr(tile, "toarray") else np.asarray(tile)
