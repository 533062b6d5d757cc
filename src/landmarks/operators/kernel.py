"""The operator of a kernel matrix on points: `kernel` checks its arguments and makes it."""

from dataclasses import replace
from typing import Any

import numpy as np

from .. import _check
from .._array import Array, host, namespace
from ..errors import UnsupportedError
from ..kernels import Kernel, Widths, known, laplacian, matern, rbf
from .base import MEMORY, Operator
from .gpu import fused, keops
from .kernel_matrix import KernelOperator


def kernel(
    points: Any,
    h: Kernel,
    *,
    memory: int = MEMORY,
    engine: str | None = None,
    precision: str = "high",
    device: str | None = None,
) -> Operator:
    """The operator of the kernel matrix h(x_i, x_j) on the rows of points.

    A search stores K where that takes at most 2 GiB, 16 384 points; see `memory`.

    Parameters
    ----------
    points : the n × d array of points, one per row; a dask array or data frame is multiplied on
        dask's workers.
    h : `rbf(sigma)`, `laplacian(sigma)`, `matern(nu, sigma)`, with one sigma or one for each
        coordinate; `polynomial(degree, gamma, coef0)`, `linear()`; a kernel of GPyTorch; or any
        callable that takes an a × d and a b × d block of points and returns the a × b block of
        values.
    memory : bytes that the chunks of kernel values may take, 256 MiB by default. `auto`, `greedy`,
        `swap` and `iterated` store K, in float64, where it takes at most eight times as much, and
        evaluate its entries for each product where it takes more.
    engine : "fused" (our products on a GPU, for float32 and float64 torch points on it), "keops"
        (needs pykeops, which compiles and loads code, so it is used only on request) or "chunked"
        (any library and device). None uses "fused" if possible, otherwise "chunked".
    precision : of fused products of float32 points: the relative error is below 1e-5 for "high",
        and near 4e-4 for "fast", which is far below the noise of stochastic gradients. Fused
        products of float64 points have an error below 1e-13. The other engines have the precision
        of the points. `product_error` of the operator gives the error.
    device : only for dask points: the torch device that each worker uses, such as "cuda"; None is
        NumPy.

    Returns
    -------
    Operator
        The kernel matrix of the points, evaluated in blocks.

    Examples
    --------
    >>> lm.kernel(np.arange(6.0).reshape(3, 2), lm.rbf(sigma=0.5))
    KernelOperator(n=3, dtype=float64)
    """
    h = known(h)
    if not callable(h):
        raise TypeError(
            "h must be a kernel such as rbf(sigma=1.0) or a callable of two blocks of points, "
            f"got {h!r}"
        )
    _check.choice(precision, ("high", "fast"), "precision")
    if hasattr(points, "__dask_graph__"):
        if engine is not None or memory != MEMORY:
            raise ValueError(
                "engine and memory are for points in memory; for dask points give device=… "
                "and choose smaller chunks"
            )
        from .dask.kernel import dask_kernel

        return dask_kernel(points, h, device=device, precision=precision)
    if device is not None:
        raise ValueError(
            "device is for the workers of dask points; move the points themselves, e.g. "
            f"torch.asarray(points, device={device!r})"
        )
    points = _check.matrix(points, "points")
    if memory < 2**20:
        raise ValueError(f"memory must be at least 2**20 bytes, got {memory}")
    check_block(h, points)
    centre = None
    if getattr(h, "stationary", False):
        centre = namespace(points).mean(points, axis=0, keepdims=True)
    widths: Widths = 1.0
    if isinstance(h, rbf | laplacian | matern) and isinstance(h.sigma, tuple):
        widths, h = h.sigma, replace(h, sigma=1.0)  # every engine then sees a kernel of one width
    return KernelOperator(
        points,
        h,
        engine=_engine(engine, points, h),
        precision=precision,
        centre=centre,
        widths=widths,
        memory=memory,
    )


def _engine(wanted: str | None, points: Array, h: Kernel) -> str:
    """The engine of the products; requesting one that is not available is an error."""
    can_fuse = fused.available(points) and fused.supported(h)
    if wanted is None:
        return "fused" if can_fuse else "chunked"
    _check.choice(wanted, ("fused", "keops", "chunked"), "engine")
    if wanted == "fused" and not can_fuse:
        raise UnsupportedError(
            "fused products need float32 or float64 torch points on a GPU, Triton and a kernel "
            f"of ours, got {points.dtype} and {h!r}"
        )
    if wanted == "keops" and not (keops.available(points) and fused.supported(h)):
        raise UnsupportedError(
            "KeOps needs pykeops, torch points on a GPU and a kernel of ours, "
            f"got {points.dtype} and {h!r}"
        )
    return wanted


def check_block(h: Kernel, points: Array) -> None:
    """Raise an error if h is not a symmetric function of two blocks; tries the first points."""
    x, y = points[:2, :], points[:3, :]
    values = h(x, y)
    shape = getattr(values, "shape", None)
    if shape is None or tuple(shape) != (x.shape[0], y.shape[0]):
        raise ValueError(
            f"the kernel must return the {x.shape[0]} × {y.shape[0]} block of values for blocks of "
            f"{x.shape[0]} and {y.shape[0]} points, "
            f"got {'a scalar' if shape in (None, ()) else f'shape {tuple(shape)}'}; "
            "write it for blocks, or loop inside it"
        )
    values = host(values)
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "the kernel returned NaN or infinity on the first points; scale the points or change "
            "its parameters"
        )
    square = host(h(points[:2, :], points[:2, :]))
    if not np.allclose(square, square.T, rtol=1e-4, atol=1e-6 * float(np.max(np.abs(square)))):
        raise ValueError(
            "the kernel must be symmetric, h(x, y) = h(y, x), but it is not on the first two points"
        )
