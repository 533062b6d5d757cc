"""A kernel matrix on points held by dask: each worker holds all points and makes strips of K."""

import uuid
from typing import Any

import numpy as np

from ..._array import Array, Indices, Part
from ...kernels import Kernel
from ..base import Ledger, Operator, faster_squares, new_rows, on_workers, product_seconds
from ..kernel import check_block
from ..kernel_matrix import KernelOperator, chunked_error, fused_error
from ..restricted import Restricted
from . import strips as _strips
from .client import Lazy, announce, compute, constant, keep, lazy, tree
from .data import OVERHEAD, TASK, added, checked, each_chunk, finite_chunk

LOCAL = 4096  # up to this many points a restriction is computed here, not by the workers
DEVICE_STRIP = 2**16  # least rows of a strip on a graphics card


class DaskKernel(Operator):
    """The operator of h(x_i, x_j) on points that the workers hold; `kernel` makes it.

    stored : the lazy pair of all points and their mean, which is subtracted for a stationary h.
    device : where the workers evaluate: None for NumPy, else a device of torch.
    """

    def __init__(
        self,
        stored: Lazy,
        n: int,
        h: Kernel,
        *,
        centre: np.ndarray | None,
        first: np.ndarray,
        device: str | None,
        precision: str,
    ):
        self.stored = stored  # the workers keep the points while this lives
        self.points = lazy(_points, stored)
        self.n = n
        self.h = h
        self.centre = centre
        self.first = first
        self.device, self.precision = device, precision
        self.like = np.zeros(0, dtype=first.dtype)
        self.ledger = Ledger()
        self.key = uuid.uuid4().hex

    @property
    def product_error(self) -> float:
        """The error of the engine on the workers; the norms of the points are not known here."""
        if self.device is not None:
            return fused_error(self.like, self.precision)
        return chunked_error(self.like)

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        self.ledger.add(products=block.shape[1])
        if rows is None and cols is None and self.device is None:
            return self._symmetric(self.h, block)
        self.ledger.add(entries=(self.n if rows is None else len(rows)) * len(block))
        V = constant(np.ascontiguousarray(block))
        at = None if cols is None else constant(np.asarray(cols))
        strips = [self._strip(V, part, at) for part in self._strips(rows)]
        return np.concatenate(compute(lazy(list, strips)))

    def _strip(self, V: Lazy, rows: slice | np.ndarray, cols: Lazy | None) -> Lazy:
        if self.device is None:
            return lazy(_strips.product, self.points, V, self.h, rows, cols)
        return lazy(
            _strips.device_product,
            self.points,
            V,
            self.h,
            rows,
            cols,
            self.device,
            self.precision,
            self.key,
        )

    def _symmetric(self, h: Kernel, block: np.ndarray) -> np.ndarray:
        strips = len(_strips.cuts(self.n, _strips.height(self.n)))
        self.ledger.add(entries=self.n * (self.n + _strips.height(self.n)) // 2)
        V = constant(np.ascontiguousarray(block))
        parts = [lazy(_strips.half_product, self.points, V, h, i) for i in range(strips)]
        return compute(tree(added, parts))

    def _strips(self, rows: Indices | None = None) -> list[slice | np.ndarray]:
        step = _strips.height(self.n, _strips.TILE if self.device is None else DEVICE_STRIP)
        if rows is None:
            return [slice(a, b) for a, b in _strips.cuts(self.n, step)]
        return [np.asarray(rows)[a:b] for a, b in _strips.cuts(len(rows), step)]

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        if getattr(self.h, "stationary", False):
            return np.full(
                self.n, self.h(self.first[:1], self.first[:1])[0, 0], dtype=self.like.dtype
            )
        parts = [lazy(_strips.diagonal, self.points, self.h, part) for part in self._strips()]
        return np.concatenate(compute(lazy(list, parts)))

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        cols = constant(np.asarray(indices))
        parts = [lazy(_strips.values, self.points, self.h, part, cols) for part in self._strips()]
        return np.concatenate(compute(lazy(list, parts)))

    def restrict(self, indices: Indices) -> Operator:
        if len(indices) > LOCAL:
            return Restricted(self, indices)
        return KernelOperator(self._at(indices), self.h, engine="chunked", ledger=self.ledger)

    def _at(self, indices: Indices) -> np.ndarray:
        """The points at the indices."""
        return compute(lazy(np.take, self.points, np.asarray(indices), 0))


@on_workers.register
def _on_workers(operator: DaskKernel) -> bool:
    return True


@faster_squares.register
def _squares(operator: DaskKernel) -> Array:
    ones = np.ones((operator.n, 1), dtype=operator.like.dtype)
    return operator._symmetric(_strips.Squared(operator.h), ones)[:, 0]


@new_rows.register
def _values_at(operator: DaskKernel, points: Array, indices: Indices) -> Array:
    landmarks = KernelOperator(operator._at(indices), operator.h, engine="chunked")
    points = points if operator.centre is None else points - operator.centre
    return new_rows(landmarks, points, np.arange(len(indices)))


@product_seconds.register
def _seconds(operator: DaskKernel) -> float:
    tasks = len(operator._strips())
    entry = 1.5e-9 if operator.device in (None, "cpu") else 1e-12
    return OVERHEAD + 1.2 * tasks * TASK + operator.n**2 * entry


def dask_kernel(
    points: Any, h: Kernel, *, device: str | None = None, precision: str = "high"
) -> DaskKernel:
    """The kernel operator on the rows of a dask array; the points are read once, by the workers."""
    points = checked(points, "points")
    n = points.shape[0]
    reading, leaves = each_chunk(points, _read)
    stored = keep(lazy(_joined, leaves, getattr(h, "stationary", False)))
    centre, first = compute(lazy(_beginning, stored), reading, leaves)
    check_block(h, first)
    return DaskKernel(stored, n, h, centre=centre, first=first, device=device, precision=precision)


def _read(chunk: Any, start: int, topic: str, i: int) -> np.ndarray:
    rows = finite_chunk(chunk, "points", start)
    announce(topic, i)
    return rows


def _joined(chunks: list[np.ndarray], stationary: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """All points, and the mean that was subtracted from them."""
    points = np.concatenate(chunks)
    if not stationary:
        return points, None
    centre = points.mean(axis=0, keepdims=True)
    points -= centre
    return points, centre


def _points(stored: tuple[np.ndarray, np.ndarray | None]) -> np.ndarray:
    return stored[0]


def _beginning(
    stored: tuple[np.ndarray, np.ndarray | None],
) -> tuple[np.ndarray | None, np.ndarray]:
    return stored[1], stored[0][:3].copy()
