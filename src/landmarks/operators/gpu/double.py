"""Products K(x, y) @ V in float64 on a GPU without K: the host side of `double_kernels`.

The float64 tensor cores form the exponents and multiply the values by V. A product has a relative
error below 1e-13 (Frobenius norm) and gives the same bits in every run.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ... import kernels
from ..._array import Array, Indices
from .tiling import (
    ABSOLUTE,
    LOG2E,
    LONG,
    ROW_STEP,
    SHORT,
    Tile,
    by_coordinates,
    factor,
    form,
    in_passes,
    launch,
    padded,
    slots,
)

LONG_ROW = 256  # longer packed rows are read repeatedly, so tiles are larger
PARTIAL = 2**28  # bytes that partial sums may take
WAVES = 8  # waves of programs, one after the other
SHORTEST = 16  # fewest tiles of a span


def double_product(
    h: kernels.Kernel, x: Array | DoublePoints, y: Array | DoublePoints, block: Array
) -> Array:
    """K(x, y) @ block in float64."""
    left, right = pair(h, x, y)
    if 0 in (left.n, right.n, block.shape[1]):
        return left.points.new_zeros((left.n, block.shape[1]))
    block = block.to(left.points.dtype)
    if left is right and left.parts is not None:
        return by_parts(left.parts, lambda x, y, rows: double_product(h, x, y, block[rows]))
    if block.shape[1] == 1:
        return _vector(left, right, block[:, 0], square=False)[:, None]
    return in_passes(lambda piece: _block(left, right, piece), block)


def double_squared_row_sums(
    h: kernels.Kernel, x: Array | DoublePoints, y: Array | DoublePoints
) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass."""
    left, right = pair(h, x, y)
    if left is right and left.parts is not None:
        return by_parts(left.parts, lambda x, y, rows: double_squared_row_sums(h, x, y))
    return _vector(left, right, right.points.new_ones(right.n), square=True)


def pair(
    h: kernels.Kernel, x: Array | DoublePoints, y: Array | DoublePoints
) -> tuple[DoublePoints, DoublePoints]:
    """Both sides in one layout, centred where the columns are."""
    if x is y:
        both = x if isinstance(x, DoublePoints) else DoublePoints(x, h)
        return both, both
    right = y if isinstance(y, DoublePoints) else DoublePoints(y, h)
    if isinstance(x, DoublePoints) and x.layout is right.layout:
        return x, right
    points = (x.points if isinstance(x, DoublePoints) else x).to(right.points.dtype)
    layout = right.layout.covering(points)
    return DoublePoints(points, h, layout), right.within(layout)


def _shape(x: DoublePoints) -> dict[str, Any]:
    """The constants of the kernels that depend on the points and the kernel function."""
    shape, degree = form(x.h)
    distance = SHORT if x.length <= SHORT_ROW else LONG
    return {
        "DISTANCE": ABSOLUTE if isinstance(x.h, kernels.laplacian) else distance,
        "SHAPE": shape,
        "DEGREE": degree,
        "NEAR": x.layout.near > 0,
        "SHIFT": x.layout.shift,
        "L": x.length,
    }


def _high_word(value: float) -> int:
    """The upper half of the bits of a number that is not negative: larger for larger numbers."""
    return int(struct.unpack(">i", struct.pack(">d", value)[:4])[0])


def _start(x: DoublePoints, y: DoublePoints, v: Array, N: int, *, square: bool = False) -> Array:
    """The product with v, of N columns; the spans are some waves of programs that end together."""
    from . import double_kernels

    tile, layout = _tile(x), x.layout
    strips, tiles = tile.grid(x.n, y.n)
    most = PARTIAL // (8 * padded(x.n) * N)
    parts = max(1, min(WAVES * slots(v) // strips, tiles // SHORTEST, most))
    return launch(
        double_kernels.product,
        (x.rows(True), x.coordinates, y.rows(False), y.coordinates),
        v,
        tile,
        parts,
        (x.n, y.n, x.points.shape[1]),
        (x.factor, _high_word(layout.near), _high_word(2.0**layout.shift)),
        **_shape(x),
        N=N,
        SQUARE=square,
    )


def _vector(x: DoublePoints, y: DoublePoints, v: Array, *, square: bool) -> Array:
    """K v, or the same with the squares of the values."""
    import torch

    v = torch.nn.functional.pad(v, (0, -v.shape[0] % ROW_STEP))
    return _start(x, y, v, 1, square=square)[:, 0]


def _block(x: DoublePoints, y: DoublePoints, block: Array) -> Array:
    """K @ block with the rows of the block in the order that `double_kernels` takes them."""
    n, width = block.shape
    N = max(8, 2 ** math.ceil(math.log2(width)))
    v = block.new_zeros((padded(n), N))
    v[:n, :width] = block
    v = v.reshape(-1, 4, 2, N).transpose(1, 2).contiguous()
    return _start(x, y, v, N)[:, :width]


def _tile(x: DoublePoints) -> Tile:
    """What measured fastest on an H200."""
    if x.length > LONG_ROW or (isinstance(x.h, kernels.laplacian) and x.points.shape[1] > 16):
        return Tile(rows=64, cols=64, stages=4)
    few_terms = isinstance(x.h, kernels.matern) and x.h.nu < 2.5
    if x.length > SHORT_ROW or few_terms or isinstance(x.h, kernels.laplacian):
        return Tile(rows=64, cols=32, warps=2)
    return Tile(rows=128, cols=16)


# Products of points with a few outliers, in parts that are each as fast as possible.
#
# Rounding errors of inner products are relative to the squared norms. A few outliers would make
# all tiles need differences of coordinates, which take two to six times as long. So the other
# points are multiplied in a layout of their own, and only the rows and columns of the outliers
# take longer.

FAR_OUT = 2.0**6.5  # a point with a larger squared norm is an outlier: the last layout below 128
FEW = 8  # at most one point in this many may be an outlier


class DoubleParts(NamedTuple):
    """Most points, which need no differences among themselves, and the few others.

    inner, outer : their positions.
    tight : the inner points in a layout of their own. wide, far : both parts in that of all points.
    """

    points: DoublePoints
    inner: Array
    outer: Array
    tight: DoublePoints
    wide: DoublePoints
    far: DoublePoints


def by_parts(parts: DoubleParts, run: Callable[[DoublePoints, DoublePoints, Any], Array]) -> Array:
    """What run gives for all points.

    run : takes the points of the rows, those of the columns, and the positions of the latter.
    """
    inner = run(parts.tight, parts.tight, parts.inner) + run(parts.wide, parts.far, parts.outer)
    found = inner.new_empty((parts.points.n, *inner.shape[1:]))
    found[parts.inner] = inner
    found[parts.outer] = run(parts.far, parts.points, slice(None))
    return found


# Points packed for fused products in float64: rows whose inner product is an exponent.
#
# −|u − v|² is an inner product of lengthened points, with the norms last. Its rounding error is
# relative to |u|² + |v|². `near` is the squared distance up to which this error matters for the
# kernel values: tiles with such pairs are recomputed from differences of coordinates. `shift` is
# the m of `double_kernels`, 0 where exponents reach too far for it.

EPS = 2.0**-52
ERROR = 1e-13  # bound on the relative error of a product
FAR = 60.0  # values below 2**−60 need not be accurate
LARGEST_NORM = 128.0  # up to this squared norm, exponents are rounded to about 3e-14
SHORT_ROW = 32  # the longest packed row that a tile holds at once
STEP, CHUNK = 16, 32  # packed rows are padded to multiples of these


@dataclass(frozen=True)
class DoubleLayout:
    """What two packed sets of points must share."""

    h: kernels.Kernel
    centre: Array
    largest: float  # no packed point has a larger squared norm (the Laplacian: sum), in units

    @property
    def reach(self) -> float:
        """No exponent of 2 is further below 0 than this."""
        if isinstance(self.h, kernels.rbf):
            return 4 * self.largest
        if isinstance(self.h, kernels.matern):
            return 2 * math.sqrt(self.largest) * LOG2E
        return 2 * self.largest

    @property
    def shift(self) -> int:
        """The m of the exponential: the smaller, the more exact."""
        if isinstance(self.h, kernels.polynomial) or self.reach > 2**9 - 2:
            return 0
        return 6 if self.reach <= 2**6 - 2 else 9

    @property
    def near(self) -> float:
        """Squared distances up to this need differences; 0 where none do."""
        h, largest = self.h, self.largest
        if isinstance(h, kernels.rbf):
            return 0.0 if self.shift else FAR + 16 * EPS * largest
        if not isinstance(h, kernels.matern):
            return 0.0
        if largest > LARGEST_NORM:
            return (FAR / LOG2E) ** 2 + 16 * EPS * largest
        return (EPS * largest / ERROR) ** 2 if h.nu == 0.5 else 0.0

    @property
    def factor(self) -> float:
        """That of the kernel: see `tiling`."""
        return factor(self.h)

    def covering(self, points: Array) -> DoubleLayout:
        """This layout, or one that holds these points too."""
        size = _size(self.h, points - self.centre, self.factor)
        return self if size <= self.largest else DoubleLayout(self.h, self.centre, _above(size))


def double_layout(points: Array, h: kernels.Kernel) -> DoubleLayout:
    """The layout of the points for a kernel."""
    if isinstance(h, kernels.polynomial):
        return DoubleLayout(h, 0.0, math.inf)
    centre = points.mean(0)
    layout = DoubleLayout(h, centre, 0.0)
    return DoubleLayout(h, centre, _above(_size(h, points - centre, layout.factor)))


def _size(h: Any, points: Array, factor: float) -> float:
    """The largest squared norm of the points in units; for the Laplacian, the largest sum."""
    if points.shape[0] == 0:
        return 0.0
    return float(sizes(h, points, factor).max())


def sizes(h: Any, points: Array, factor: float) -> Array:
    """The squared norm of each point in units; for the Laplacian, the sum."""
    summed = points.abs() if isinstance(h, kernels.laplacian) else points.square()
    return summed.sum(1) * factor


def _above(size: float) -> float:
    """A power of √2 that is not below the size: layouts then differ only where it matters."""
    return 2.0 ** (math.ceil(2 * math.log2(max(size, 2.0**-40))) / 2)


@dataclass
class DoublePoints:
    """float64 points packed for a kernel, once for many products.

    Parameters
    ----------
    points : the n × d float64 array.
    h : the kernel.
    layout : that of points that these are to be multiplied with; None makes one.
    """

    points: Array
    h: kernels.Kernel
    layout: DoubleLayout = None  # type: ignore[assignment]  # made below
    _packed: dict[bool, Array] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.layout is None:
            self.layout = double_layout(self.points, self.h)

    @property
    def n(self) -> int:
        """The number of points."""
        return self.points.shape[0]

    @property
    def length(self) -> int:
        """The length of a packed row."""
        if isinstance(self.h, kernels.laplacian):
            return STEP
        length = self.points.shape[1] + 2
        return length + -length % (STEP if length <= STEP else CHUNK)

    def take(self, indices: Indices) -> DoublePoints:
        """Some of the points, in the same layout."""
        import torch

        at = torch.as_tensor(indices, device=self.points.device)
        return DoublePoints(self.points[at], self.h, self.layout)

    def within(self, layout: DoubleLayout) -> DoublePoints:
        """The same points in another layout."""
        return self if layout is self.layout else DoublePoints(self.points, self.h, layout)

    def rows(self, left: bool) -> Array:
        """The packed rows that stand on one side of a product."""
        if left not in self._packed:
            self._packed[left] = self._pack(left)
        return self._packed[left]

    @cached_property
    def parts(self) -> DoubleParts | None:
        """The parts of the points; None where there is nothing to gain."""
        h, layout = self.h, self.layout
        if layout.largest < LARGEST_NORM or not isinstance(h, kernels.rbf | kernels.matern):
            return None
        out = sizes(h, self.points - layout.centre, layout.factor) > FAR_OUT
        if not 0 < FEW * int(out.sum()) <= self.n:
            return None
        inner, outer = (~out).nonzero()[:, 0], out.nonzero()[:, 0]
        tight = DoublePoints(self.points[inner], h, DoubleLayout(h, layout.centre, FAR_OUT))
        return DoubleParts(self, inner, outer, tight, self.take(inner), self.take(outer))

    @cached_property
    def factor(self) -> Array:
        """The factor of sums of differences, on the device of the points."""
        return self.points.new_tensor([self.layout.factor])

    @cached_property
    def coordinates(self) -> Array:
        """The coordinates by rows, where tiles need differences; else any array."""
        needed = isinstance(self.h, kernels.laplacian) or self.layout.near
        return by_coordinates(self.points) if needed else self.points

    def _pack(self, left: bool) -> Array:
        """[2u, 0 …, 1, shift − |u|²] on the left, [v, 0 …, −|v|², 1] on the right."""
        import torch

        h, layout, n = self.h, self.layout, padded(self.n)
        rows = self.points.new_zeros((n, self.length))
        if isinstance(h, kernels.laplacian):
            return rows
        u = torch.nn.functional.pad(self.points - layout.centre, (0, 0, 0, n - self.n))
        rows[:, -2 if left else -1] = 1.0
        if isinstance(h, kernels.polynomial):
            rows[:, -1 if left else -2] = h.coef0 if left else 0.0
            rows[:, : u.shape[1]] = u * h.gamma if left else u
            return rows
        u = u * math.sqrt(layout.factor)
        shifted = left and layout.shift and isinstance(h, kernels.rbf)
        squares = u.square().sum(1)
        rows[:, -1 if left else -2] = (2.0 ** (layout.shift + 1) - 1 if shifted else 0.0) - squares
        rows[:, : u.shape[1]] = 2 * u if left else u
        return rows
