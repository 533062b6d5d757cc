"""The operator of a kernel matrix on points: `kernel` checks its arguments and makes it.

Values are evaluated in chunks of limited memory. A small matrix is kept, and of a larger one what
fits, where a search makes many products.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._array import (
    Array,
    Indices,
    Part,
    double,
    eps,
    fast_in_double,
    host,
    is_single,
    namespace,
    on_gpu,
    prototype,
    take,
    zeros,
)
from .._check import is_number
from ..errors import UnsupportedError, warn_user
from ..kernels import (
    Kernel,
    Widths,
    diagonal_values,
    in_widths,
    known,
    laplacian,
    largest_norm,
    matern,
    most_cancelled,
    rbf,
)
from ..readers.frames import unpacked
from .base import (
    MEMORY,
    Ledger,
    Operator,
    determining,
    faster_squares,
    in_single,
    itemsize,
    keeping,
    new_rows,
    points_of,
    product_seconds,
    remade_in_double,
    stored_up_to,
    tiles_of_columns,
    warn_about,
)
from .dense import Dense
from .gpu import fused

#: bytes of kernel values at a time: a few times the cache, however much memory is allowed
CHUNK = 8 * 2**20
SHORTEST = float(np.finfo(np.float64).tiny)
LARGE = 20_000  # points from which fused products are most of the work where float64 is fast


def kernel(
    points: Any,
    h: Kernel,
    *,
    memory: int = MEMORY,
    engine: str | None = None,
    precision: str = "high",
    device: str | None = None,
) -> Operator:
    """The operator of the kernel matrix h(x_i, x_j) on the rows of points.

    A search stores K where that takes at most 2 GiB, 16 384 points; see `memory`.

    Parameters
    ----------
    points : the n × d array of points, one per row; a dask array or data frame is multiplied on
        dask's workers.
    h : `rbf(sigma)`, `laplacian(sigma)`, `matern(nu, sigma)`, with one sigma or one for each
        coordinate; `polynomial(degree, gamma, coef0)`, `linear()`; a kernel of GPyTorch; or any
        callable that takes an a × d and a b × d block of points and returns the a × b block of
        values.
    memory : bytes that the chunks of kernel values may take, 256 MiB by default. `auto`, `greedy`,
        `swap` and `iterated` store K, in float64, where it takes at most eight times as much. Where
        it takes more, they keep as many of its entries, in one triangle, and evaluate the others
        for each product.
    engine : "fused" (our products on a GPU, for float32 and float64 torch points on it) or
        "chunked" (any library and device). None uses "fused" if possible, otherwise "chunked".
    precision : of fused products of float32 points: the relative error is below 1e-5 for "high",
        and near 4e-4 for "fast", which is far below the noise of stochastic gradients. Fused
        products of float64 points have an error below 1e-13. Products in chunks have the
        precision of the points. `product_error` of the operator gives the error.
    device : only for dask points: the torch device that each worker uses, such as "cuda"; None is
        NumPy.

    Returns
    -------
    Operator
        The kernel matrix of the points, evaluated in blocks.

    Examples
    --------
    >>> lm.kernel(np.arange(6.0).reshape(3, 2), lm.rbf(sigma=0.5))
    KernelOperator(n=3, dtype=float64)
    """
    h = known(h)
    if not callable(h):
        raise TypeError(
            "h must be a kernel such as rbf(sigma=1.0) or a callable of two blocks of points, "
            f"got {h!r}"
        )
    _check.choice(precision, ("high", "fast"), "precision")
    points, _, kind = unpacked(points)
    if kind == "dask":
        if engine is not None or memory != MEMORY:
            raise ValueError(
                "engine and memory are for points in memory; for dask points give device=… "
                "and choose smaller chunks"
            )
        from .dask.kernel import dask_kernel

        return dask_kernel(points, h, device=device, precision=precision)
    if device is not None:
        raise ValueError(
            "device is for the workers of dask points; move the points themselves, e.g. "
            f"torch.asarray(points, device={device!r})"
        )
    points = _check.matrix(points, "points")
    if memory < 2**20:
        raise ValueError(f"memory must be at least 2**20 bytes, got {memory}")
    check_block(h, points)
    centre = None
    if getattr(h, "stationary", False):
        centre = namespace(points).mean(points, axis=0, keepdims=True)
    widths: Widths = 1.0
    if isinstance(h, rbf | laplacian | matern) and isinstance(h.sigma, tuple):
        widths, h = h.sigma, replace(h, sigma=1.0)  # every engine then sees a kernel of one width
    engine = _engine(engine, points, h)
    exponent = 0 if engine != "chunked" else magnitude(h, points[:: points.shape[0] // 64 or 1, :])
    return KernelOperator(
        points,
        h,
        engine=engine,
        precision=precision,
        centre=centre,
        widths=widths,
        memory=memory,
        exponent=exponent,
    )


def magnitude(h: Kernel, some: Array) -> int:
    """The power of two by which values are divided, so that their cubes are in range."""
    if getattr(h, "stationary", False):
        return 0
    return _check.exponent(float(np.max(host(diagonal_values(h, some)))), some)


def _engine(wanted: str | None, points: Array, h: Kernel) -> str:
    """The engine of the products; requesting one that is not available is an error."""
    can_fuse = fused.available(points) and fused.supported(h)
    if wanted is None:
        return "fused" if can_fuse else "chunked"
    _check.choice(wanted, ("fused", "chunked"), "engine")
    if wanted == "fused" and not can_fuse:
        raise UnsupportedError(
            "fused products need float32 or float64 torch points on a GPU, Triton and a kernel "
            f"of ours, got {points.dtype} and {h!r}"
        )
    return wanted


def check_block(h: Kernel, points: Array) -> None:
    """Raise an error if h is not a symmetric function of two blocks; tries the first points."""
    x, y = points[:2, :], points[:3, :]
    values = h(x, y)
    shape = getattr(values, "shape", None)
    if shape is None or tuple(shape) != (x.shape[0], y.shape[0]):
        raise ValueError(
            f"the kernel must return the {x.shape[0]} × {y.shape[0]} block of values for blocks of "
            f"{x.shape[0]} and {y.shape[0]} points, "
            f"got {'a scalar' if shape in (None, ()) else f'shape {tuple(shape)}'}; "
            "write it for blocks, or loop inside it"
        )
    values = host(values)
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "the kernel returned NaN or infinity on the first points; scale the points or change "
            "its parameters"
        )
    square = host(h(points[:2, :], points[:2, :]))
    if not np.allclose(square, square.T, rtol=1e-4, atol=1e-6 * float(np.max(np.abs(square)))):
        raise ValueError(
            "the kernel must be symmetric, h(x, y) = h(y, x), but it is not on the first two points"
        )


class KernelOperator(Operator):
    """The operator of h(x_i, x_j); `kernel` checks and makes it.

    widths : what each coordinate of the points is divided by before h sees them; 1 changes nothing.
    keeps : bytes that may be taken by values which products keep, so that they are evaluated once
        more. The first product keeps none: a method that makes one has no use of them.
    """

    def __init__(
        self,
        points: Array,
        h: Kernel,
        *,
        engine: str,
        precision: str = "high",
        centre: Array | None = None,
        widths: Widths = 1.0,
        memory: int = MEMORY,
        exponent: int = 0,
        ledger: Ledger | None = None,
    ):
        super().__init__(points.shape[0], prototype(points), exponent=exponent, ledger=ledger)
        self.given = points
        self.in_single: KernelOperator | None = None
        self.centre, self.widths = centre, widths
        self.points = self._placed(points)
        self.h = h
        self.engine, self.precision = engine, precision
        self.memory = memory
        self.keeps, self._multiplied = 0, False
        self._kept: dict[int, Array] = {}
        self._chunk = memory // 4 if on_gpu(points) else min(memory // 4, CHUNK)
        self._short_of_memory = False

    def _placed(self, points: Array) -> Array:
        """The points as h takes them: minus the centre, each coordinate divided by its width."""
        points = points if self.centre is None else points - self.centre
        return points if is_number(self.widths) else in_widths(points, self.widths)

    @property
    def _small(self) -> bool:
        """Whether K takes at most an eighth of the memory."""
        return self.n**2 * itemsize(self.like) <= self.memory // 8

    @cached_property
    def stored(self) -> Dense | None:
        """K itself when it takes at most an eighth of the memory: reading beats evaluating."""
        if not self._small:
            return None
        K = self._values(self.points, self.points)
        return Dense(K, exponent=self.exponent, ledger=self.ledger)

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        if self.stored is not None:
            return self.stored.matmul(block, rows, cols)
        if self.engine == "fused":
            a, b = (self.n if part is None else len(part) for part in (rows, cols))
            self.ledger.add(products=block.shape[1], entries=a * b)
            left, right = (
                self.prepared if part is None else self.prepared.take(part) for part in (rows, cols)
            )
            return fused.product(self.h, left, right, block, precision=self.precision)
        if rows is None and cols is None:
            return self._symmetric_product(block)
        x, y = self._at(rows), self._at(cols)
        self.ledger.add(products=block.shape[1])
        xp = namespace(block)
        return xp.concat(
            [self._values(x[a:b, :], y) @ block for a, b in self._chunks(x.shape[0], y.shape[0])]
        )

    def _at(self, indices: Part) -> Array:
        return self.points if indices is None else take(self.points, indices)

    @property
    def product_error(self) -> float:
        """A bound on the error of a product, relative to its Frobenius norm.

        Fused products are tested to this bound. Chunks round as their dtype does; distances by
        inner products round relative to the squared norms of the points, up to the limit where
        `kernels` goes over to more digits.
        """
        if self.engine == "fused" and not self._small:
            return fused_error(self.like, self.precision)
        if not isinstance(self.h, rbf | matern):
            return 8 * eps(self.like)
        return chunked_error(self.like, self._largest_norm)

    @cached_property
    def _largest_norm(self) -> float:
        return largest_norm(self.h, self.points)

    @cached_property
    def prepared(self) -> fused.Points:
        """The points packed for fused products."""
        return fused.prepare(self.points, self.h)

    def _symmetric_product(self, block: Array) -> Array:
        """K @ block from the values on and above the diagonal: each serves two entries."""
        self.ledger.add(products=block.shape[1])
        product = zeros((self.n, block.shape[1]), block)
        for a, b in self._chunks(self.n, self.n):
            values = self._upper(a, b)
            product[a:b, :] += values @ block[a:, :]
            if b < self.n:
                product[b:, :] += values[:, b - a :].T @ block[a:b, :]
        self._multiplied = True
        return product

    def _upper(self, a: int, b: int) -> Array:
        """The values of rows a … b from the diagonal on; those that fit are kept."""
        if a in self._kept:
            return self._kept[a]
        values = self._values(self.points[a:b, :], self.points[a:, :])
        if not self._multiplied:
            return values
        entries = sum(part.shape[0] * part.shape[1] for part in (*self._kept.values(), values))
        if entries * itemsize(self.like) <= self.keeps:
            self._kept[a] = values
        return values

    def _chunks(self, rows: int, cols: int) -> list[tuple[int, int]]:
        height = max(1, self._chunk // max(1, cols * itemsize(self.like)))
        return [(a, min(rows, a + height)) for a in range(0, max(1, rows), height)]

    def _values(self, x: Array, y: Array) -> Array:
        """The block of kernel values; if memory runs out, the chunk is halved."""
        try:
            values = _check.scaled(self.h(x, y), self.exponent)
            self.ledger.add(entries=x.shape[0] * y.shape[0])
            return values
        except (MemoryError, RuntimeError) as error:
            said = str(error).lower()
            short = "out of memory" in said or "can't allocate" in said
            if not (short or isinstance(error, MemoryError)) or x.shape[0] == 1:
                raise
        if not self._short_of_memory:
            warn_user(
                "a chunk of kernel values did not fit in memory; going on with chunks of half "
                "the size"
            )
        self._short_of_memory = True
        half = x.shape[0] // 2
        self._chunk = min(self._chunk, half * y.shape[0] * itemsize(self.like))
        return namespace(x).concat([self._values(x[:half, :], y), self._values(x[half:, :], y)])

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        return _check.scaled(diagonal_values(self.h, self.points), self.exponent)

    def columns(self, indices: Indices) -> Array:
        if self.stored is not None:
            return self.stored.columns(indices)
        columns = zeros((self.n, len(indices)), self.like)
        for rows, _, values in _tiles_of_rows(self, indices):
            columns[rows, :] = values
        return columns

    def at(self, points: Array, **changed: Any) -> KernelOperator:
        """The operator of other points, with the same settings but those that are changed."""
        names = ("engine", "precision", "centre", "widths", "memory", "exponent", "ledger")
        same = {name: getattr(self, name) for name in names}
        return KernelOperator(points, self.h, **same | changed)

    def restrict(self, indices: Indices) -> KernelOperator:
        part = self.at(take(self.given, indices))
        if self.stored is not None:
            part.stored = self.stored.restrict(indices)
        return part


determining.register(KernelOperator, lambda operator: (operator.h, operator.points))
points_of.register(KernelOperator, lambda operator: operator.given)
stored_up_to.register(KernelOperator, lambda operator: 8 * operator.memory)
in_single.register(KernelOperator, lambda operator: operator.in_single)


@keeping.register
def _keeping_values(operator: KernelOperator, memory: int) -> KernelOperator:
    if operator.engine != "chunked" or on_gpu(operator.like):
        return operator
    found = copy(operator)
    found.keeps, found._kept, found._multiplied = memory, {}, False
    return found


@product_seconds.register
def _evaluated_seconds(operator: KernelOperator) -> float:
    if on_gpu(operator.like):
        return operator.n**2 * 1e-12
    kept = min(1.0, operator.keeps / (operator.n**2 * itemsize(operator.like) / 2))
    return operator.n**2 * (1.5e-9 - 1.3e-9 * kept)


@tiles_of_columns.register
def _tiles_of_rows(
    operator: KernelOperator, indices: Indices
) -> Iterator[tuple[slice, slice, Array]]:
    chosen = take(operator.points, indices)
    operator.ledger.add(columns=len(indices))
    for a, b in operator._chunks(operator.n, len(indices)):
        yield slice(a, b), slice(None), operator._values(operator.points[a:b, :], chosen)


@faster_squares.register
def _fused_squares(operator: KernelOperator) -> Array | None:
    if operator.engine != "fused" or operator.stored is not None:
        return None
    operator.ledger.add(entries=operator.n**2)
    return fused.squared_row_sums(operator.h, operator.prepared, operator.prepared)


@remade_in_double.register
def _in_double(operator: KernelOperator) -> KernelOperator:
    """The points in float64, centred again, because centring in float32 rounds them.

    Fused products of the original points remain available.
    """
    points, centre = double(operator.given), operator.centre
    if centre is not None:
        centre = namespace(points).mean(points, axis=0, keepdims=True)
    found = operator.at(points, centre=centre, precision="high")
    if operator.engine == "fused" and (operator.n >= LARGE or not fast_in_double(points)):
        found.in_single = operator
    return found


@new_rows.register
def _values_at(operator: KernelOperator, points: Array, indices: Indices) -> Array:
    """The values h(x, x_j) of new points x with the points at the indices."""
    _check.same_device(points, operator.points, "points", "the kernel's")
    points = _check.matrix(points, "points")
    if points.shape[1] != operator.points.shape[1]:
        raise ValueError(
            f"points must have {operator.points.shape[1]} columns as the kernel's do, "
            f"got {points.shape[1]}"
        )
    values = operator.h(operator._placed(points), take(operator.points, indices))
    return _check.scaled(values, operator.exponent)


@warn_about.register
def _warn_of_identity(operator: KernelOperator, indices: np.ndarray) -> None:
    """Warn when the first landmarks represent no other point: K is close to the identity."""
    if len(indices) == operator.n:
        return
    first = indices[:8]
    values = operator.columns(first) + 0.0  # columns of a stored K are a view of it
    for i, j in enumerate(first):
        values[int(j), i] = 0.0
    lengths = np.sqrt(np.maximum(host(operator.diagonal()).astype(np.float64), 0.0))
    nearness = np.abs(host(values)) / np.fmax(np.outer(lengths, lengths[first]), SHORTEST)
    if np.max(nearness) <= np.finfo(np.float32).eps:
        warn_user(
            "the landmarks represent no other point: the kernel matrix is numerically the "
            "identity, and any choice is as good; widen the kernel, e.g. a larger sigma"
        )


def fused_error(like: Array, precision: str) -> float:
    """A bound on the relative error of a fused product."""
    return fused.ERRORS[precision] if is_single(like) else fused.DOUBLE_ERROR


def chunked_error(like: Array, largest: float) -> float:
    """A bound on the relative error of a product in chunks, with distances by inner products.

    largest : the largest squared norm of the points, in units of the kernel's width.
    """
    return 8 * eps(like) + min(eps(like) * largest, most_cancelled(like))
