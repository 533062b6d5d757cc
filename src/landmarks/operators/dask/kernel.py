"""A kernel matrix on points that dask holds: each worker keeps some of the points.

Methods that pick columns work on shards of the residual (`parted`). For all others this is an
operator like any: its vectors have length n, and are on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..._array import Array, Indices, Part, host
from ...kernels import Kernel, matern, rbf
from ..base import (
    Ledger,
    Operator,
    determining,
    faster_squares,
    in_parts,
    new_rows,
    on_workers,
    product_seconds,
)
from ..forms import form
from ..kernel import KernelOperator, check_block, chunked_error, fused_error, kernel
from ..parts import height, parts, signs
from . import shards as _shards
from .client import Lazy, announce, compute, computed, constant, keep, lazy, made, tree
from .data import (
    CHUNK,
    OVERHEAD,
    TASK,
    by_tile,
    checked,
    digest_of,
    each_chunk,
    finite_chunk,
)
from .parted import Parted
from .shards import Rule, Squared

LOCAL = 4096  # up to this many points a kernel is computed here, not by the workers
GROUPS = 8  # least parts in which points pass by the shards, if there are as many shards
KEY = 0  # of the signs that the block Lanczos method starts from


class DaskKernel(Operator):
    """The operator of h(x_i, x_j) on points that the workers hold; `kernel` makes it.

    stored : the lazy points of each shard as they were read, and the number of the first.
    """

    #: whether this machine may hold n × k numbers
    vectors_here: ClassVar[bool] = False

    def __init__(self, stored: Sequence[tuple[Lazy, int]], n: int, d: int, rule: Rule):
        self.stored = list(stored)  # the workers keep the points while this lives
        self.n, self.d = n, d
        self.height = height(n)
        self.rule, self.rules = rule, [rule] * len(self.stored)
        self.h: Any = rule.h
        self.like = np.zeros(0)
        self.ledger = Ledger()
        self.last: Parted | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the points, from those of the shards."""
        return digest_of([points for points, _ in self.stored])

    @cached_property
    def groups(self) -> list[range]:
        """The shards in groups of neighbours, at most a chunk of points in each."""
        shards = len(self.stored)
        size = max(1, min(-(-shards // GROUPS), CHUNK // (8 * self.d * self.height)))
        return [range(a, min(shards, a + size)) for a in range(0, shards, size)]

    @cached_property
    def _largest_norm(self) -> float:
        calls = [lazy(Rule.largest_norm, self._here, points) for points, _ in self.stored]
        return float(max(computed(calls)))

    @property
    def _here(self) -> Rule:
        """The rule for points on this machine."""
        return replace(self.rule, device=None)

    @property
    def product_error(self) -> float:
        """The error of the engine on the workers."""
        if self.rule.device is not None:
            return fused_error(self.like, self.rule.precision)
        if not isinstance(self.h, rbf | matern):
            return chunked_error(self.like, 0.0)
        return chunked_error(self.like, self._largest_norm)

    # In shards

    def residual(self, capacity: int, exclude: Sequence[int] = ()) -> Parted:
        """C before the first pick, in shards; the last one is remembered for results."""
        self.last = Parted(self, capacity, exclude)
        return self.last

    def known_residual(self, indices: np.ndarray) -> Parted | None:
        """The residual of a choice, if it is the one that was made last."""
        if self.last is None or set(self.last.picks) != {int(j) for j in indices}:
            return None
        return self.last

    def built_residual(self, order: np.ndarray, L: np.ndarray) -> Parted:
        """The residual of picks with their Cholesky factor L."""
        found, start = self.residual(len(order)), 0
        while start < len(order):
            stop = min(len(order), start + _shards.TILE // 4)
            indices = order[start:stop]
            found.append(
                _shards.Block(
                    indices, self._at(indices), L[start:stop, :start], L[start:stop, start:stop]
                )
            )
            start = stop
        return found

    def triangle(self, F: Any) -> np.ndarray:
        """R of the QR factors of a dask array whose chunks have all columns, without Q."""
        parts = [lazy(_triangle, [part]) for part in F.to_delayed().ravel()]
        return np.asarray(compute(tree(_triangle, parts)))

    def squared_norm(self) -> float:
        """‖K‖²_F."""
        return Parted(self, 0).squared_norm()

    def trace(self) -> float:
        """tr K."""
        return Parted(self, 0).trace

    def local_values(self, points: np.ndarray) -> np.ndarray:
        """The kernel of a few points, computed here."""
        x = self._here.placed(points)
        return self._here.values(x, x)

    def points_at(self, indices: np.ndarray) -> np.ndarray:
        """The points at the indices, from the centre and in widths."""
        return host(self._here.spread(self._at(indices)))

    def vectors(self) -> SpreadVectors:
        """Blocks of vectors of length n, on the workers."""
        return SpreadVectors(self)

    # With vectors of length n

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        left = self.n if rows is None else len(rows)
        right = self.n if cols is None else len(cols)
        self.ledger.add(products=block.shape[1], entries=left * right)
        if cols is not None and len(cols) > LOCAL:
            whole = np.zeros((self.n, block.shape[1]))
            np.add.at(whole, np.asarray(cols), block)
            block, cols = whole, None
        if rows is not None and len(rows) > LOCAL:
            return self._product(block, None, cols)[np.asarray(rows)]
        return self._product(block, rows, cols)

    def _product(self, block: np.ndarray, rows: Part, cols: Part, h: Kernel | None = None) -> Array:
        rule = self.rule if h is None else replace(self.rule, h=h)
        left = [points for points, _ in self.stored]
        if rows is not None:
            left = [constant(self._at(rows))]
        if cols is not None:
            right = [(constant(self._at(cols)), constant(np.ascontiguousarray(block)))]
        else:
            right = [self._group(group, block) for group in self.groups]
        strips = [tree(sum, [lazy(_shards.product, x, y, V, rule) for y, V in right]) for x in left]
        return np.concatenate(computed(strips))

    def _group(self, group: range, block: np.ndarray) -> tuple[Lazy, Lazy]:
        """The points of some shards, and their rows of a block."""
        points = lazy(np.concatenate, [self.stored[i][0] for i in group])
        start, stop = group[0] * self.height, (group[-1] + 1) * self.height
        return points, constant(np.ascontiguousarray(block[start:stop]))

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        if getattr(self.h, "stationary", False):
            return np.full(self.n, self.local_values(self._at([0]))[0, 0])
        pairs = zip(self.stored, self.rules, strict=True)
        return np.concatenate(computed([lazy(_shards.diagonal, x, rule) for (x, _), rule in pairs]))

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        chosen = constant(self._at(indices))
        calls = [lazy(_shards.columns, points, chosen, self.rule) for points, _ in self.stored]
        return np.concatenate(computed(calls))

    def restrict(self, indices: Indices) -> Operator:
        if len(indices) > LOCAL:
            return super().restrict(indices)
        placed = self._here.placed(self._at(indices))
        return KernelOperator(placed, self.h, engine="chunked", ledger=self.ledger)

    def _at(self, indices: Indices) -> np.ndarray:
        """The points at the indices, as they were read."""
        indices = np.asarray(indices, dtype=np.int64)
        edges = np.asarray([*(start for _, start in self.stored), self.n])
        wanted = list(by_tile(indices, edges))
        if not wanted:
            return np.empty((0, self.d))
        points = computed([self.stored[i][0][inside] for i, inside, _ in wanted])
        found = np.empty((len(indices), self.d), dtype=points[0].dtype)
        for (_, _, places), part in zip(wanted, points, strict=True):
            found[places] = part
        return found


on_workers.register(DaskKernel, lambda operator: True)
form.register(DaskKernel, lambda operator, k: operator)  # nothing of length n is made here


@in_parts.register
def _in_parts(operator: DaskKernel) -> DaskKernel:
    return operator


@determining.register
def _determining(operator: DaskKernel) -> tuple[Any, ...]:
    return operator.h, operator.digest


@faster_squares.register
def _squares(operator: DaskKernel) -> Array:
    operator.ledger.add(entries=operator.n**2)
    return operator._product(np.ones((operator.n, 1)), None, None, Squared(operator.h))[:, 0]


@new_rows.register
def _values_at(operator: DaskKernel, points: Array, indices: Indices) -> Array:
    chosen = operator._at(indices).astype(np.float64)
    landmarks = KernelOperator(chosen, operator.h, engine="chunked", centre=operator.rule.centre)
    return new_rows(landmarks, points, np.arange(len(indices)))


@product_seconds.register
def _seconds(operator: DaskKernel) -> float:
    entry = 1.5e-9 if operator.rule.device in (None, "cpu") else 1e-12
    tasks = len(operator.stored) * len(operator.groups)
    return OVERHEAD + 1.2 * tasks * TASK + operator.n**2 * entry


def dask_kernel(
    points: Any, h: Kernel, *, device: str | None = None, precision: str = "high"
) -> Operator:
    """The kernel operator on the rows of a dask array; the points are read once, by the workers."""
    points = checked(points, "points")
    n, d = points.shape
    reading, leaves, ranges = each_chunk(points, _read)
    stored = keep([_cut(leaves, ranges, part) for part in parts(n)])
    sums = [lazy(np.sum, part, 0, np.float64) for part in stored]
    total, first = compute(lazy(list, [tree(sum, sums), stored[0][:3]]), reading, leaves)
    check_block(h, first.astype(np.float64))
    if n <= LOCAL:
        return kernel(compute(lazy(np.concatenate, stored)), h)
    centre = (total / n)[None, :] if getattr(h, "stationary", False) else None
    rule = Rule(h, centre, device, precision)
    numbered = [(part, rows.start) for part, rows in zip(stored, parts(n), strict=True)]
    return DaskKernel(numbered, n, d, rule)


def _cut(leaves: list[Lazy], ranges: list[range], part: slice) -> Lazy:
    """The rows of a part, from the chunks that have some of them."""
    inside = [
        i for i, rows in enumerate(ranges) if rows.start < part.stop and rows.stop > part.start
    ]
    bounds = [(max(0, part.start - ranges[i].start), part.stop - ranges[i].start) for i in inside]
    return lazy(_joined, [leaves[i] for i in inside], bounds)


def _joined(chunks: list[np.ndarray], bounds: list[tuple[int, int]]) -> np.ndarray:
    return np.concatenate(
        [chunk[start:stop] for chunk, (start, stop) in zip(chunks, bounds, strict=True)]
    )


def _triangle(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))


def _read(chunk: Any, rows: range, topic: str, i: int, partition: int | None) -> np.ndarray:
    found = finite_chunk(chunk, "points", rows, partition=partition)
    announce(topic, i)
    return found


class SpreadVectors:
    """Blocks of vectors of length n in parts on the workers, where the points of a kernel are.

    The block Lanczos method asks them what it asks vectors in memory (`linalg.error.Vectors`).
    Products and sums over the parts are in one order, so the bounds are the same for all chunks and
    any number of workers.
    """

    here = False

    def __init__(self, kernel: DaskKernel):
        self.kernel = kernel

    def start(self, width: int) -> list[Lazy]:
        """An orthonormal block in random directions."""
        self.width = width
        drawn = [lazy(_signs, points, start, width) for points, start in self.kernel.stored]
        return self._orthonormal(drawn)[0]

    def product(self, block: list[Lazy]) -> list[Lazy]:
        """K times a block: the points pass by the parts in groups, with their rows of it."""
        kernel = self.kernel
        kernel.ledger.add(products=self.width, entries=kernel.n**2)
        found: list[Any] = [None] * len(block)
        for group in kernel.groups:
            y, V = (
                lazy(np.concatenate, [parts[i] for i in group])
                for parts in ([points for points, _ in kernel.stored], block)
            )
            found = made(
                [
                    lazy(_plus_product, before, x, y, V, rule)
                    for before, (x, _), rule in zip(found, kernel.stored, kernel.rules, strict=True)
                ]
            )
        return found

    def inside(self, Q: list[list[Lazy]], block: list[Lazy]) -> np.ndarray:
        """Qᵀ block, of all blocks of Q."""
        parts = zip(block, zip(*Q, strict=True), strict=True)
        return np.asarray(compute(tree(sum, [lazy(_inside, list(B), F) for F, B in parts])))

    def outside(
        self, Q: list[list[Lazy]], block: list[Lazy], M: np.ndarray
    ) -> tuple[list[Lazy], np.ndarray]:
        """The QR factors of block − QM."""
        sent = constant(np.split(M, len(Q)))
        parts = zip(block, zip(*Q, strict=True), strict=True)
        return self._orthonormal([lazy(_outside, list(B), F, sent) for F, B in parts])

    def _orthonormal(self, block: list[Lazy]) -> tuple[list[Lazy], np.ndarray]:
        """The QR factors, from those of the parts: Demmel, Grigori, Hoemmen and Langou (2012)."""
        pairs = made([lazy(np.linalg.qr, part) for part in block])
        joined = lazy(_qr_of_triangles, [pair[1] for pair in pairs])
        Q = made([lazy(np.matmul, pair[0], joined[0][i]) for i, pair in enumerate(pairs)])
        return Q, np.asarray(compute(joined[1]))


def _signs(points: np.ndarray, start: int, width: int) -> np.ndarray:
    return signs(KEY, width, start, start + len(points))


def _plus_product(
    before: np.ndarray | None, x: np.ndarray, y: np.ndarray, V: np.ndarray, rule: Rule
) -> np.ndarray:
    found = _shards.product(x, y, V, rule)
    return found if before is None else before + found


def _inside(Q: Sequence[np.ndarray], block: np.ndarray) -> np.ndarray:
    return np.concatenate([part.T @ block for part in Q])


def _outside(Q: Sequence[np.ndarray], block: np.ndarray, M: Sequence[np.ndarray]) -> np.ndarray:
    for part, rows in zip(Q, M, strict=True):
        block = block - part @ rows
    return block


def _qr_of_triangles(triangles: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """The QR factors of triangles below one another; the first in their heights."""
    Q, R = np.linalg.qr(np.concatenate(triangles))
    return np.split(Q, np.cumsum([len(part) for part in triangles])[:-1]), R
