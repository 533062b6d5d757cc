"""How a fused product is divided: tiles, spans of tiles, columns of a block, coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import kernels
from ..._array import Array

ROW_STEP = 256  # packed points are padded to a multiple of the largest tile
WIDEST = 64  # right-hand sides of one pass
UNROLLED = 16  # coordinates whose differences are summed without a loop
RUN = 512  # columns that float16 tensor cores add before float32 does: twice that, twice the error


@dataclass(frozen=True)
class Tile:
    """The rows and columns of a tile, and how it is computed."""

    rows: int = 128
    cols: int = 64
    warps: int = 4
    stages: int = 3
    joint: bool = False  # high and low parts of V as the columns of one product
    mixed: bool = False  # a quarter of the exponentials by polynomials

    def grid(self, rows: int, cols: int) -> tuple[int, int]:
        """How many strips of rows and tiles of columns there are."""
        return -(-rows // self.rows), -(-cols // self.cols)

    @property
    def run(self) -> int:
        """The tiles that the tensor cores add before float32 does."""
        return max(1, RUN // self.cols)


def spans(strips: int, tiles: int, run: int, slots: int) -> int:
    """Into how many spans to cut the columns so that the last wave of programs is nearly full."""
    most = max(1, min(64, tiles // (2 * run)))
    return max(
        range(1, most + 1),
        key=lambda p: (round(strips * p / (slots * -(-strips * p // slots)), 2), -p),
    )


def slots(array: Array) -> int:
    """How many programs run at once."""
    import torch

    if not array.is_cuda:
        return 1
    return 3 * torch.cuda.get_device_properties(array.device).multi_processor_count


def launch(
    kernel: Any,
    operands: tuple[Array, ...],
    v: Array,
    tile: Tile,
    parts: int,
    shape: tuple[int, int, int],
    scalars: tuple[Any, ...],
    **constants: Any,
) -> Array:
    """Start a kernel on strips of rows times spans of columns; the sum of the spans' results.

    operands : the packed rows and columns. parts : the number of spans.
    shape : the numbers of rows, columns and coordinates. scalars : what the kernel takes after.
    """
    import torch

    n, m, d = shape
    strips, tiles = tile.grid(n, m)
    dtype = torch.float64 if v.dtype == torch.float64 else torch.float32
    out = torch.empty((parts, padded(n), constants["N"]), dtype=dtype, device=v.device)
    coordinates, unroll = unrolled(d)
    with torch.cuda.device_of(v):
        kernel[strips, parts](
            *operands, v, out, padded(n), padded(m), tiles, -(-tiles // parts), coordinates,
            *scalars, **constants, BM=tile.rows, BN=tile.cols, UNROLL=unroll,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
    return (out[0] if parts == 1 else out.sum(0))[:n]


def unrolled(d: int) -> tuple[int, int]:
    """Coordinates, with zeros at the end, and how many of them a step of the loop takes."""
    return (d, d) if d <= UNROLLED else (d + -d % 8, 8)


def padded(n: int) -> int:
    """The number of packed rows of n points."""
    return n + -n % ROW_STEP


def by_coordinates(points: Array) -> Array:
    """The points with one row for each coordinate, padded with zeros."""
    import torch

    n, d = points.shape
    longer = torch.nn.functional.pad(points, (0, unrolled(d)[0] - d, 0, padded(n) - n))
    return longer.T.contiguous()


def in_passes(run: Callable[[Array], Array], block: Array) -> Array:
    """What run gives for the columns of a block, at most WIDEST of them at a time."""
    import torch

    pieces = [run(block[:, a : a + WIDEST]) for a in range(0, block.shape[1], WIDEST)]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, 1)


# What the fused products and their kernels agree on, and the form, degree and unit of a function.

LOG2E = math.log2(math.e)
SHIFT = 15  # float32 kernels compute 2**15 times the value, far from the smallest float16 numbers
DISTANCES = range(4)  # how the exponents of a tile are formed
SHORT, LONG, SQUARES, ABSOLUTE = DISTANCES
FORMS = range(5)  # and what becomes of them
EXPONENTIAL, MATERN12, MATERN32, MATERN52, POWER = FORMS
MATERN = {0.5: MATERN12, 1.5: MATERN32, 2.5: MATERN52}


def form(h: kernels.Kernel) -> tuple[int, int]:
    """How values follow from exponents or distances, and the degree of a polynomial kernel."""
    if isinstance(h, kernels.matern):
        return MATERN[h.nu], 1
    if isinstance(h, kernels.polynomial):
        return POWER, int(h.degree)
    return EXPONENTIAL, 1


def factor(h: Any) -> float:
    """What turns sums of differences into exponents of 2, or into squared distances in units."""
    if isinstance(h, kernels.rbf):
        return LOG2E / h.sigma**2
    if isinstance(h, kernels.laplacian):
        return LOG2E / h.sigma
    return 2 * h.nu / h.sigma**2 if isinstance(h, kernels.matern) else 1.0
