"""Products K(x, y) @ V in float32 on a GPU without K: the host side of `single_kernels`.

The right-hand sides are scaled and split into float16 parts, and the partial sums of the kernels
are added up. `precision="high"` keeps the relative error of a product below 1e-5, `"fast"` at a
few 1e-4.
"""

from __future__ import annotations

import math
from typing import Any

from ... import kernels
from ..._array import Array
from .functions import factor
from .single_packing import SHIFT
from .single_points import LONG, SinglePoints, lengths, operands, pair, shape_of
from .tiling import ROW_STEP, Tile, in_passes, padded, slots, spans, unrolled


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


def single_squared_row_sums(h: kernels.Kernel, x: Any, y: Any, precision: str) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass."""
    import torch

    x, y = pair(h, x, y)
    ones, after = lengths(h, x, y, torch.ones_like(y.points[:, :1]), 2)
    sums = _vector(x, y, ones[:, 0], precision, square=True)
    return sums if after is None else sums * after[:, 0]


def _start(
    kernel: Any, x: SinglePoints, y: SinglePoints, v: Array, tile: Tile, options: dict[str, Any]
) -> Array:
    """Start a kernel on its grid; the sums of the partial results of the spans."""
    import torch

    shape, width = shape_of(x), options.get("N", 1)
    rows, cols = padded(x.n), padded(y.n)
    strips, tiles = -(-x.n // tile.rows), -(-y.n // tile.cols)
    parts = spans(strips, tiles, tile.run, slots(v))
    out = torch.empty((parts, rows, width), dtype=torch.float32, device=v.device)
    coordinates, unroll = unrolled(x.points.shape[1])
    scale, nearest = (factor(x.h), 0.0) if x.layout is None else (1.0, x.layout.nearest)
    with torch.cuda.device_of(v):
        kernel[strips, parts](
            *operands(x, True, shape), *operands(y, False, shape), v, out,
            rows, cols, tiles, -(-tiles // parts), coordinates, scale, nearest,
            **shape, BM=tile.rows, BN=tile.cols, UNROLL=unroll,
            num_warps=tile.warps, num_stages=tile.stages, **options,
        )  # fmt: skip
    return (out[0] if parts == 1 else out.sum(0))[: x.n]


def _exponential(tile: Tile, precision: str) -> int:
    """How exponentials are taken: INTERPRETED, UNIT, MIXED or MIXED_COARSE."""
    from . import single_kernels

    if single_kernels.interpreted():
        return 0
    if not tile.mixed:
        return 1
    return 3 if precision == "fast" else 2


def _vector(x: SinglePoints, y: SinglePoints, v: Array, precision: str, *, square: bool) -> Array:
    """K v in float32 arithmetic, or the same with the squares of the values."""
    import torch

    from . import single_kernels

    v = torch.nn.functional.pad(v.float(), (0, -v.shape[0] % ROW_STEP))
    tile = _vector_tile(x)
    options = {"SQUARE": square, "EXP": _exponential(tile, precision)}
    out = _start(single_kernels.vector_product, x, y, v, tile, options)
    return out[:, 0] * 2.0 ** (-2 * SHIFT if square else -SHIFT)


def _block(x: SinglePoints, y: SinglePoints, block: Array, precision: str) -> Array:
    """K @ block with both factors in float16 parts."""
    from . import single_kernels

    tile = _block_tile(x, block.shape[1], precision)
    high_only = precision == "fast"
    scale = _scale(block)
    v, width = _halves(block / scale, high_only, tile.joint)
    both = 1 if tile.joint else 2
    low = 0 if high_only else both
    options = {"N": width, "LOW": low, "RUN": tile.run, "EXP": _exponential(tile, precision)}
    out = _start(single_kernels.block_product, x, y, v, tile, options)
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
    halves = torch.zeros(
        (padded(n), width if high_only else 2 * width),
        dtype=torch.float16,
        device=block.device,
    )
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
