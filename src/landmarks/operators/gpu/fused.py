"""Products K(x, y) @ V on a GPU without K: each value is made in registers, used and forgotten.

The host side of `triton_kernels`: points are packed once (`prepare`), the right-hand sides are
scaled and split into float16 parts, and the partial sums of the kernels are added up. float32 in
and out; `precision="high"` keeps the relative error of a product below 1e-5, `"fast"` at a few
1e-4. Points in float64 go to `double_product`: float64 in and out, with an error below 1e-13.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, field
from typing import Any

from ... import kernels
from ..._array import Array, Indices
from .double_packing import DoublePoints
from .double_product import double_product, double_squared_row_sums
from .packing import SHIFT, Layout, choose_layout
from .tiling import ROW_STEP, Tile, slots, spans, unrolled

SHORT, LONG, SQUARES, ABSOLUTE = range(4)
EXPONENTIAL, MATERN12, MATERN32, MATERN52, POWER = range(5)
MATERN = {0.5: MATERN12, 1.5: MATERN32, 2.5: MATERN52}
LOG2E = math.log2(math.e)
WIDEST = 64  # right-hand sides of one pass
LONGEST = 160  # the longest packed row that a tile holds at once
# What a product may be off by, relative to its Frobenius norm.
ERRORS = {"high": 1e-5, "fast": 4e-4}
DOUBLE_ERROR = 1e-13


def available(points: Array) -> bool:
    """Whether products on these points can be fused: torch floats on a GPU, and Triton."""
    device = getattr(points, "device", None)
    if getattr(device, "type", None) != "cuda":
        return False
    if str(points.dtype) not in ("torch.float32", "torch.float64"):
        return False
    return importlib.util.find_spec("triton") is not None


def supported(h: kernels.Kernel) -> bool:
    """Whether the kernel is one that the fused products know."""
    return isinstance(
        h, kernels.rbf | kernels.laplacian | kernels.matern | kernels.polynomial | kernels.linear
    )


@dataclass
class Prepared:
    """float32 points packed for a kernel, once for many products.

    Parameters
    ----------
    points : the n × d float32 array.
    h : the kernel.
    beside : prepared points whose layout these must share, for products between the two.
    """

    points: Array
    h: kernels.Kernel
    beside: Prepared | None = None
    layout: Layout | None = field(init=False)
    _packed: dict[bool, tuple[Array, Array]] = field(init=False, default_factory=dict)
    _length: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.layout = (
            self.beside.layout if self.beside is not None else _layout(self.points, self.h)
        )

    @property
    def n(self) -> int:
        """The number of points."""
        return self.points.shape[0]

    def take(self, indices: Indices) -> Prepared:
        """Some of the points, with the same layout."""
        import torch

        at = torch.as_tensor(indices, device=self.points.device)
        return Prepared(self.points[at], self.h, beside=self)


Points = Prepared | DoublePoints


def prepare(points: Array, h: kernels.Kernel) -> Points:
    """The points packed for products in their own precision."""
    return DoublePoints(points, h) if _is_double(points) else Prepared(points, h)


def _is_double(x: Any) -> bool:
    """Whether the points, plain or packed, are in float64."""
    points = x.points if isinstance(x, Prepared | DoublePoints) else x
    return str(points.dtype) == "torch.float64"


def _plain(x: Any) -> Array:
    """The points as they came."""
    return x.points if isinstance(x, Prepared | DoublePoints) else x


def _layout(points: Array, h: kernels.Kernel) -> Layout | None:
    if isinstance(h, kernels.rbf):
        return choose_layout(points, h.sigma / math.sqrt(LOG2E), True)
    if isinstance(h, kernels.matern):
        return choose_layout(points, h.sigma / math.sqrt(2 * h.nu), False)
    if isinstance(h, kernels.polynomial):
        return Layout(0.0, 1.0, "inner")
    return None


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


def product(
    h: kernels.Kernel,
    x: Array | Points,
    y: Array | Points,
    block: Array,
    precision: str = "high",
) -> Array:
    """K(x, y) @ block, with K(x, y) never stored.

    Parameters
    ----------
    h : an `rbf`, `laplacian`, `matern`, `polynomial` or `linear` kernel.
    x, y : the points of the rows and of the columns, plain or from `prepare`; both in float32, or
        both in float64.
    block : the right-hand sides, one row for each point of y.
    precision : of float32 points: "high" for a relative error below 1e-5, "fast" for one of a few
        1e-4, in two thirds of the time. Those of float64 have an error below 1e-13.
    """
    if isinstance(h, kernels.linear):
        return _plain(x) @ (_plain(y).T @ block)
    if _is_double(y):
        return double_product(h, x, y, block)
    return _single_product(h, x, y, block, precision)


def _single_product(h: kernels.Kernel, x: Any, y: Any, block: Array, precision: str) -> Array:
    import torch

    x, y = _prepare(h, x, y)
    if 0 in (x.n, y.n, block.shape[1]):
        return block.new_zeros((x.n, block.shape[1]))
    block, after = _lengths(h, x, y, block.float(), 1)
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


def squared_row_sums(
    h: kernels.Kernel, x: Array | Points, y: Array | Points, precision: str = "high"
) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass: the diagonal of K² when x and y are the same."""
    import torch

    if isinstance(h, kernels.linear):
        left, right = _plain(x), _plain(y)
        return ((left @ (right.T @ right)) * left).sum(1)
    if _is_double(y):
        return double_squared_row_sums(h, x, y)
    x, y = _prepare(h, x, y)
    ones, after = _lengths(h, x, y, torch.ones_like(y.points[:, :1]), 2)
    sums = _vector(x, y, ones[:, 0], precision, square=True)
    return sums if after is None else sums * after[:, 0]


def _prepare(h: kernels.Kernel, x: Any, y: Any) -> tuple[Prepared, Prepared]:
    """Both sides in one layout: that of the side that is prepared, or of y.

    When the other reaches too far, the layout is that of both together.
    """
    import torch

    if x is y:
        both = x if isinstance(x, Prepared) else Prepared(x, h)
        return both, both
    if isinstance(x, Prepared) and isinstance(y, Prepared) and x.layout is y.layout:
        return x, y
    if isinstance(x, Prepared) and not isinstance(y, Prepared):
        right, left = _prepare(h, y, x)
        return left, right
    right = y if isinstance(y, Prepared) else Prepared(y, h)
    points = x.points if isinstance(x, Prepared) else x
    if right.layout is None or right.layout.holds(points):
        return Prepared(points, h, beside=right), right
    both = Prepared(torch.cat([points, right.points]), h)
    return Prepared(points, h, beside=both), Prepared(right.points, h, beside=both)


def _lengths(
    h: kernels.Kernel, x: Prepared, y: Prepared, block: Array, power: int
) -> tuple[Array, Array | None]:
    """The block, and the factor of the result, with the lengths of a polynomial kernel's points."""
    if not isinstance(h, kernels.polynomial):
        return block, None
    before, after = (_unit_vectors(z.points, h)[1] ** (power * int(h.degree)) for z in (y, x))
    return (block * before).float(), after.float()


def _shape(x: Prepared) -> dict[str, Any]:
    """The constants of the kernels that depend on the points and the kernel function."""
    h, shape, degree = x.h, EXPONENTIAL, 1
    if isinstance(h, kernels.matern):
        shape = MATERN[h.nu]
    if isinstance(h, kernels.polynomial):
        shape, degree = POWER, int(h.degree)
    if x.layout is None:
        distance = ABSOLUTE if isinstance(h, kernels.laplacian) else SQUARES
        return {"DISTANCE": distance, "SHAPE": shape, "DEGREE": degree, "L": 0, "REST": 16}
    length = _length(x)
    first, rest = _two_powers(length)
    return {
        "DISTANCE": SHORT if first else LONG,
        "SHAPE": shape,
        "DEGREE": degree,
        "L": first or length + -length % 64,
        "REST": rest,
    }


def _length(x: Prepared) -> int:
    """The length of a packed row."""
    if x._length is None and x.layout is not None:
        x._length = x.layout.left(_packable(x.points[:1], x.h)).shape[1]
    return x._length or 0


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


def _operands(z: Prepared, left: bool, shape: dict[str, Any]) -> tuple[Array, Array]:
    """The points of one side as the two contiguous arrays that the kernels read; packed once."""
    if left not in z._packed:
        z._packed[left] = (
            _differing(z, shape) if z.layout is None else _split_rows(z, z.layout, left, shape)
        )
    return z._packed[left]


def _split_rows(
    z: Prepared, layout: Layout, left: bool, shape: dict[str, Any]
) -> tuple[Array, Array]:
    import torch

    points = _packable(z.points, z.h)
    rows = layout.left(points) if left else layout.right(points)
    rows = torch.nn.functional.pad(
        rows, (0, shape["L"] + shape["REST"] - rows.shape[1], 0, -z.n % ROW_STEP)
    )
    first = rows[:, : shape["L"]].contiguous()
    return first, rows[:, shape["L"] :].contiguous() if shape["REST"] else first


def _differing(z: Prepared, shape: dict[str, Any]) -> tuple[Array, Array]:
    """Coordinates by rows, and the zeros whose product starts a tile."""
    import torch

    d = z.points.shape[1]
    coordinates = torch.nn.functional.pad(
        z.points, (0, unrolled(d)[0] - d, 0, -z.n % ROW_STEP)
    ).T.contiguous()
    return coordinates, torch.zeros(
        (coordinates.shape[1], shape["REST"]), dtype=torch.float16, device=coordinates.device
    )


def _factor(h: Any) -> float:
    """What turns sums of differences into exponents, or into squares of scaled distances."""
    if isinstance(h, kernels.rbf):
        return LOG2E / h.sigma**2
    if isinstance(h, kernels.laplacian):
        return LOG2E / h.sigma
    return 2 * getattr(h, "nu", 0.5) / h.sigma**2


def _start(
    kernel: Any, x: Prepared, y: Prepared, v: Array, width: int, tile: Tile, options: dict[str, Any]
) -> Array:
    """Start a kernel on its grid; the partial results of the spans, one after the other."""
    import torch

    shape = _shape(x)
    rows, cols = (n + -n % ROW_STEP for n in (x.n, y.n))
    strips, tiles = -(-x.n // tile.rows), -(-y.n // tile.cols)
    parts = spans(strips, tiles, tile.run, slots(v))
    out = torch.empty((parts, rows, width), dtype=torch.float32, device=v.device)
    coordinates, unroll = unrolled(x.points.shape[1])
    factor, nearest = (_factor(x.h), 0.0) if x.layout is None else (1.0, x.layout.nearest)
    with torch.cuda.device_of(v):
        kernel[strips, parts](
            *_operands(x, True, shape), *_operands(y, False, shape), v, out,
            rows, cols, tiles, -(-tiles // parts), coordinates, factor, nearest,
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
    if x.layout is not None and _shape(x)["DISTANCE"] == LONG:
        return Tile(cols=128, warps=8, stages=4)
    return Tile(cols=32, mixed=isinstance(x.h, kernels.rbf))


def _block_tile(x: Prepared, width: int, precision: str) -> Tile:
    """What measured fastest on an H200 for a block of that width."""
    shape = _shape(x)
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
