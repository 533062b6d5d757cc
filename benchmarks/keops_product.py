"""Products K(x, y) @ V through KeOps, which the benchmarks on a card compare ours with.

Charlier, Feydy, Glaunès, Collin and Durif, JMLR 22 (2021). KeOps compiles once per shape. Set the
variable CXX to a plain g++ where the default compiler links its C++ library statically: such a
build crashes together with torch.
"""

from __future__ import annotations

import math
from typing import Any

from landmarks import kernels
from landmarks._array import Array


def product(h: kernels.Kernel, x: Array, y: Array, block: Array) -> Array:
    """K(x, y) @ block, with K(x, y) never stored."""
    from pykeops.torch import LazyTensor

    left, right = LazyTensor(x[:, None, :].contiguous()), LazyTensor(y[None, :, :].contiguous())
    return _values(h, left, right) @ block.contiguous()


def _values(h: kernels.Kernel, x: Any, y: Any) -> Any:
    """The kernel as a formula of two symbolic points."""
    if isinstance(h, kernels.rbf):
        return (((x - y) ** 2).sum(-1) * (-1 / h.sigma**2)).exp()
    if isinstance(h, kernels.laplacian):
        return ((x - y).abs().sum(-1) * (-1 / h.sigma)).exp()
    if isinstance(h, kernels.matern):
        r = ((x - y) ** 2).sum(-1).sqrt() * (math.sqrt(2 * h.nu) / h.sigma)
        return {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r * (1 / 3)}[h.nu] * (-r).exp()
    if isinstance(h, kernels.polynomial):
        return math.prod([(x | y) * h.gamma + h.coef0] * int(h.degree), start=1)
    if isinstance(h, kernels.linear):
        return x | y
    raise TypeError(f"KeOps needs rbf, laplacian, matern, polynomial or linear, got {h!r}")
