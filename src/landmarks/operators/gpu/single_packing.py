"""Points packed for the tensor cores: rows of float16 pieces whose inner product is an exponent.

−|u − v|² is an inner product of lengthened points. Each coordinate is a float16 high part plus a
float16 rest, and the squared norms are float16 pieces too. In the layout `exact` the high parts lie
on a grid so coarse that their products and sums are whole multiples of its square below 2²⁴: the
large terms of −|u − v|² cancel without any rounding, and what is left has the size of the distance
itself. The layout `plain` rounds like a float32 product, and is shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Array = Any  # a torch tensor

SHIFT = 15  # the kernels compute 2**15 times the value, far from the smallest float16 numbers
LONGEST_EXACT = 40  # coordinates above which the plain layout is tried with norms in three pieces
ROUNDING = {
    2: (8.0, 64.0),
    3: (25.0, 400.0),
}  # mean and largest squared norm up to which the plain layout rounds to some 3e-6
GRID = (5, 12)  # the binary digits after the point that the grid of the high parts may have


@dataclass(frozen=True)
class Layout:
    """What two packed sets of points must share: origin, unit of length, form of a row."""

    centre: Array
    unit: float
    form: str
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

    def left(self, points: Array) -> Array:
        """The rows that stand on the left of an inner product."""
        return _FORMS[self.form](self.scaled(points), self, True)

    def right(self, points: Array) -> Array:
        """The rows that stand on the right of an inner product."""
        return _FORMS[self.form](self.scaled(points), self, False)


def choose_layout(points: Array, unit: float, shift: bool) -> Layout | None:
    """The layout for −|u − v|² of the points in the unit; None where they exceed float16."""
    centre = points.double().mean(0)
    norms = ((points.double() - centre) / unit).square().sum(1)
    mean, largest = norms.mean().item(), norms.max().item()
    pieces = 2 if shift and points.shape[1] <= LONGEST_EXACT else 3
    most = ROUNDING[pieces]
    if mean < most[0] and largest < most[1] and (pieces == 2 or points.shape[1] > LONGEST_EXACT):
        return Layout(
            centre,
            unit,
            "plain" if shift else "plain unshifted",
            pieces=pieces,
            nearest=mean * 2.0**-20,
            reach=2.0**15,
        )
    reach = max(2 * math.sqrt(mean), math.sqrt(largest) / 5.6, 2.0**-20)
    digits = min(math.floor(11 - math.log2(reach)), GRID[1])
    if digits < GRID[0]:
        return None
    form = "exact" if shift else "exact unshifted"
    return Layout(
        centre, unit, form, digits, nearest=2.0 ** (-9 - 2 * digits), reach=2.0 ** (27 - 2 * digits)
    )


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


def _exact(u: Array, layout: Layout, left: bool, shift: int) -> Array:
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
        first = [2 * high, -most, -fine, coarse * ones, unit * ones, shift * ones]
        return torch.cat([_rows(first), _rows([2 * high, 2 * low, 2 * low, -a, -b, ones, ones])], 1)
    first = [high, coarse * ones, unit * ones, -most, -fine, ones]
    return torch.cat([_rows(first), _rows([low, high, low, ones, ones, -a, -b])], 1)


def _plain(u: Array, layout: Layout, left: bool, shift: int) -> Array:
    """Small terms first and norms last: the sums that the tensor cores truncate stay small."""
    import torch

    high, low = pieces(u, 2)
    ones = [torch.ones_like(u[:, :1])] * layout.pieces
    squares = (high + low).square().sum(1, keepdim=True)
    if left:
        return _rows([2 * high, 2 * low, 2 * high, *pieces(shift - squares, layout.pieces), *ones])
    return _rows([low, high, high, *ones, *pieces(-squares, layout.pieces)])


def _inner(u: Array, layout: Layout, left: bool) -> Array:
    """Unit vectors, for their inner product alone."""
    high, low = pieces(u, 2)
    return _rows([high, low, high] if left else [low, high, high])


_FORMS = {
    "exact": lambda u, layout, left: _exact(u, layout, left, SHIFT),
    "exact unshifted": lambda u, layout, left: _exact(u, layout, left, 0),
    "plain": lambda u, layout, left: _plain(u, layout, left, SHIFT),
    "plain unshifted": lambda u, layout, left: _plain(u, layout, left, 0),
    "inner": _inner,
}
