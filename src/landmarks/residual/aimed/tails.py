"""What no choice of k candidates can rebuild of a target, by the largest eigenvalues.

With P the projection on k chosen columns, ‖PB‖² is the trace of P (P_A B Bᵀ P_A) P, since these lie
in the range of A; a projection of rank k takes at most the k largest eigenvalues (Ky Fan). So
E(S) ≥ ‖(I − P_A)B‖² + the sum of the other eigenvalues of P_A B Bᵀ P_A.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from .design import design_bound
from .explicit_aim import Rebuilding, orthonormal, unit

FULL = 3000  # rows up to which the range of the candidates is computed; beyond, it may be all


def best_directions(base: Rebuilding, k: int, repeats: bool = False) -> float:
    """The error of the best k directions in the range of the candidates."""
    inside, missed = reached(base, k, repeats)
    values = scipy.linalg.svdvals(inside, check_finite=False) if inside.size else np.zeros(0)
    return base.outside + missed + float(np.sum(values[k:] ** 2))


def safe_bound(base: Rebuilding, k: int, repeats: bool = False) -> float:
    """A bound that holds: the same less what rounding may have added, or that of a design."""
    doubt = 8 * (sum(base.A.shape) + base.B.shape[1] + 8) * 2.0**-53 * math.sqrt(base.total)
    tail = max(0.0, math.sqrt(best_directions(base, k, repeats)) - doubt) ** 2
    return max(tail, design_bound(base, k, repeats))


def reached(base: Rebuilding, k: int, repeats: bool) -> tuple[np.ndarray, float]:
    """P_A B up to a rotation, and ‖B − P_A B‖² as a sum of squares."""
    if base.sigma is not None and np.all(base.sigma > 0):
        return _repeated(base, k) if repeats else _measured(base)
    if base.sigma is not None or len(base.A) > FULL:
        return base.B, 0.0
    Q = orthonormal(base.A, unit(base.n))
    inside = Q.T @ base.B
    rest = base.B - Q @ inside
    rest = rest - Q @ (Q.T @ rest)
    return inside, float(np.sum(rest * rest))


def _measured(base: Rebuilding) -> tuple[np.ndarray, float]:
    """With noise A = [X; diag σ] and B = [B; 0].

    The Gram matrix of P_A B is Bᵀ N(I + N)⁻¹ B with N = X diag(σ)⁻² Xᵀ.
    """
    U, s, _ = scipy.linalg.svd(base.A / base.sigma, full_matrices=False, check_finite=False)
    inside = U.T @ base.B
    lost = inside / np.sqrt(1 + s * s)[:, None]
    rest = base.B - U @ inside
    missed = float(np.sum(lost * lost) + np.sum(rest * rest))
    return inside * (s / np.sqrt(1 + s * s))[:, None], missed


def _repeated(base: Rebuilding, k: int) -> tuple[np.ndarray, float]:
    """Where a column may come k times, N of k columns is at most k times the largest of one."""
    scaled = base.A / base.sigma
    most = k * float(np.max(np.sum(scaled * scaled, axis=0)))
    return math.sqrt(most / (1 + most)) * base.B, base.inside / (1 + most)
