"""Products K(x, y) @ V on a GPU without K: values live in registers and are never stored.

Points in float32 go to `single_product`: float32 in and out, with an error below 1e-5, or of a few
1e-4 with `precision="fast"`. Points in float64 go to `double_product`: an error below 1e-13.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from ... import kernels
from ..._array import Array, on_gpu
from .double import DoublePoints, double_product, double_squared_row_sums
from .single import SinglePoints, single_product, single_squared_row_sums

# What a product may be off by, relative to its Frobenius norm.
ERRORS = {"high": 1e-5, "fast": 4e-4}
DOUBLE_ERROR = 1e-13
Points = SinglePoints | DoublePoints


def available(points: Array) -> bool:
    """Whether products on these points can be fused: torch floats on a GPU, and Triton."""
    floats = on_gpu(points) and str(points.dtype) in ("torch.float32", "torch.float64")
    return floats and importlib.util.find_spec("triton") is not None


def supported(h: kernels.Kernel) -> bool:
    """Whether the kernel is one that the fused products know."""
    return isinstance(h, kernels.OURS)


def prepare(points: Array, h: kernels.Kernel) -> Points:
    """The points packed for products in their own precision."""
    return DoublePoints(points, h) if _is_double(points) else SinglePoints(points, h)


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
    return single_product(h, x, y, block, precision)


def squared_row_sums(h: kernels.Kernel, x: Array | Points, y: Array | Points) -> Array:
    """Σ_j h(x_i, y_j)² for every i in one pass: the diagonal of K² when x and y are the same."""
    if isinstance(h, kernels.linear):
        left, right = _plain(x), _plain(y)
        return ((left @ (right.T @ right)) * left).sum(1)
    if _is_double(y):
        return double_squared_row_sums(h, x, y)
    return single_squared_row_sums(h, x, y)


def _is_double(x: Any) -> bool:
    """Whether the points, plain or packed, are in float64."""
    return str(_plain(x).dtype) == "torch.float64"


def _plain(x: Any) -> Array:
    """The points before packing."""
    return x.points if isinstance(x, SinglePoints | DoublePoints) else x
