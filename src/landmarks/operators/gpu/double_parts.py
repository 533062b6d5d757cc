"""Products of points with a few outliers, in parts that are each as fast as possible.

Rounding errors of inner products are relative to the squared norms. A few outliers would make all
tiles need differences of coordinates, which take two to six times as long. So the other points are
multiplied in a layout of their own, and only the rows and columns of the outliers take longer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ... import kernels
from ..._array import Array
from .double_packing import LARGEST_NORM, DoubleLayout, DoublePoints, sizes

FAR_OUT = 2.0**6.5  # a point with a larger squared norm is an outlier: the last layout below 128
FEW = 8  # at most one point in this many may be an outlier


class Parts(NamedTuple):
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


def parts_of(x: DoublePoints) -> Parts | None:
    """The parts of the points, made once; None where there is nothing to gain."""
    if "parts" not in x._packed:
        x._packed["parts"] = _divided(x)
    found: Parts | None = x._packed["parts"]
    return found


def _divided(x: DoublePoints) -> Parts | None:
    h, layout = x.h, x.layout
    if layout.largest < LARGEST_NORM or not isinstance(h, kernels.rbf | kernels.matern):
        return None
    out = sizes(h, x.points - layout.centre, layout.factor) > FAR_OUT
    if not 0 < FEW * int(out.sum()) <= x.n:
        return None
    inner, outer = (~out).nonzero()[:, 0], out.nonzero()[:, 0]
    tight = DoublePoints(x.points[inner], h, DoubleLayout(h, layout.centre, FAR_OUT))
    return Parts(x, inner, outer, tight, x.take(inner), x.take(outer))


def by_parts(parts: Parts, run: Callable[[DoublePoints, DoublePoints, Any], Array]) -> Array:
    """What run gives for all points.

    run : takes the points of the rows, those of the columns, and the positions of the latter.
    """
    inner = run(parts.tight, parts.tight, parts.inner) + run(parts.wide, parts.far, parts.outer)
    found = inner.new_empty((parts.points.n, *inner.shape[1:]))
    found[parts.inner] = inner
    found[parts.outer] = run(parts.far, parts.points, slice(None))
    return found
