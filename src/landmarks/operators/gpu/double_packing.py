"""Points packed for fused products in float64: rows whose inner product is an exponent.

−|u − v|² is an inner product of lengthened points, with the norms last. Its rounding error is
relative to |u|² + |v|². `near` is the squared distance up to which this error matters for the
kernel values: tiles with such pairs are recomputed from differences of coordinates. `shift` is the
m of `double_kernels`, 0 where exponents reach too far for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ... import kernels
from ..._array import Array, Indices
from .functions import LOG2E, factor
from .tiling import by_coordinates, padded

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
        """That of the kernel: see `functions`."""
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
    _packed: dict[str, Any] = field(init=False, default_factory=dict)

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
        side = "left" if left else "right"
        if side not in self._packed:
            self._packed[side] = self._pack(left)
        return self._packed[side]

    def factor(self) -> Array:
        """The factor of sums of differences, on the device of the points."""
        if "factor" not in self._packed:
            self._packed["factor"] = self.points.new_tensor([self.layout.factor])
        return self._packed["factor"]

    def coordinates(self) -> Array:
        """The coordinates by rows, where tiles need differences; else any array."""
        if not (isinstance(self.h, kernels.laplacian) or self.layout.near):
            return self.points
        if "coordinates" not in self._packed:
            self._packed["coordinates"] = by_coordinates(self.points)
        return self._packed["coordinates"]

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
