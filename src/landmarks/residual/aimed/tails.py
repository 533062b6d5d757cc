"""What no choice of k candidates can rebuild of a target, by the largest eigenvalues.

With P the projection on k chosen columns, ‖PB‖² is the trace of P (P_A B Bᵀ P_A) P, since these lie
in the range of A; a projection of rank k takes at most the k largest eigenvalues (Ky Fan). So
E(S) ≥ ‖(I − P_A)B‖² + the sum of the other eigenvalues of P_A B Bᵀ P_A.
"""

import math

import numpy as np
import scipy.linalg

from .explicit_aim import Rebuilding, orthonormal, unit

FULL = 3000  # rows up to which the range of the candidates is computed; beyond, it may be all
STEPS = 60
WORK = 2e10  # most multiplications of the steps
ENOUGH = 5  # fewer steps than this are not worth starting
SETTLED = 1e-3  # relative to the error: if the bound is this close to f(w), stop raising it


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


def design_bound(base: Rebuilding, k: int, repeats: bool = False) -> float:
    """What no choice of k measurements can go below; 0 where it would cost too much.

    A bound by convex design: weights instead of a choice. With M(w) = I + Σ w_j x_j x_jᵀ/σ_j² the
    error is f(w) = tr Bᵀ M(w)⁻¹ B at the weights 0 and 1 of a choice (Woodbury), and f is convex.
    So every w with the gains g_j = ‖BᵀM⁻¹x_j‖²/σ_j² bounds every choice: f(v) ≥ f(w) + Σ g_j w_j
    − the k largest g_j, or k times the largest where places may repeat (Pukelsheim, Optimal Design
    of Experiments, 1993). The weights are raised where the gains are large.
    """
    if base.sigma is None or np.any(base.sigma == 0) or (base.n < k and not repeats):
        return 0.0
    r, p = base.B.shape
    steps = int(min(STEPS, WORK / (base.n * r * (r + p) + r**3)))
    if steps < ENOUGH:
        return 0.0
    Y, w, best = base.A / base.sigma, np.full(base.n, k / base.n), 0.0
    for _ in range(steps):
        error, gains, doubt = _values(Y, base.B, w)
        largest = k * gains.max() if repeats else np.sum(np.sort(gains)[-k:])
        bound = error + float(gains @ w) - float(largest) - doubt
        best = max(best, bound)
        if bound >= error * (1 - SETTLED):
            break
        w = _weights(w * np.sqrt(gains), k, np.inf if repeats else 1.0)
    return base.outside + best if best > 0 else 0.0


def _values(Y: np.ndarray, B: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray, float]:
    """f(w), the gains, and by how much rounding may have moved the bound."""
    used = w > 0
    M = np.eye(len(Y)) + (Y[:, used] * w[used]) @ Y[:, used].T
    L = scipy.linalg.cholesky(M, lower=True, check_finite=False)
    half = scipy.linalg.solve_triangular(L, B, lower=True, check_finite=False)
    solved = scipy.linalg.solve_triangular(L, half, lower=True, trans="T", check_finite=False)
    gains = np.sum((solved.T @ Y) ** 2, axis=0)
    error = float(np.sum(half * half))
    spread = float(np.trace(M))  # at least the condition of M, whose smallest eigenvalue is 1
    doubt = 64 * np.finfo(np.float64).eps * spread * (error + float(gains @ w))
    return error, gains, doubt


def _weights(raised: np.ndarray, k: int, most: float) -> np.ndarray:
    """The raised weights times a factor, cut at the most, so that they add up to k."""
    ordered = np.sort(raised)[::-1]
    left = np.cumsum(ordered[::-1])[::-1]
    for full in range(len(ordered)):  # so many are at the most
        factor = (k - full * most if full else k) / max(left[full], np.finfo(float).tiny)
        if factor * ordered[full] <= most:
            return np.minimum(raised * factor, most)
    return np.minimum(raised * np.inf, most)
