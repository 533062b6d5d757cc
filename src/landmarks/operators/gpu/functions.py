"""What the fused products need to know about a kernel function: its form, degree and unit."""

from __future__ import annotations

import math
from typing import Any

from ... import kernels

LOG2E = math.log2(math.e)
FORMS = range(5)
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
