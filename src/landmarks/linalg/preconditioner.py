"""A preconditioner from the eigenpairs of K̂: (K̂ + ridge · I)⁻¹ and its roots, in O(nr).

Frangella, Tropp and Udell, SIAM J. Matrix Anal. Appl. 44 (2023), treat the complement of the
eigenvectors as if its eigenvalue were the smallest of K̂; here it is 0, as in K̂ itself.
`benchmarks/preconditioner.py --complement` compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._array import Array, host, like


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """The inverse of K̂ + ridge · I: `P @ block` for NumPy or torch, `M=P` for SciPy's solvers.

    Attributes
    ----------
    values, vectors : the nonzero eigenvalues of K̂ and their n × r orthonormal vectors.
    ridge : what is added to the diagonal; positive.

    Examples
    --------
    >>> import scipy.sparse.linalg
    >>> points = np.random.default_rng(0).standard_normal((200, 2))
    >>> K = lm.rbf(sigma=2.0)(points, points)
    >>> P = lm.select(lm.psd(K), 30, method="greedy").nystrom().preconditioner(ridge=1e-3)
    >>> A = K + 1e-3 * np.eye(200)
    >>> x, failed = scipy.sparse.linalg.cg(A, points[:, 0], M=P, rtol=1e-8, maxiter=20)
    >>> failed
    0
    """

    values: Array
    vectors: Array
    ridge: float

    @property
    def shape(self) -> tuple[int, int]:
        return (self.vectors.shape[0], self.vectors.shape[0])

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of its vectors, which SciPy asks for."""
        return host(self.values).dtype

    def matmul(self, block: Array) -> Array:
        """(K̂ + ridge · I)⁻¹ @ block, for a block of vectors or one vector."""
        return self.power(block, -1.0)

    __matmul__ = matmul

    def power(self, block: Array, exponent: float) -> Array:
        """(K̂ + ridge · I) to that power @ block; ±1/2 split the preconditioner symmetrically."""
        if block.ndim == 1:
            return self.power(block[:, None], exponent)[:, 0]
        U = self.vectors
        inside = U.T @ block
        outside = block - U @ inside
        # twice: a ridge far below the eigenvalues magnifies what rounding left inside
        outside = outside - U @ (U.T @ outside)
        eigenvalues = (self.values + self.ridge)[:, None]
        return U @ (eigenvalues**exponent * inside) + self.ridge**exponent * outside

    def matvec(self, vector: np.ndarray) -> np.ndarray:
        """The product with NumPy vectors, which SciPy calls, wherever the approximation lives."""
        return host(self.matmul(like(vector, self.vectors)))

    rmatvec = matmat = matvec
