"""Block conjugate gradients: all right-hand sides share one Krylov space; only products are needed.

O'Leary, Linear Algebra Appl. 29 (1980); with orthonormal residuals as in Dubrulle, ETNA 12 (2001),
so that dependent or converged right-hand sides do no harm. SciPy's cg takes one right-hand side and
does not tell an indefinite matrix from a solved system.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from ..._array import Array, eps, host, like, namespace, zeros
from ...errors import NotPSDError
from .solution import Products, Solution, Solve


@dataclass(frozen=True)
class BlockCG:
    """Block conjugate gradients to a relative residual, from zero.

    The default of 1e-2 is far below the noise of ten probes; set it lower when the probes are
    exact.

    Examples
    --------
    >>> from landmarks.methods.relaxation.relaxed import System
    >>> from landmarks.linalg.solvers.block_cg import BlockCG
    >>> system = System(lm.psd(np.diag([1.0, 2.0, 4.0])), t=np.full(3, 0.5), delta=1.0)
    >>> BlockCG(tolerance=1e-12).prepare(system)(np.eye(3)).x.round(6)
    array([[1.      , 0.      , 0.      ],
           [0.      , 0.8     , 0.      ],
           [0.      , 0.      , 0.571429]])
    """

    tolerance: float = 1e-2
    max_steps: int = 500

    def prepare(self, system: Products) -> Solve:
        return partial(self._solve, system)

    def _solve(self, system: Products, block: Array) -> Solution:
        xp = namespace(block)
        x = zeros(tuple(block.shape), block)
        scale = host(_column_norms(block)).astype(np.float64)
        scale[scale == 0] = 1.0
        Q, zeta = xp.linalg.qr(block)  # the residual is Q ζ, with orthonormal Q
        S, step = Q, 0
        residual = 1.0 if float(xp.max(xp.abs(zeta))) > 0 else 0.0
        while residual > self.tolerance and step < self.max_steps:
            step += 1
            AS = system.matmul(S)
            xi = like(_inverse_curvature(S, AS), S)
            x = x + S @ (xi @ zeta)
            Q, tau = xp.linalg.qr(Q - AS @ xi)
            S = Q + S @ tau.T
            zeta = tau @ zeta
            residual = float(np.max(host(_column_norms(zeta)) / scale))
        return Solution(x, step, residual, residual <= self.tolerance)


def _column_norms(block: Array) -> Array:
    xp = namespace(block)
    return xp.sqrt(xp.sum(block * block, axis=0))


def _inverse_curvature(S: Array, AS: Array) -> np.ndarray:
    """(SᵀAS)⁻¹; a clearly negative eigenvalue of it shows that A is indefinite."""
    curvature = host(S.T @ AS).astype(np.float64)
    values, vectors = scipy.linalg.eigh((curvature + curvature.T) / 2, check_finite=False)
    largest = float(np.max(np.abs(values)))
    floor = S.shape[0] * eps(S) * largest
    if values[0] < -floor:
        raise NotPSDError(
            "K is not positive semidefinite: conjugate gradients met a direction of curvature "
            f"{values[0]:.3g} (the largest is {largest:.3g}); check the matrix or the product, or "
            "add a multiple of the identity"
        )
    return (vectors / np.maximum(values, max(floor, np.finfo(np.float64).tiny))) @ vectors.T
