"""Estimates of the error from probes, with a confidence interval, where exact values are costly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._array import Indices, host
from ..operators.base import Operator
from .nystrom import nystrom_factor
from .probes import Rademacher


@dataclass(frozen=True)
class Estimate:
    """A value with a 95 % confidence interval, from the given number of independent probes."""

    value: float
    low: float
    high: float
    n_probes: int


def estimated_error(
    operator: Operator, indices: Indices, criterion: str, *, n_probes: int = 32, seed: int = 0
) -> Estimate:
    """tr C as the mean of zᵀCz, or ‖C‖²_F as that of ‖Cz‖², over random signs z."""
    F = nystrom_factor(operator, indices)
    Z = Rademacher(n_probes).draw(operator.n, np.random.default_rng(seed), operator.like)
    CZ = operator.matmul(Z) - F @ (F.T @ Z)
    samples = np.sum(host(CZ * (Z if criterion == "trace" else CZ)).astype(np.float64), axis=0)
    value = float(np.mean(samples))
    spread = 1.96 * float(np.std(samples, ddof=1)) / np.sqrt(n_probes)
    return Estimate(value, max(0.0, value - spread), value + spread, n_probes)
