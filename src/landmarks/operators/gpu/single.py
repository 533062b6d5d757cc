"""Products K(x, y) @ V in float32 on a GPU without K: the host side of `single_kernels`.

The right-hand sides are scaled and split into float16 parts, and the partial sums of the kernels
are added up. `precision="high"` keeps the relative error of a product below 1e-5, `"fast"` at a
few 1e-4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ... import kernels
from ..._array import Array, Indices
from .tiling import (
    ABSOLUTE,
    LONG,
    ROW_STEP,
    SHIFT,
    SHORT,
    SQUARES,
    Tile,
    by_coordinates,
    factor,
    form,
    in_passes,
    launch,
    padded,
    slots,
    spans,
)


def single_product(h: kernels.Kernel, x: Any, y: Any, block: Array, precision: str) -> Array:
    """K(x, y) @ block in float32."""
    x, y = pair(h, x, y)
    if 0 in (x.n, y.n, block.shape[1]):
        return block.new_zeros((x.n, block.shape[1]))
    block, after = lengths(h, x, y, block.float(), 1)
    if block.shape[1] == 1:
        result = _vector(x, y, block[:, 0], precision, square=False)[:, None]
    else:
        result = in_passes(lambda piece: _block(x, y, piece, precision), block)
    return result if after is None else result * after


def single_squared_row_sums(h: kernels.Kernel, x: Any, y: Any) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass."""
    import torch

    x, y = pair(h, x, y)
    ones, after = lengths(h, x, y, torch.ones_like(y.points[:, :1]), 2)
    sums = _vector(x, y, ones[:, 0], "high", square=True)
    return sums if after is None else sums * after[:, 0]


def _start(
    kernel: Any,
    x: SinglePoints,
    y: SinglePoints,
    v: Array,
    tile: Tile,
    precision: str,
    **constants: Any,
) -> Array:
    """What a kernel gives for packed points and v."""
    from . import single_kernels

    shape = shape_of(x)
    exponential = single_kernels.UNIT
    if single_kernels.interpreted():
        exponential = single_kernels.INTERPRETED
    elif tile.mixed:
        coarse = precision == "fast"
        exponential = single_kernels.MIXED_COARSE if coarse else single_kernels.MIXED
    return launch(
        kernel,
        (*operands(x, True, shape), *operands(y, False, shape)),
        v,
        tile,
        spans(*tile.grid(x.n, y.n), tile.run, slots(v)),
        (x.n, y.n, x.points.shape[1]),
        (factor(x.h), 0.0) if x.layout is None else (1.0, x.layout.nearest),
        **shape,
        **constants,
        EXP=exponential.value,
    )


def _vector(x: SinglePoints, y: SinglePoints, v: Array, precision: str, *, square: bool) -> Array:
    """K v in float32 arithmetic, or the same with the squares of the values."""
    import torch

    from . import single_kernels

    v = torch.nn.functional.pad(v.float(), (0, -v.shape[0] % ROW_STEP))
    kernel, tile = single_kernels.vector_product, _vector_tile(x)
    out = _start(kernel, x, y, v, tile, precision, N=1, SQUARE=square)
    return out[:, 0] * 2.0 ** (-2 * SHIFT if square else -SHIFT)


def _block(x: SinglePoints, y: SinglePoints, block: Array, precision: str) -> Array:
    """K @ block with both factors in float16 parts."""
    from . import single_kernels

    tile = _block_tile(x, block.shape[1], precision)
    high_only = precision == "fast"
    scale = _scale(block)
    v, width = _halves(block / scale, high_only, tile.joint)
    low = 0 if high_only else 1 if tile.joint else 2
    kernel = single_kernels.block_product
    out = _start(kernel, x, y, v, tile, precision, N=width, LOW=low, RUN=tile.run)
    if low == 1:
        out = out[:, : width // 2] + out[:, width // 2 :]
    return out[:, : block.shape[1]] * (scale * 2.0**-SHIFT)


def _scale(block: Array) -> Array:
    """What brings the largest entry of each column to 2**14; zero columns count as tiny."""
    import torch

    largest = torch.linalg.vector_norm(block, math.inf, dim=0)
    return torch.clamp(largest, min=2.0**-112) * 2.0**-14


def _halves(block: Array, high_only: bool, joint: bool) -> tuple[Array, int]:
    """The block in float16 parts side by side, padded, and the width of one product."""
    import torch

    n, r = block.shape
    width = max(8 if joint and not high_only else 16, 2 ** math.ceil(math.log2(r)))
    shape = padded(n), width if high_only else 2 * width
    halves = torch.zeros(shape, dtype=torch.float16, device=block.device)
    halves[:n, :r] = block
    if not high_only:
        halves[:n, width : width + r] = block - halves[:n, :r]
    return halves, 2 * width if joint and not high_only else width


def _vector_tile(x: SinglePoints) -> Tile:
    """What measured fastest on an H200 for one vector."""
    if x.layout is not None and shape_of(x)["DISTANCE"] == LONG:
        return Tile(cols=128, warps=8, stages=4)
    return Tile(cols=32, mixed=isinstance(x.h, kernels.rbf))


def _block_tile(x: SinglePoints, width: int, precision: str) -> Tile:
    """What measured fastest on an H200 for a block of that width."""
    shape = shape_of(x)
    if x.layout is None:
        return Tile(rows=64, cols=128)
    if shape["DISTANCE"] == LONG:
        return Tile(cols=256 if width <= 16 else 128, warps=8, stages=4)
    if isinstance(x.h, kernels.matern):
        return Tile(rows=64, joint=width <= 16)
    if precision == "fast":
        return Tile(mixed=True)
    if width > 32:
        return Tile(rows=64)
    return Tile(
        cols=64 if width <= 16 and shape["L"] + shape["REST"] <= 64 else 32, joint=width <= 8
    )


# float32 points packed for fused products, and what the GPU kernels need to know about them.

LONGEST = 160  # the longest packed row that a tile holds at once


@dataclass
class SinglePoints:
    """float32 points packed for a kernel, once for many products.

    Parameters
    ----------
    points : the n × d float32 array.
    h : the kernel.
    like : points whose layout these must share, for products between the two.
    """

    points: Array
    h: kernels.Kernel
    like: SinglePoints | None = None
    layout: SingleLayout | None = field(init=False)
    _packed: dict[bool, tuple[Array, Array]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.like is not None:
            self.layout = self.like.layout
        elif isinstance(self.h, kernels.polynomial):
            self.layout = SingleLayout(0.0, 1.0, _inner)
        elif isinstance(self.h, kernels.rbf | kernels.matern):
            unit = 1 / math.sqrt(factor(self.h))
            self.layout = choose_layout(self.points, unit, isinstance(self.h, kernels.rbf))
        else:
            self.layout = None

    @cached_property
    def length(self) -> int:
        """The length of a packed row; 0 where points are not packed."""
        if self.layout is None:
            return 0
        return self.layout.rows(_packable(self.points[:1], self.h), True).shape[1]

    @property
    def n(self) -> int:
        """The number of points."""
        return self.points.shape[0]

    def take(self, indices: Indices) -> SinglePoints:
        """Some of the points, with the same layout."""
        import torch

        at = torch.as_tensor(indices, device=self.points.device)
        return SinglePoints(self.points[at], self.h, like=self)


def _unit_vectors(points: Array, h: kernels.polynomial) -> tuple[Array, Array]:
    """Unit vectors u and lengths a with (γ x·y + c)^degree = (a_x a_y u_x·u_y)^degree."""
    import torch

    longer = torch.nn.functional.pad(
        points.double() * math.sqrt(h.gamma), (0, 1), value=math.sqrt(h.coef0)
    )
    lengths = torch.linalg.vector_norm(longer, dim=1, keepdim=True)
    return longer / torch.where(lengths > 0, lengths, 1.0), lengths


def _packable(points: Array, h: kernels.Kernel) -> Array:
    """The points whose inner products or distances the kernel needs."""
    return _unit_vectors(points, h)[0] if isinstance(h, kernels.polynomial) else points


def pair(h: kernels.Kernel, x: Any, y: Any) -> tuple[SinglePoints, SinglePoints]:
    """Both sides in one layout: that of the side that is prepared, or of y.

    When the other reaches too far, the layout is that of both together.
    """
    import torch

    if x is y:
        both = x if isinstance(x, SinglePoints) else SinglePoints(x, h)
        return both, both
    if isinstance(x, SinglePoints) and isinstance(y, SinglePoints) and x.layout is y.layout:
        return x, y
    if isinstance(x, SinglePoints) and not isinstance(y, SinglePoints):
        right, left = pair(h, y, x)
        return left, right
    right = y if isinstance(y, SinglePoints) else SinglePoints(y, h)
    points = x.points if isinstance(x, SinglePoints) else x
    if right.layout is None or right.layout.holds(points):
        return SinglePoints(points, h, like=right), right
    both = SinglePoints(torch.cat([points, right.points]), h)
    return SinglePoints(points, h, like=both), SinglePoints(right.points, h, like=both)


def lengths(
    h: kernels.Kernel, x: SinglePoints, y: SinglePoints, block: Array, power: int
) -> tuple[Array, Array | None]:
    """The block, and the factor of the result, with the lengths of a polynomial kernel's points."""
    if not isinstance(h, kernels.polynomial):
        return block, None
    before, after = (_unit_vectors(z.points, h)[1] ** (power * int(h.degree)) for z in (y, x))
    return (block * before).float(), after.float()


def shape_of(x: SinglePoints) -> dict[str, Any]:
    """The constants of the kernels that depend on the points and the kernel function."""
    shape, degree = form(x.h)
    if x.layout is None:
        distance = ABSOLUTE if isinstance(x.h, kernels.laplacian) else SQUARES
        return {"DISTANCE": distance, "SHAPE": shape, "DEGREE": degree, "L": 0, "REST": 16}
    first, rest = _two_powers(x.length)
    return {
        "DISTANCE": SHORT if first else LONG,
        "SHAPE": shape,
        "DEGREE": degree,
        "L": first or x.length + -x.length % 64,
        "REST": rest,
    }


def _two_powers(length: int) -> tuple[int, int]:
    """Two powers of two, or one and zero, that add up to the length or a little more.

    Zeros when it is too long.
    """
    if length > LONGEST:
        return 0, 0
    first = 2 ** int(math.log2(length))
    rest = length - first
    if rest == 0:
        return first, 0
    rest = 2 ** math.ceil(math.log2(rest))
    return (2 * first, 0) if rest == first else (first, max(16, rest))


def operands(z: SinglePoints, left: bool, shape: dict[str, Any]) -> tuple[Array, Array]:
    """The points of one side as the two contiguous arrays that the kernels read; packed once."""
    import torch

    if left in z._packed:
        return z._packed[left]
    L, rest = shape["L"], shape["REST"]
    if z.layout is None:  # coordinates by rows, and the zeros whose product starts a tile
        rows = by_coordinates(z.points)
        zeros = torch.zeros((rows.shape[1], rest), dtype=torch.float16, device=rows.device)
        z._packed[left] = rows, zeros
    else:
        rows = z.layout.rows(_packable(z.points, z.h), left)
        rows = torch.nn.functional.pad(rows, (0, L + rest - rows.shape[1], 0, -z.n % ROW_STEP))
        first = rows[:, :L].contiguous()
        z._packed[left] = first, rows[:, L:].contiguous() if rest else first
    return z._packed[left]


# Points packed for the tensor cores: rows of float16 pieces whose inner product is an exponent.
#
# −|u − v|² is an inner product of lengthened points. Each coordinate is a float16 high part plus
# a float16 rest, and the squared norms are float16 pieces too. In the layout `exact` the high
# parts lie on a grid so coarse that their products and sums are whole multiples of its square
# below 2²⁴: the large terms of −|u − v|² cancel without any rounding, and what is left has the
# size of the distance itself. The layout `plain` rounds like a float32 product, and is shorter.


LONGEST_EXACT = 40  # coordinates above which the plain layout is tried with norms in three pieces
# by pieces: mean and largest squared norm up to which the plain layout rounds to some 3e-6
ROUNDING = {2: (8.0, 64.0), 3: (25.0, 400.0)}
GRID = (5, 12)  # the binary digits after the point that the grid of the high parts may have


@dataclass(frozen=True)
class SingleLayout:
    """What two packed sets of points must share: origin, unit of length, form of a row.

    shift : what is added to the inner product, SHIFT or 0.
    """

    centre: Array
    unit: float
    form: Callable[[Array, SingleLayout, bool], Array]
    shift: int = 0
    digits: int = 0
    pieces: int = 3
    nearest: float = 0.0  # squared distances below this are rounding
    reach: float = math.inf  # the largest squared norm that float16 holds

    def scaled(self, points: Array) -> Array:
        """The points in float64, from the centre, in units."""
        return (points.double() - self.centre) / self.unit

    def holds(self, points: Array) -> bool:
        """Whether the points are near enough to be packed."""
        return bool((self.scaled(points).square().sum(1) <= self.reach).all())

    def rows(self, points: Array, left: bool) -> Array:
        """The rows that stand on one side of an inner product."""
        return self.form(self.scaled(points), self, left)


def choose_layout(points: Array, unit: float, shift: bool) -> SingleLayout | None:
    """The layout for −|u − v|² of the points in the unit; None where they exceed float16."""
    centre = points.double().mean(0)
    norms = ((points.double() - centre) / unit).square().sum(1)
    mean, largest = norms.mean().item(), norms.max().item()
    moved = SHIFT if shift else 0
    pieces = 2 if shift and points.shape[1] <= LONGEST_EXACT else 3
    most = ROUNDING[pieces]
    if mean < most[0] and largest < most[1] and (pieces == 2 or points.shape[1] > LONGEST_EXACT):
        nearest, reach = mean * 2.0**-20, 2.0**15
        return SingleLayout(
            centre, unit, _plain, moved, pieces=pieces, nearest=nearest, reach=reach
        )
    reach = max(2 * math.sqrt(mean), math.sqrt(largest) / 5.6, 2.0**-20)
    digits = min(math.floor(11 - math.log2(reach)), GRID[1])
    if digits < GRID[0]:
        return None
    nearest, reach = 2.0 ** (-9 - 2 * digits), 2.0 ** (27 - 2 * digits)
    return SingleLayout(centre, unit, _exact, moved, digits, nearest=nearest, reach=reach)


def half(array: Array) -> Array:
    """The array rounded to float16, still in float64."""
    import torch

    return array.half().to(torch.float64)


def pieces(array: Array, count: int) -> list[Array]:
    """Columns of float16 pieces that add up to the column."""
    parts = []
    for _ in range(count):
        parts.append(half(array))
        array = array - parts[-1]
    return parts


def _rows(parts: list[Array], step: int = 16) -> Array:
    """The parts side by side in float16, lengthened by zeros to a multiple of the step."""
    import torch

    rows = torch.cat(parts, 1)
    return torch.nn.functional.pad(rows, (0, -rows.shape[1] % step)).half()


def _exact(u: Array, layout: SingleLayout, left: bool) -> Array:
    import torch

    unit, ones = 2.0**-layout.digits, torch.ones_like(u[:, :1])
    high = half((u / unit).round() * unit)
    low = half(u - high)
    coarse = 2**11 * unit**2
    squares = high.square().sum(1, keepdim=True)
    most = half((squares / coarse).round())
    fine = half((squares - most * coarse) / unit)
    a, b = pieces((2 * high * low + low.square()).sum(1, keepdim=True), 2)
    if left:
        first = [2 * high, -most, -fine, coarse * ones, unit * ones, layout.shift * ones]
        return torch.cat([_rows(first), _rows([2 * high, 2 * low, 2 * low, -a, -b, ones, ones])], 1)
    first = [high, coarse * ones, unit * ones, -most, -fine, ones]
    return torch.cat([_rows(first), _rows([low, high, low, ones, ones, -a, -b])], 1)


def _plain(u: Array, layout: SingleLayout, left: bool) -> Array:
    """Small terms first and norms last: the sums that the tensor cores truncate stay small."""
    import torch

    high, low = pieces(u, 2)
    ones = [torch.ones_like(u[:, :1])] * layout.pieces
    squares = (high + low).square().sum(1, keepdim=True)
    if left:
        norms = pieces(layout.shift - squares, layout.pieces)
        return _rows([2 * high, 2 * low, 2 * high, *norms, *ones])
    return _rows([low, high, high, *ones, *pieces(-squares, layout.pieces)])


def _inner(u: Array, layout: SingleLayout, left: bool) -> Array:
    """Unit vectors, for their inner product alone."""
    high, low = pieces(u, 2)
    return _rows([high, low, high] if left else [low, high, high])
