"""Products K(x, y) @ V in float32 on a GPU without K: the host side of `triton_kernels`.

The right-hand sides are scaled and split into float16 parts, and the partial sums of the kernels
are added up. `precision="high"` keeps the relative error of a product below 1e-5, `"fast"` at a
few 1e-4.
"""

from __future__ import annotations

import math
from typing import Any

from ... import kernels
from ..._array import Array
from .packing import SHIFT
from .single_points import LONG, Prepared, factor, lengths, operands, pair, shape_of
from .tiling import ROW_STEP, Tile, slots, spans, unrolled

WIDEST = 64  # right-hand sides of one pass


def single_product(h: kernels.Kernel, x: Any, y: Any, block: Array, precision: str) -> Array:
    """K(x, y) @ block in float32."""
    import torch

    x, y = pair(h, x, y)
    if 0 in (x.n, y.n, block.shape[1]):
        return block.new_zeros((x.n, block.shape[1]))
    block, after = lengths(h, x, y, block.float(), 1)
    if block.shape[1] == 1:
        result = _vector(x, y, block[:, 0], precision, square=False)[:, None]
    elif block.shape[1] <= WIDEST:
        result = _block(x, y, block, precision)
    else:
        result = torch.cat(
            [
                _block(x, y, block[:, a : a + WIDEST], precision)
                for a in range(0, block.shape[1], WIDEST)
            ],
            1,
        )
    return result if after is None else result * after


def single_squared_row_sums(h: kernels.Kernel, x: Any, y: Any, precision: str) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass."""
    import torch

    x, y = pair(h, x, y)
    ones, after = lengths(h, x, y, torch.ones_like(y.points[:, :1]), 2)
    sums = _vector(x, y, ones[:, 0], precision, square=True)
    return sums if after is None else sums * after[:, 0]


def _start(
    kernel: Any, x: Prepared, y: Prepared, v: Array, width: int, tile: Tile, options: dict[str, Any]
) -> Array:
    """Start a kernel on its grid; the partial results of the spans, one after the other."""
    import torch

    shape = shape_of(x)
    rows, cols = (n + -n % ROW_STEP for n in (x.n, y.n))
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
    return out[:, : x.n, :]


def _exponential(tile: Tile, precision: str) -> int:
    """How exponentials are taken: INTERPRETED, UNIT, MIXED or MIXED_COARSE."""
    from . import triton_kernels as _triton

    if _triton.interpreted():
        return 0
    return (3 if precision == "fast" else 2) if tile.mixed else 1


def _vector(x: Prepared, y: Prepared, v: Array, precision: str, *, square: bool) -> Array:
    """K v in float32 arithmetic, or the same with the squares of the values."""
    import torch

    from . import triton_kernels as _triton

    padded = torch.nn.functional.pad(v.float(), (0, -v.shape[0] % ROW_STEP))
    tile = _vector_tile(x)
    out = _start(
        _triton.vector_product,
        x,
        y,
        padded,
        1,
        tile,
        {"SQUARE": square, "EXP": _exponential(tile, precision)},
    )
    return out.sum(0)[:, 0] * 2.0 ** (-2 * SHIFT if square else -SHIFT)


def _block(x: Prepared, y: Prepared, block: Array, precision: str) -> Array:
    """K @ block with both factors in float16 parts."""
    from . import triton_kernels as _triton

    tile = _block_tile(x, block.shape[1], precision)
    high_only = precision == "fast"
    scale = _scale(block)
    v, width = _halves(block / scale, high_only, tile.joint)
    low = 0 if high_only else 1 if tile.joint else 2
    options = {"N": width, "LOW": low, "RUN": tile.run, "EXP": _exponential(tile, precision)}
    out = _start(_triton.block_product, x, y, v, width, tile, options)
    out = out[0] if out.shape[0] == 1 else out.sum(0)
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
        (n + -n % ROW_STEP, width if high_only else 2 * width),
        dtype=torch.float16,
        device=block.device,
    )
    halves[:n, :r] = block
    if not high_only:
        halves[:n, width : width + r] = block - halves[:n, :r]
    return halves, 2 * width if joint and not high_only else width


def _vector_tile(x: Prepared) -> Tile:
    """What measured fastest on an H200 for one vector."""
    if x.layout is not None and shape_of(x)["DISTANCE"] == LONG:
        return Tile(cols=128, warps=8, stages=4)
    return Tile(cols=32, mixed=isinstance(x.h, kernels.rbf))


def _block_tile(x: Prepared, width: int, precision: str) -> Tile:
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
