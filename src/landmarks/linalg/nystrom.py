"""The Nyström approximation K̂ = K_S K_SS⁺ K_Sᵀ in the factored form F Fᵀ, and its inverse.

The preconditioner applies (K̂ + ridge · I)⁻¹ and its roots in O(nr). Frangella, Tropp and Udell
(SIAM J. Matrix Anal. Appl. 44, 2023) treat the complement of the eigenvectors as if its eigenvalue
were the smallest of K̂; here it is 0, as in K̂ itself. `benchmarks/preconditioner.py --complement`
compares the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._array import (
    Array,
    Indices,
    as_dtype_of,
    double,
    eps,
    has_double,
    host,
    like,
    namespace,
    represented,
    solve_from_right,
    take,
    zeros,
)
from .._check import positive
from .._shown import Shown, Table
from ..operators.base import (
    MEMORY,
    Operator,
    in_parts,
    itemsize,
    new_rows,
    points_of,
    tiles_of_columns,
)
from ..operators.pivoted_factor import lapack_pivots

TINY = float(np.finfo(np.float64).tiny)
SHOWN = 2e9  # multiplications that a notebook may take to show the eigenvalues


@dataclass(frozen=True)
class Pivots:
    """The pivoted Cholesky factor of K_SS: rank, order of the pivots, lower factor L."""

    order: np.ndarray
    L: np.ndarray


def pivoted_cholesky(K: Array) -> Pivots:
    """LAPACK's pivoted Cholesky in float64; it stops at the rank, so duplicates do no harm.

    K is scaled by powers of two to a diagonal near one, so that each column counts by what is left
    of its own length.
    """
    accuracy = eps(K)
    K = host(K).astype(np.float64)
    powers = np.frexp(np.sqrt(np.maximum(np.diag(K), 0.0)))[1]
    scaled = np.ldexp(K, -(powers[:, None] + powers[None, :]))
    tolerance = represented(len(K), accuracy) * float(np.max(np.diag(scaled), initial=0.0))
    L, order = lapack_pivots(scaled, tolerance)
    kept = order[: L.shape[1]]
    return Pivots(kept, np.ldexp(L[: len(kept)], powers[kept][:, None]))


def factor_rows(
    operator: Operator, indices: Indices, noise: np.ndarray | None = None
) -> Iterator[tuple[slice, Array]]:
    """The rows of F, all at once, or in tiles where the columns of a kernel are large."""
    indices = np.asarray(indices, dtype=np.int64)
    needed = operator.n * len(indices) * itemsize(operator.like)
    tiled = points_of(operator) is not None and needed > MEMORY
    columns = None if tiled else operator.columns(indices)
    K = take(columns, indices) if columns is not None else _principal(operator, indices)
    if noise is not None:
        K = K + like(np.diag(noise[indices]), K)
    pivots = pivoted_cholesky(K)
    if columns is not None:
        yield slice(None), whitened(pivots.L, take(columns, pivots.order, axis=1))
        return
    for rows, _, values in tiles_of_columns(operator, indices[pivots.order]):
        yield rows, whitened(pivots.L, values)


def nystrom_factor(operator: Operator, indices: Indices, noise: np.ndarray | None = None) -> Array:
    """F with K̂ = F Fᵀ (Lemma 2.6 gives K̂ as the corner of the relaxation).

    noise : the variance of each candidate; then K̂ = K_:S (K_SS + N)⁻¹ K_S:.
    """
    F = None
    for rows, part in factor_rows(operator, indices, noise):
        if part.shape[0] == operator.n:
            return part
        F = zeros((operator.n, part.shape[1]), part) if F is None else F
        F[rows, :] = part
    return F


def _principal(operator: Operator, indices: np.ndarray) -> Array:
    """K_SS."""
    return operator.restrict(indices).columns(np.arange(len(indices)))


def residual_in_parts(operator: Operator, indices: Indices) -> Any:
    """The residual of a choice in parts on the workers: that of the run, or made again."""
    found = in_parts(operator).known_residual(indices)
    if found is not None:
        return found
    indices = np.asarray(list(dict.fromkeys(np.asarray(indices).tolist())), dtype=np.int64)
    pivots = pivoted_cholesky(_principal(operator, indices))
    return in_parts(operator).built_residual(indices[pivots.order], pivots.L)


def whitened(L: np.ndarray, columns: Array) -> Array:
    """columns · L⁻ᵀ."""
    return solve_from_right(columns, like(L, columns))


class Symmetric(ABC):
    """A symmetric n × n matrix known by products: `A @ block`, and what SciPy's solvers ask for."""

    @property
    @abstractmethod
    def _tall(self) -> Array:
        """An array with n rows, in the library, on the device and of the dtype of the vectors."""

    @abstractmethod
    def _product(self, block: Array) -> Array: ...

    @property
    def shape(self) -> tuple[int, int]:
        return (self._tall.shape[0],) * 2

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of its vectors, which SciPy asks for."""
        return host(self._tall[:0, :]).dtype

    def matmul(self, block: Array) -> Array:
        """The product with a block of vectors or with one vector."""
        product = self._product(rows_of(block, self.shape[0]))
        return product if block.ndim == 2 else product[:, 0]

    __matmul__ = matmul

    def matvec(self, vector: np.ndarray) -> np.ndarray:
        """The product with NumPy vectors, which SciPy calls, wherever the approximation lives."""
        return host(self.matmul(like(vector, self._tall)))

    rmatvec = matmat = rmatmat = matvec


def rows_of(block: Array, n: int) -> Array:
    """A block of vectors of length n; one vector is a block of one."""
    if getattr(block, "ndim", 0) not in (1, 2) or block.shape[0] != n:
        got = f"shape {tuple(block.shape)}" if hasattr(block, "shape") else type(block).__name__
        raise ValueError(f"expected a vector of length {n} or a block of {n} rows, got {got}")
    return block if block.ndim == 2 else block[:, None]


def _rows(F: Array) -> list[slice]:
    """The rows in blocks, the QR factors of which are small next to F."""
    n, r = F.shape
    height = max(8 * r, MEMORY // 64 // (8 * max(1, r)))
    return [slice(a, min(n, a + height)) for a in range(0, n, height)]


@dataclass(frozen=True, repr=False)
class Nystrom(Symmetric, Shown):
    """The approximation K̂ = F Fᵀ of an operator by its columns at the indices.

    Products are `K̂ @ block` for NumPy or torch. SciPy's solvers take K̂ where they take a
    LinearOperator; `scipy.sparse.linalg.aslinearoperator` makes it one.

    Attributes
    ----------
    operator : the matrix K.
    indices : the chosen columns, each once.

    Examples
    --------
    >>> points = np.random.default_rng(0).standard_normal((50, 2))
    >>> K = lm.kernel(points, lm.rbf(sigma=2.0))
    >>> approximation = lm.select(K, k=10, method="greedy").nystrom()
    >>> approximation.factor.shape
    (50, 10)
    """

    operator: Operator
    indices: np.ndarray

    @property
    def table(self) -> Table:
        """The eigenvalues of K̂, the largest first, and what they hold together of the trace."""
        values = host(self.eigenpairs()[0]).astype(np.float64)
        shares = np.cumsum(values) / (float(np.sum(values)) or 1.0)
        places = list(range(1, len(values) + 1))
        return Table({"place": places, "eigenvalue": values.tolist(), "together": shares.tolist()})

    def _repr_html_(self) -> str:
        costs = self.operator.n * len(self.indices) ** 2
        if "factor" in self.__dict__ or costs <= SHOWN:
            return super()._repr_html_()
        return f"<p>{self!r}; its table is .table</p>"

    @property
    def sentence(self) -> str:
        """The sizes, without computing the factor."""
        return f"{self.operator.n} × {self.operator.n} from {len(self.indices)} columns"

    def plot(self, ax: Any = None) -> Any:
        """Draw the eigenvalues of K̂ on a logarithmic scale."""
        from ..plots.axes import BLUE, Drawn, logarithmic

        drawn, values = Drawn(ax), host(self.eigenpairs()[0])
        drawn.ax_.plot(range(1, len(values) + 1), values, "o-", color=BLUE, markersize=3)
        logarithmic(drawn.ax_)
        drawn.ax_.xaxis.get_major_locator().set_params(integer=True)
        drawn.ax_.set(xlabel="place", ylabel="eigenvalue of the approximation")
        return drawn

    @cached_property
    def factor(self) -> Array:
        """The n × r factor F, r the numerical rank of the chosen columns.

        Of points that dask holds it is a dask array, whose chunks are on the workers.
        """
        if in_parts(self.operator) is not None:
            return self._in_units(residual_in_parts(self.operator, self.indices).factor())
        return self._in_units(nystrom_factor(self.operator, self.indices))

    def _in_units(self, F: Array) -> Array:
        """Rows of the factor of 2**exponent · K̂, in the place of those of K̂."""
        if self.operator.exponent:
            F *= 2.0 ** (self.operator.exponent / 2)
        return F

    @property
    def _tall(self) -> Array:
        return self.factor

    def _product(self, block: Array) -> Array:
        return self.factor @ (self.factor.T @ block)

    def diagonal(self) -> Array:
        """The diagonal of K̂."""
        F, xp = self.factor, namespace(self.factor)
        if in_parts(self.operator) is not None:
            return xp.sum(F * F, axis=1)
        return xp.concat([xp.sum(F[rows, :] ** 2, axis=1) for rows in _rows(F)])

    def solve(self, block: Array, ridge: float) -> Array:
        """(K̂ + ridge · I)⁻¹ @ block in O(n r²), as accurate as a stable dense solve."""
        return self.preconditioner(ridge).matmul(block)

    def preconditioner(self, ridge: float) -> Preconditioner:
        """(K̂ + ridge · I)⁻¹, to speed up conjugate gradients on K + ridge · I if K̂ is near K."""
        return Preconditioner(self, positive(ridge, "ridge"))

    def log_determinant(self, ridge: float) -> float:
        """log det(K̂ + ridge · I)."""
        values = self.singular[0] ** 2
        inside = np.sum(np.log(values + positive(ridge, "ridge")))
        return float(inside + (self.operator.n - len(values)) * np.log(ridge))

    def eigenpairs(self) -> tuple[Array, Array]:
        """The nonzero eigenvalues of K̂, largest first, and their orthonormal vectors."""
        values, V = self.singular
        U = self.factor @ like(V / values, self.factor)
        # rounding left columns that are orthonormal up to eps · values[0] / values[-1]
        turn = like(np.linalg.inv(self._triangle(U)), U)
        if in_parts(self.operator) is not None:
            U = U @ turn
        else:
            for rows in _rows(U):
                U[rows, :] = U[rows, :] @ turn
        return like(values**2, self.factor), U

    @cached_property
    def singular(self) -> tuple[np.ndarray, np.ndarray]:
        """The singular values of F and its right singular vectors, in float64."""
        _, values, Vt = np.linalg.svd(self._triangle(self.factor))
        return values, Vt.T

    def _triangle(self, F: Array) -> np.ndarray:
        """R of the QR factors of F in float64, from those of blocks of rows, without Q."""
        if in_parts(self.operator) is not None:
            return np.asarray(in_parts(self.operator).triangle(F))
        R = zeros((0, F.shape[1]), F)
        R = double(R) if has_double(R) else R
        for rows in _rows(F):
            below = as_dtype_of(F[rows, :], R)
            R = namespace(F).linalg.qr(namespace(F).concat([R, below]))[1]
        return host(R).astype(np.float64)

    def features(self, points: Array) -> Array:
        """The rows of F for new points x ↦ h(x, S) L⁻ᵀ: K̂(x, y) = features(x) · features(y)."""
        if in_parts(self.operator) is not None:
            residual = residual_in_parts(self.operator, self.indices)
            rows = new_rows(self.operator, points, residual.order)
            return self._in_units(whitened(residual.L, rows))
        pivots = pivoted_cholesky(_principal(self.operator, self.indices))
        rows = new_rows(self.operator, points, self.indices[pivots.order])
        return self._in_units(whitened(pivots.L, rows))


@dataclass(frozen=True, eq=False, repr=False)
class Preconditioner(Symmetric):
    """The inverse of K̂ + ridge · I: `P @ block` for NumPy or torch, `M=P` for SciPy's solvers.

    Attributes
    ----------
    approximation : K̂.
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

    approximation: Nystrom
    ridge: float

    def __repr__(self) -> str:
        n, rank = self._tall.shape
        return f"Preconditioner: {n} × {n} of rank {rank} with ridge {self.ridge:.6g}"

    @property
    def _tall(self) -> Array:
        return self.approximation.factor

    def _product(self, block: Array) -> Array:
        return self.power(block, -1.0)

    def power(self, block: Array, exponent: float) -> Array:
        """(K̂ + ridge · I) to that power @ block; ±1/2 split the preconditioner symmetrically.

        F V / values stands for the eigenvectors where the eigenvalues are above the ridge. Where
        they are below, what the power adds is a multiple of F V Vᵀ Fᵀ that divides by no value.
        """
        if block.ndim == 1:
            return self.power(rows_of(block, self.shape[0]), exponent)[:, 0]
        F, (values, V) = self._tall, self.approximation.singular
        large = values**2 > self.ridge
        A, B = like(V[:, large] / values[large], F), like(V[:, ~large], F)
        eigenvalues, below = values[large, None] ** 2 + self.ridge, values[~large, None] ** 2
        scale = self.ridge**exponent
        added = scale * np.expm1(exponent * np.log1p(below / self.ridge)) / np.maximum(below, TINY)
        inside = A.T @ (F.T @ block)
        outside = block - F @ (A @ inside)
        # again: a ridge far below the eigenvalues magnifies what rounding left inside
        left = F.T @ outside
        again = A.T @ left
        turned = like(eigenvalues**exponent, F) * (inside + again) - scale * again
        return F @ (A @ turned + B @ (like(added, F) * (B.T @ left))) + scale * outside
