"""Products K(x, y) @ V in float64 on a GPU without K: the host side of `double_kernels`.

The float64 tensor cores form the exponents and multiply the values by V. A product has a relative
error below 1e-13 (Frobenius norm) and gives the same bits in every run.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from ... import kernels
from ..._array import Array
from .double_packing import SHORT_ROW, DoublePoints
from .double_parts import by_parts, parts_of
from .functions import form
from .tiling import ROW_STEP, Tile, in_passes, padded, slots, unrolled

SHORT, LONG, ABSOLUTE = range(3)
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
    if left is right and (parts := parts_of(left)) is not None:
        return by_parts(parts, lambda x, y, rows: double_product(h, x, y, block[rows]))
    if block.shape[1] == 1:
        return _vector(left, right, block[:, 0], square=False)[:, None]
    return in_passes(lambda piece: _block(left, right, piece), block)


def double_squared_row_sums(
    h: kernels.Kernel, x: Array | DoublePoints, y: Array | DoublePoints
) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass."""
    left, right = pair(h, x, y)
    if left is right and (parts := parts_of(left)) is not None:
        return by_parts(parts, lambda x, y, rows: double_squared_row_sums(h, x, y))
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
        "UNROLL": unrolled(x.points.shape[1])[1],
    }


def _high_word(value: float) -> int:
    """The upper half of the bits of a number that is not negative: larger for larger numbers."""
    return int(struct.unpack(">i", struct.pack(">d", value)[:4])[0])


def _parts(strips: int, tiles: int, slots: int, most: int) -> int:
    """Into how many spans to cut the columns: some waves of programs, so that all end together."""
    return max(1, min(WAVES * slots // strips, tiles // SHORTEST, most))


def _start(
    kernel: Any, x: DoublePoints, y: DoublePoints, v: Array, tile: Tile, options: dict[str, Any]
) -> Array:
    """Start a kernel on its grid; the sums of the partial results of the spans."""
    import torch

    rows, cols = padded(x.n), padded(y.n)
    width = options.get("N", 1)
    strips, tiles = -(-x.n // tile.rows), -(-y.n // tile.cols)
    parts = _parts(strips, tiles, slots(v), PARTIAL // (8 * rows * width))
    out = torch.empty((parts, rows, width), dtype=v.dtype, device=v.device)
    d = unrolled(x.points.shape[1])[0]
    with torch.cuda.device_of(v):
        kernel[strips, parts](
            x.rows(True), x.coordinates(), y.rows(False), y.coordinates(), v, out,
            rows, cols, tiles, -(-tiles // parts), d, x.factor(),
            _high_word(x.layout.near), _high_word(2.0**x.layout.shift),
            **_shape(x), BM=tile.rows, BN=tile.cols,
            num_warps=tile.warps, num_stages=tile.stages, **options,
        )  # fmt: skip
    return (out[0] if parts == 1 else out.sum(0))[: x.n]


def _vector(x: DoublePoints, y: DoublePoints, v: Array, *, square: bool) -> Array:
    """K v, or the same with the squares of the values."""
    import torch

    from . import double_kernels

    v = torch.nn.functional.pad(v, (0, -v.shape[0] % ROW_STEP))
    options = {"SQUARE": square}
    return _start(double_kernels.vector_product, x, y, v, _tile(x), options)[:, 0]


def _block(x: DoublePoints, y: DoublePoints, block: Array) -> Array:
    """K @ block with the rows of the block in the order that `double_kernels` takes them."""
    from . import double_kernels

    n, width = block.shape
    N = max(8, 2 ** math.ceil(math.log2(width)))
    v = block.new_zeros((padded(n), N))
    v[:n, :width] = block
    v = v.reshape(-1, 4, 2, N).transpose(1, 2).contiguous()
    return _start(double_kernels.block_product, x, y, v, _tile(x), {"N": N})[:, :width]


def _tile(x: DoublePoints) -> Tile:
    """What measured fastest on an H200."""
    if x.length > LONG_ROW or (isinstance(x.h, kernels.laplacian) and x.points.shape[1] > 16):
        return Tile(rows=64, cols=64, stages=4)
    few_terms = isinstance(x.h, kernels.matern) and x.h.nu < 2.5
    if x.length > SHORT_ROW or few_terms or isinstance(x.h, kernels.laplacian):
        return Tile(rows=64, cols=32, warps=2)
    return Tile(rows=128, cols=16)
