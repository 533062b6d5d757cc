"""XᵀX of a tall dask array, where it is too large for this machine: its rows stay on the workers.

Each worker keeps some strips of rows. They are what a shard of a kernel evaluates from its points
(`parted`), so methods that pick columns work in shards here too. Others have vectors of length n on
this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._array import Array, Indices, Part
from ...runs import runner
from ..base import Ledger, Operator, determining, faster_squares, new_rows, product_seconds
from ..dense import Dense
from .client import Lazy, compute, constant, keep_all, lazy, made
from .data import OVERHEAD, TASK, Tiled, _array, digest_of
from .kernel import LOCAL, DaskKernel
from .parted import Parted


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
        where = indices // self.height
        wanted = np.unique(where)
        inside = [indices[where == i] - self.edges[i] for i in wanted]
        calls = [
            part(self.strips[i], slice(None) if _whole(rows, self.edges[i : i + 2]) else rows)
            for i, rows in zip(wanted, inside, strict=True)
        ]
        values = compute(lazy(list, calls)) if calls else [np.zeros((0, 0))]
        found = np.zeros((len(indices), *values[0].shape[1:]))
        for i, rows in zip(wanted, values, strict=False):
            found[where == i] = rows
        return found

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        pairs = zip(self.rules, self.stored, strict=True)
        return np.concatenate(compute(lazy(list, [lazy(_diagonal, r, x) for r, (x, _) in pairs])))

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        chosen = np.asarray(indices, dtype=np.int64)
        calls = [lazy(_entries, strip, slice(None), chosen) for strip in self.strips]
        return np.concatenate(compute(lazy(list, calls)))

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
    return np.concatenate(compute(lazy(list, calls)))


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
    return DaskGram(keep_all(whole), X)


def _with_rows(total: np.ndarray | None, tiles: list[Any], power: int) -> np.ndarray:
    """The sum plus the products of the first tile's columns with those of all tiles."""
    first = _check.scaled(np.asarray(_array(tiles[0]), dtype=np.float64), power)
    parts = [first.T @ first]
    parts += [first.T @ _check.scaled(_array(tile), power) for tile in tiles[1:]]
    found = np.concatenate(parts, axis=1)
    return found if total is None else total + found


def _whole(rows: np.ndarray, edges: np.ndarray) -> bool:
    """Whether these are all rows of a strip, in order."""
    return np.array_equal(rows, np.arange(edges[1] - edges[0]))


def _turned(strip: np.ndarray, start: int, stop: int) -> np.ndarray:
    return strip[:, start:stop].T


def _joined(left: list[np.ndarray], strip: np.ndarray) -> np.ndarray:
    return np.concatenate([*left, strip], axis=1)


def _times(strip: np.ndarray, inside: Any, block: np.ndarray) -> np.ndarray:
    return strip[inside] @ block


def _entries(strip: np.ndarray, inside: Any, indices: np.ndarray) -> np.ndarray:
    return strip[inside][:, indices]


def _diagonal(rule: StoredRows, numbers: np.ndarray) -> np.ndarray:
    return rule.diagonal(rule.placed(numbers))


def _sums_of_squares(strip: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", strip, strip)
