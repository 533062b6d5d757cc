"""float32 points packed for fused products, and what the GPU kernels need to know about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ... import kernels
from ..._array import Array, Indices
from .functions import factor, form
from .single_packing import Layout, choose_layout
from .tiling import ROW_STEP, by_coordinates

SHORT, LONG, SQUARES, ABSOLUTE = range(4)
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
    layout: Layout | None = field(init=False)
    _packed: dict[bool, tuple[Array, Array]] = field(init=False, default_factory=dict)
    _length: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.layout = self.like.layout if self.like is not None else _layout(self.points, self.h)

    @property
    def n(self) -> int:
        """The number of points."""
        return self.points.shape[0]

    def take(self, indices: Indices) -> SinglePoints:
        """Some of the points, with the same layout."""
        import torch

        at = torch.as_tensor(indices, device=self.points.device)
        return SinglePoints(self.points[at], self.h, like=self)


def _layout(points: Array, h: kernels.Kernel) -> Layout | None:
    if isinstance(h, kernels.polynomial):
        return Layout(0.0, 1.0, "inner")
    if isinstance(h, kernels.rbf | kernels.matern):
        return choose_layout(points, 1 / math.sqrt(factor(h)), isinstance(h, kernels.rbf))
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
    length = _length(x)
    first, rest = _two_powers(length)
    return {
        "DISTANCE": SHORT if first else LONG,
        "SHAPE": shape,
        "DEGREE": degree,
        "L": first or length + -length % 64,
        "REST": rest,
    }


def _length(x: SinglePoints) -> int:
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


def operands(z: SinglePoints, left: bool, shape: dict[str, Any]) -> tuple[Array, Array]:
    """The points of one side as the two contiguous arrays that the kernels read; packed once."""
    if left not in z._packed:
        z._packed[left] = (
            _coordinates(z, shape) if z.layout is None else _split_rows(z, z.layout, left, shape)
        )
    return z._packed[left]


def _split_rows(
    z: SinglePoints, layout: Layout, left: bool, shape: dict[str, Any]
) -> tuple[Array, Array]:
    import torch

    points = _packable(z.points, z.h)
    rows = layout.left(points) if left else layout.right(points)
    rows = torch.nn.functional.pad(
        rows, (0, shape["L"] + shape["REST"] - rows.shape[1], 0, -z.n % ROW_STEP)
    )
    first = rows[:, : shape["L"]].contiguous()
    return first, rows[:, shape["L"] :].contiguous() if shape["REST"] else first


def _coordinates(z: SinglePoints, shape: dict[str, Any]) -> tuple[Array, Array]:
    """Coordinates by rows, and the zeros whose product starts a tile."""
    import torch

    rows = by_coordinates(z.points)
    zeros = torch.zeros((rows.shape[1], shape["REST"]), dtype=torch.float16, device=rows.device)
    return rows, zeros
